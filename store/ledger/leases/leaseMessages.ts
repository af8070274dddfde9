// What a node that serves and one that only reads tell each other of quota, in order over one connection.
import type { ChargedAlike } from '../metering.ts';

/** What a token of a node may take of one kind of messages. */
export interface Want {
  readonly tokenId: string;
  readonly premium: boolean;
  /** Messages of a call that found too few. */
  readonly need: number;
  /** Messages that the node has left. */
  readonly left: number;
  /** Messages that its calls took lately. */
  readonly perSecond: number;
}

/** Requests that an address or a token may make. */
export interface PermitWant {
  readonly kind: 'address' | 'token';
  /** The address, or the token's id. */
  readonly key: string;
  readonly most: number;
}

/** Calls that were delivered, as lines of the journal will tell them: alike but for their ids. */
export interface ReportedCalls extends ChargedAlike {
  readonly block: number;
  readonly accountId: string;
  readonly tokenId: string;
}

/** Told again, under the same number and the same calls, until it is acknowledged. */
export interface Report {
  readonly sequence: number;
  readonly alike: readonly ReportedCalls[];
}

export interface Homecoming {
  readonly block: number;
  readonly messages: number;
  /** No call holds anything of it any more. */
  readonly isEnded: boolean;
}

export type ToLessor =
  /** First. @param lessee one run of a node: its reports are numbered */
  | { readonly kind: 'hello'; readonly lessee: string }
  | ({ readonly kind: 'report' } & Report)
  /** All that was lent before this connection is spent and reported, or not used. */
  | { readonly kind: 'clean' }
  | {
      readonly kind: 'ask';
      readonly ask: number;
      readonly wants: readonly Want[];
      readonly permits: readonly PermitWant[];
    }
  | { readonly kind: 'home'; readonly blocks: readonly Homecoming[] }
  /** All that was delivered before `tell` came is reported. */
  | { readonly kind: 'told'; readonly telling: number };

export interface Lease {
  readonly block: number;
  /** More than before, where the node has the block already. */
  readonly messages: number;
  /** From when the node asked. */
  readonly leaseMs: number;
  /** `YYYYMM` that its calls are charged to. */
  readonly month: string;
}

export interface Grant {
  readonly tokenId: string;
  readonly premium: boolean;
  /** Undefined: not now; a block that the node has is not prolonged. */
  readonly lease: Lease | undefined;
}

export interface PermitGrant {
  readonly kind: PermitWant['kind'];
  readonly key: string;
  readonly count: number;
}

export type ToLessee =
  /** All reports up to the number are in the catalog. */
  | { readonly kind: 'ack'; readonly sequence: number }
  | {
      readonly kind: 'grants';
      readonly ask: number;
      readonly grants: readonly Grant[];
      readonly permits: readonly PermitGrant[];
    }
  /** Each of the blocks comes home at once, but for what calls that run hold of it. */
  | { readonly kind: 'recall'; readonly blocks: readonly number[] }
  /** What was delivered is to be reported now. */
  | { readonly kind: 'tell'; readonly telling: number };
