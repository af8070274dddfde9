// Messages between the serving node and its read replicas, in order, over one connection for each replica.
import type { Change } from '../lake/lake.ts';
import type { ToLessee, ToLessor } from '../ledger/leases/leaseMessages.ts';
import type { PushedRows } from '../lake/pushes/pendingTable.ts';

/** How long a replica may answer after it sent a heartbeat that was confirmed. */
export const LEASE_MS = 2_000;

/** Limit of one message; replicas stop watching a table whose message would be longer. */
export const MESSAGE_BYTES_MAX = 32 * 1024 ** 2;
/** Delay before a replica requests such a table again: its pending rows are in a file by then. */
export const REWATCH_DELAY_MS = 10_000;

/** State of the tables that a replica reads, and of all of them. */
export type StateMessage =
  | { readonly kind: 'changed'; readonly change: Change }
  | { readonly kind: 'pushed'; readonly made: readonly PushedRows[] }
  /** Pushed rows of these sequences are no longer pending: a snapshot contains them. */
  | {
      readonly kind: 'flushed';
      readonly tableId: number;
      readonly snapshot: number;
      readonly sequences: readonly number[];
    }
  /** Tokens or accounts changed. */
  | { readonly kind: 'accounts' }
  /** Files of the lake were removed. */
  | { readonly kind: 'removed'; readonly paths: readonly string[] }
  /** Views or published queries changed. */
  | { readonly kind: 'queries' }
  /** Pending rows of a requested table; its later changes follow. */
  | { readonly kind: 'table'; readonly pending: PushedRows }
  /** Changes of a table are no longer sent: a message was too long. */
  | { readonly kind: 'forgotten'; readonly tableId: number };

export type ToNode =
  | StateMessage
  /** First message of a connection. */
  | { readonly kind: 'welcome'; readonly snapshot: number }
  /** Pause to be confirmed: the replica answers nothing until `resume` with the same number. */
  | {
      readonly kind: 'quiet';
      readonly id: number;
      readonly tableIds: readonly number[] | undefined;
    }
  | { readonly kind: 'resume'; readonly id: number }
  /** The replica may answer for the lease time after it sent the `ask` with this number. */
  | { readonly kind: 'sure'; readonly id: number }
  /** Message of `store/ledger/leases`. */
  | { readonly kind: 'lease'; readonly message: ToLessee };

export type FromNode =
  | { readonly kind: 'ask'; readonly id: number }
  | { readonly kind: 'confirm'; readonly id: number }
  | { readonly kind: 'watch'; readonly tableId: number }
  | { readonly kind: 'unwatch'; readonly tableId: number }
  | { readonly kind: 'lease'; readonly message: ToLessor };
