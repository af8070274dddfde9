// Messages about quota between the serving node and a read replica, in order over one connection.
import type { ChargeBatch } from '../metering.ts';

/** Request for messages of one kind for a token. */
export interface QuotaRequest {
  readonly tokenId: string;
  readonly premium: boolean;
  /** Messages of a call that lacked quota. */
  readonly need: number;
  /** Messages that the node still has. */
  readonly left: number;
  /** Messages that its recent calls spent per second. */
  readonly perSecond: number;
}

/** Request for a share of the rate of an address or a token. */
export interface RateRequest {
  readonly kind: 'address' | 'token';
  /** The address, or the token's id. */
  readonly key: string;
  readonly most: number;
}

/** Delivered calls with equal members except their ids, as the journal records them. */
export interface ReportedCalls extends ChargeBatch {
  readonly block: number;
  readonly accountId: string;
  readonly tokenId: string;
}

/** A report is repeated with the same number and calls until it is acknowledged. */
export interface Report {
  readonly sequence: number;
  readonly alike: readonly ReportedCalls[];
}

export interface BlockReturn {
  readonly block: number;
  readonly messages: number;
  /** No call holds messages of it any more. */
  readonly isEnded: boolean;
}

export type ToLessor =
  /** First message. @param lessee one run of a node, which numbers its reports */
  | { readonly kind: 'hello'; readonly lessee: string }
  | ({ readonly kind: 'report' } & Report)
  /** All blocks of earlier connections are spent and reported, or unused. */
  | { readonly kind: 'clean' }
  | {
      readonly kind: 'ask';
      readonly ask: number;
      readonly wants: readonly QuotaRequest[];
      readonly permits: readonly RateRequest[];
    }
  | { readonly kind: 'home'; readonly blocks: readonly BlockReturn[] }
  /** All calls delivered before `tell` arrived are reported. */
  | { readonly kind: 'told'; readonly telling: number };

export interface Lease {
  readonly block: number;
  /** Additional messages if the node already has the block. */
  readonly messages: number;
  /** Duration from the node's request. */
  readonly leaseMs: number;
  /** `YYYYMM` to which its calls are charged. */
  readonly month: string;
}

export interface QuotaGrant {
  readonly tokenId: string;
  readonly premium: boolean;
  /** Undefined when refused; a block that the node has is not renewed. */
  readonly lease: Lease | undefined;
}

export interface RateGrant {
  readonly kind: RateRequest['kind'];
  readonly key: string;
  readonly count: number;
}

export type ToLessee =
  /** All reports up to the number are stored in the catalog. */
  | { readonly kind: 'ack'; readonly sequence: number }
  | {
      readonly kind: 'grants';
      readonly ask: number;
      readonly grants: readonly QuotaGrant[];
      readonly permits: readonly RateGrant[];
    }
  /** The node returns each block immediately, except messages held by running calls. */
  | { readonly kind: 'recall'; readonly blocks: readonly number[] }
  /** The node reports all delivered calls now. */
  | { readonly kind: 'tell'; readonly telling: number };
