// A batch: what is asked of one, where it is made, and what it is when it is made.
import type { Relation } from '../values/relation.ts';
import type { UniqueIndex } from './uniqueIndex.ts';
import type { Checks, Breach } from './expectations.ts';
import type { FileStats } from './parquetFile.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { Aside } from '../../store/lake/datasets/quarantine.ts';
import type { Column } from '../../store/lake/versions/columns.ts';

export interface BatchRequest {
  readonly relation: Relation;
  readonly columns: readonly Column[];
  readonly index: UniqueIndex;
  readonly duplicates: 'ignore' | 'replace';
  readonly nowMs: number;
  /** Properties whose values become null where they do not fit. */
  readonly lenient: ReadonlySet<string>;
  /** Columns of the file, a value in which refuses its record. */
  readonly refused: readonly string[];
  readonly checks: Checks;
  /** Number of the batch's first record, where records are numbered. */
  readonly firstRow: number;
  /** What SOURCE_COLUMN has in each record. */
  readonly source: number;
  /** Records get one number for all where key, subkey and date tell them apart. */
  readonly sharesRow: boolean;
  /**
   * Records that repeat an index value: all but one are left out, or the attempt ends as `unproved`. `drop`
   * keeps them all where there is no unique index.
   */
  readonly repeats: 'drop' | 'prove';
}

export interface Batch {
  readonly path: string;
  readonly stats: FileStats;
  readonly invalid: number;
  readonly rejects: readonly Reject[];
  /** Records of the batch that another one of the batch took the place of. */
  readonly duplicates: number;
  /** Of these the first, where they were counted. */
  readonly repeated?: Repeated | undefined;
  /** Records that are kept aside for an expectation that they did not keep. */
  readonly quarantined: readonly Aside[];
  readonly warnings: readonly Breach[];
  /** What ends the load; undefined where nothing does. */
  readonly failed: Breach | undefined;
}

/** Records that repeat the index value of another one. */
interface Repeated {
  readonly records: number;
  /** The first values, for a person. */
  readonly examples: readonly string[];
}

/** A column whose guessed type a value does not fit, and the first record that shows it. */
export interface Misfit {
  readonly column: string;
  readonly line: number;
  readonly value: string;
  /** Records with such a value in the column, where they were counted. */
  readonly records?: number;
}
