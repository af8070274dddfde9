// What the node that serves and those that answer reads beside it say to one another, in order, over one
// connection each.
import type { Change } from '../lake/lake.ts';
import type { ToLessee, ToLessor } from '../ledger/leases/leaseMessages.ts';
import type { MadeRows } from '../lake/pushes/pendingTable.ts';

/** How long a node answers by itself after it asked whether it may, if it was told so. */
export const SURE_MS = 2_000;

/** Of one piece of news; of a table that has more to tell a node is not told. */
export const NEWS_BYTES_MAX = 32 * 1024 ** 2;
/** After which a node asks for such a table again: what is pending is a file by then. */
export const FORGOTTEN_MS = 10_000;

/** What a node must know of the tables that it reads, and of all. */
export type News =
  | { readonly kind: 'changed'; readonly change: Change }
  | { readonly kind: 'pushed'; readonly made: readonly MadeRows[] }
  /** Pushed rows of these sequences are pending no more: a snapshot holds what they say. */
  | {
      readonly kind: 'flushed';
      readonly tableId: number;
      readonly snapshot: number;
      readonly sequences: readonly number[];
    }
  /** Tokens or accounts are others than before. */
  | { readonly kind: 'accounts' }
  /** Files of the lake are no more. */
  | { readonly kind: 'removed'; readonly paths: readonly string[] }
  /** Views or published queries are. */
  | { readonly kind: 'queries' }
  /** What is pending for a table that it asked for; from here on it is told of it. */
  | { readonly kind: 'table'; readonly pending: MadeRows }
  /** It is not told of a table any more: there is too much to tell. */
  | { readonly kind: 'forgotten'; readonly tableId: number };

export type ToNode =
  | News
  /** The first of all. */
  | { readonly kind: 'welcome'; readonly snapshot: number }
  /** To be confirmed: no answers by itself until `resume` of the same number. */
  | {
      readonly kind: 'quiet';
      readonly id: number;
      readonly tableIds: readonly number[] | undefined;
    }
  | { readonly kind: 'resume'; readonly id: number }
  /** It may answer for `SURE_MS` from when it sent the `ask` of this number. */
  | { readonly kind: 'sure'; readonly id: number }
  /** Of `store/ledger/leases`. */
  | { readonly kind: 'lease'; readonly message: ToLessee };

export type FromNode =
  | { readonly kind: 'ask'; readonly id: number }
  | { readonly kind: 'confirm'; readonly id: number }
  | { readonly kind: 'watch'; readonly tableId: number }
  | { readonly kind: 'unwatch'; readonly tableId: number }
  | { readonly kind: 'lease'; readonly message: ToLessor };
