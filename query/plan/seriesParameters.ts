// What a caller may ask of a series.
import type { Day } from '../time/days.ts';
import type { Subattribute } from './subattributes.ts';
import type { Collapse, Transform } from './transforms.ts';

export interface SeriesParameters {
  readonly key?: string | undefined;
  /** Instead of one key: each of them is a request of its own, in this order. */
  readonly keys?: readonly string[] | undefined;
  readonly subkey?: string | undefined;
  readonly range?: string | undefined;
  /** Ranges of the future are allowed, counted ones go forward. */
  readonly calendar?: boolean | undefined;
  /** Only records after today, or none of them. */
  readonly future?: boolean | undefined;
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
  readonly on?: Day | undefined;
  readonly first?: number | undefined;
  readonly last?: number | undefined;
  /** So many from today on. */
  readonly next?: number | undefined;
  readonly limit?: number | undefined;
  /** Records of the answer that are left out at its beginning. */
  readonly offset?: number | undefined;
  /** Every nth record. */
  readonly interval?: number | undefined;
  readonly sort?: 'asc' | 'desc' | undefined;
  /** The attribute that orders and ranges go by; the dataset's own date when undefined. */
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
