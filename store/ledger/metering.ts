// What a call is charged for, and what the doors ask of whoever charges it.
import type { Caller } from '../accounts/callers.ts';
import type { Stop } from './quota.ts';
import type { WithCharge } from './usage.ts';

/** What a call is charged for, as its line of the journal tells it. */
export interface ChargeOrder {
  readonly requestId: string;
  readonly endpoint: string;
  /** `WORKSPACE.DATASET`. */
  readonly usageKey: string;
  /** Messages for each object. */
  readonly weight: number;
  /** Premium messages, which are counted apart. */
  readonly premium: boolean;
}

/** Calls of one caller that are charged alike. */
export type ChargedAlike = Omit<ChargeOrder, 'requestId'> & {
  readonly requestIds: readonly string[];
  /** Of each of them. */
  readonly objects: number;
};

/** What a caller pays for an order: the operator nothing, with a line of the journal all the same. */
export const orderFor = ({ isOperator }: Caller, order: ChargeOrder): ChargeOrder =>
  isOperator === true ? { ...order, weight: 0 } : order;

/** Messages set aside for one call. */
export interface Hold {
  readonly order: ChargeOrder;
  readonly messages: number;
}

/** A settled call whose headers are on their way. Exactly one of its two ends must be called. */
export interface Charge {
  readonly messages: number;
  readonly premium: number;
  /**
   * The headers reached the socket: the charge is written.
   * @param also in the same transaction
   */
  delivered(also?: WithCharge): void;
  /** They never will: the messages go back. */
  undelivered(): void;
}

/** What the doors ask of a ledger, or of what another node was lent of it. */
export interface Metering {
  /** @throws Failure as the other two. */
  hold(caller: Caller, asked: ChargeOrder, objects: number, least?: number): Hold;
  settle(hold: Hold, objects: number): Charge;
  release(hold: Hold): void;
  stopped(caller: Caller): Stop | undefined;
  /** Before a hold; undefined: at once. */
  waitForRoom(...asked: Parameters<Metering['hold']>): Promise<void> | undefined;
}

/** Of messages to other nodes. */
export interface Lending {
  /** Resolves once what an account was lent is here, or was waited for. */
  callHome(accountId: string): Promise<void>;
  /** Resolves once each node has told what it delivered, or was waited for. */
  hear(): Promise<void>;
}
