// Where files are worked on.
import type { DuckDbPool } from '../../store/duckdb/pool.ts';

/** A child, a folder of its own, and who is told of progress. */
export interface Workbench {
  readonly pool: DuckDbPool;
  readonly folder: string;
  /** Stored files that later statements read are in here: one instance serves all of them. */
  readonly below?: readonly string[];
  /** Files that statements read besides the body. */
  readonly files?: readonly string[];
  readonly deadlineMs: number;
  readonly onProgress: (percent: number) => void;
  readonly signal?: AbortSignal;
}
