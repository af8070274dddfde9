// The request for a batch, and the batch.
import type { Relation } from '../values/relation.ts';
import type { UniqueIndex } from './uniqueIndex.ts';
import type { Checks, Breach } from './expectations.ts';
import type { FileStats } from './parquetFile.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { QuarantineEntry } from '../../store/lake/datasets/quarantine.ts';
import type { Column } from '../../store/lake/versions/columns.ts';

export interface BatchRequest {
  readonly relation: Relation;
  readonly columns: readonly Column[];
  readonly index: UniqueIndex;
  readonly duplicates: 'ignore' | 'replace';
  readonly nowMs: number;
  /** Properties whose values become null where they do not fit. */
  readonly lenient: ReadonlySet<string>;
  /** Columns of the file that refuse each record with a value in them. */
  readonly refused: readonly string[];
  readonly checks: Checks;
  /** Number of the batch's first record, where records are numbered. */
  readonly firstRow: number;
  /** The value of SOURCE_COLUMN in each record. */
  readonly source: number;
  /** All records get one number where key, subkey and date already distinguish them. */
  readonly sharesRow: boolean;
  /**
   * How repeated index values are handled: `drop` keeps one record of each (all of them without a unique
   * index), `prove` ends the attempt as `unproved`.
   */
  readonly repeats: 'drop' | 'prove';
}

export interface Batch {
  readonly path: string;
  readonly stats: FileStats;
  readonly invalid: number;
  readonly rejects: readonly Reject[];
  /** Records replaced by another record of the batch. */
  readonly duplicates: number;
  /** Examples of the duplicates, where they were counted. */
  readonly repeated?: Repeated | undefined;
  /** Records quarantined because they violate an expectation. */
  readonly quarantined: readonly QuarantineEntry[];
  readonly warnings: readonly Breach[];
  /** The expectation that fails the load; undefined if none does. */
  readonly failed: Breach | undefined;
}

/** Records that repeat the index value of another one. */
interface Repeated {
  readonly records: number;
  /** The first values, for display. */
  readonly examples: readonly string[];
}

/** A column with a value that does not fit its guessed type, and the first such record. */
export interface Misfit {
  readonly column: string;
  readonly line: number;
  readonly value: string;
  /** Records with such a value in the column, if they were counted. */
  readonly records?: number;
}
