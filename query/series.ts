// The effect behind the time-series door: a plan in, counted bytes out. Cold path: DuckDB over the
// pinned files of the plan's snapshot.
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import type { Body, BodyFormat } from '../store/duckdb/protocol.ts';
import type { Files } from '../store/files.ts';
import type { SeriesPlan } from './seriesPlan.ts';
import { printSeries } from './seriesSql.ts';

export interface SeriesEngine {
  readonly files: Files;
  readonly pool: DuckDbPool;
  readonly deadlineMs: number;
}

/** @throws Failure TimedOut, TooLarge, ChildLost, Busy. */
export async function runSeries(
  plan: SeriesPlan,
  format: BodyFormat,
  engine: SeriesEngine,
  signal: AbortSignal,
): Promise<Body> {
  const relative = plan.table.files.flatMap((file) =>
    file.deletes === null ? [file.path] : [file.path, file.deletes.path],
  );
  const pinned = await engine.files.open(relative);
  const local = new Map(relative.map((path, index) => [path, pinned.paths[index] ?? path]));
  try {
    const { sql, parameters } = printSeries(plan, (path) => local.get(path) ?? path);
    const { deadlineMs } = engine;
    const question = { files: pinned.paths, statements: [sql], parameters, deadlineMs, signal };
    return await engine.pool.body(question, format);
  } finally {
    pinned.release();
  }
}
