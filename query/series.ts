// The effect behind the time-series door: a plan in, counted bytes out. Cold path: DuckDB over the
// pinned files of the plan's snapshot.
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import type { Body, BodyFormat } from '../store/duckdb/protocol.ts';
import type { Files } from '../store/files.ts';
import { withOpenFiles } from '../store/tableFiles.ts';
import type { SeriesPlan } from './seriesPlan.ts';
import { lostFiles, printSeries } from './seriesSql.ts';

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
  const files = [...plan.table.files, ...lostFiles(plan)];
  return withOpenFiles(engine.files, files, ({ paths, pathOf }) => {
    const { sql, parameters } = printSeries(plan, pathOf);
    const { deadlineMs } = engine;
    const question = { files: paths, statements: [sql], parameters, deadlineMs, signal };
    return engine.pool.body(question, format);
  });
}
