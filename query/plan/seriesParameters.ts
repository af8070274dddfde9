// The parsed parameters of a time-series read, from which its plan is made.
import type { Day } from '../time/days.ts';
import type { Subattribute } from './subattributes.ts';
import type { Collapse, Transform } from './transforms.ts';

export interface SeriesParameters {
  readonly key?: string | undefined;
  /** Instead of one key: each of them has an answer of its own, in this order. */
  readonly keys?: readonly string[] | undefined;
  readonly subkey?: string | undefined;
  readonly range?: string | undefined;
  /** Allows ranges of the future; counted ranges go forward. */
  readonly calendar?: boolean | undefined;
  /** True: only records after today; false: none of them. */
  readonly future?: boolean | undefined;
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
  readonly on?: Day | undefined;
  readonly first?: number | undefined;
  readonly last?: number | undefined;
  /** Number of records from today on. */
  readonly next?: number | undefined;
  readonly limit?: number | undefined;
  /** Number of records to skip at the beginning of the answer. */
  readonly offset?: number | undefined;
  /** Every nth record. */
  readonly interval?: number | undefined;
  readonly sort?: 'asc' | 'desc' | undefined;
  /** The attribute that order and range use; the dataset's own date when undefined. */
  readonly dateField?: string | undefined;
  readonly subattributes?: readonly Subattribute[] | undefined;
  /** Only records written or changed at this time or later, epoch ms. */
  readonly updated?: number | undefined;
  readonly collapse?: Collapse | undefined;
  readonly transform?: Transform | undefined;
  /** Members of the answer, by their exact names; all when undefined. */
  readonly filter?: readonly string[] | undefined;
  readonly systemProperties?: boolean | undefined;
}
