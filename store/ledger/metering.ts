// Defines the order and charge of a call, and the interface by which the API charges calls.
import type { Caller } from '../accounts/callers.ts';
import type { Stop } from './quota.ts';
import type { ChargeAttachment } from './usage.ts';

/** Charged item of a call, as its journal line records it. */
export interface ChargeOrder {
  readonly requestId: string;
  readonly endpoint: string;
  /** `WORKSPACE.DATASET`. */
  readonly usageKey: string;
  /** Messages for each object. */
  readonly weight: number;
  /** Premium messages, which are counted separately. */
  readonly premium: boolean;
}

/** Calls of one caller with equal charges. */
export type ChargeBatch = Omit<ChargeOrder, 'requestId'> & {
  readonly requestIds: readonly string[];
  /** Objects of each call. */
  readonly objects: number;
};

/** Returns the order at the caller's price: the operator pays nothing, but gets a journal line. */
export const adjustOrder = ({ isOperator }: Caller, order: ChargeOrder): ChargeOrder =>
  isOperator === true ? { ...order, weight: 0 } : order;

/** Messages set aside for one call. */
export interface Hold {
  readonly order: ChargeOrder;
  readonly messages: number;
}

/** A settled call whose headers are being sent. Exactly one of its two methods must be called. */
export interface Charge {
  readonly messages: number;
  readonly premium: number;
  /**
   * Writes the charge: the headers reached the socket.
   * @param also row to write in the same transaction
   */
  confirm(also?: ChargeAttachment): void;
  /** Returns the messages: the headers were not sent. */
  cancel(): void;
}

/** Charges calls: a ledger, or quota leased to a replica. */
export interface Metering {
  /** @throws Failure as the implementations. */
  hold(caller: Caller, request: ChargeOrder, objects: number, least?: number): Hold;
  settle(hold: Hold, objects: number): Charge;
  release(hold: Hold): void;
  findStop(caller: Caller): Stop | undefined;
  /** Waits before a hold; undefined for no wait. */
  waitForRoom(...request: Parameters<Metering['hold']>): Promise<void> | undefined;
}

/** Leasing of messages to other nodes. */
export interface Lending {
  /** Resolves once leased messages of an account are returned, or the wait timed out. */
  recall(accountId: string): Promise<void>;
  /** Resolves once each node has reported its delivered calls, or the wait timed out. */
  collectReports(): Promise<void>;
}
