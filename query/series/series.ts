// Runs the plans of the time-series endpoint and returns counted bytes. Hot path: rendered records in
// memory. Cold path: DuckDB over the pinned files of the plan's snapshot.
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Body, BodyFormat, Page } from '../../store/duckdb/protocol.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { FileShapes } from '../../store/lake/versions/fileShapes.ts';
import type { Files } from '../../store/files/files.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';
import { type OpenFiles, withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import type { FileAccess } from '../../store/lake/versions/tableSql.ts';
import { withWorkFolder } from '../../store/base/workFolder.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';
import type { SeriesCache } from './seriesCache.ts';
import type { PageLoads } from './pageLoads.ts';
import { toJsonArray } from './multiKey.ts';
import {
  droppedFiles,
  printCount,
  printPages,
  printSeries,
  printTakes,
} from '../plan/seriesSql.ts';

export interface SeriesEngine {
  readonly files: Files;
  readonly pool: DuckDbPool;
  readonly shapes: FileShapes;
  readonly cache: SeriesCache;
  readonly pageLoads: PageLoads;
  readonly deadlineMs: number;
  /** Folder where DuckDB writes the bodies that are files. */
  readonly temporary: string;
}

/** The caller of a read, with a signal that is aborted when it disconnects. */
interface Caller {
  readonly departure: () => AbortSignal;
}

/**
 * @param remembered whether the cache may answer and be filled: only for reads of current data
 * @throws Failure TimedOut, TooLarge, ChildLost, Busy.
 */
export async function runSeries(
  plan: SeriesPlan,
  format: BodyFormat,
  engine: SeriesEngine,
  caller: Caller,
  remembered = false,
): Promise<Body> {
  const cached = remembered && format === 'json' ? await readThroughCache(plan, engine) : undefined;
  if (cached !== undefined) return cached;
  const files = [...plan.table.files, ...droppedFiles(plan)];
  return withOpenFiles(engine.files, files, async (open) => {
    const { deadlineMs, pool, temporary } = engine;
    const asFile = format === 'parquet';
    const place = await inspectFiles(files, open, engine);
    const { sql, parameters, wide } = printSeries(plan, place, { asFile });
    const { paths } = open;
    const signal = caller.departure();
    const skips = wide ? { skips: ['statistics_propagation'] as const } : {};
    const request = { files: paths, statements: [sql], parameters, deadlineMs, signal };
    const question = { ...request, ...skips };
    const body = asFile
      ? withWorkFolder(temporary, (folder) => pool.body({ ...question, folder }, format))
      : pool.body(question, format);
    return body.catch((error: unknown) => {
      throw toTooLarge(error);
    });
  });
}

/** Returns the JSON of a series from the cache, loading it if it is requested often enough. */
export async function readThroughCache(
  plan: SeriesPlan,
  engine: SeriesEngine,
): Promise<Body | undefined> {
  // The cache has the records as they are.
  if (plan.visibility.scramble !== undefined) return undefined;
  const { pageLoads, pool } = engine;
  return engine.cache.read(plan, (missing, records) =>
    pageLoads.load(pool.account, missing, records, (one, most) => loadPages(one, most, engine)),
  );
}

/**
 * Returns the JSON of each take of a plan, in order. One statement reads what as many plans of one key read.
 * @throws Failure as `runSeries`.
 */
export async function runTakes(
  plan: SeriesPlan,
  engine: SeriesEngine,
  caller: Caller,
): Promise<readonly Body[]> {
  const { files } = plan.table;
  const pages = await withOpenFiles(engine.files, files, async (open) => {
    const { sql, parameters } = printTakes(plan, await inspectFiles(files, open, engine));
    const { deadlineMs, pool } = engine;
    const signal = caller.departure();
    const question = { files: open.paths, statements: [sql], parameters, deadlineMs, signal };
    return pool.pages(question, plan.takes.length).catch((error: unknown) => {
      throw toTooLarge(error);
    });
  });
  return pages.map(toJsonArray);
}

/** Counts the records that match a plan's conditions on its unique index, in the version that it reads. */
export async function countRecords(
  plan: SeriesPlan,
  engine: SeriesEngine,
  caller: Caller,
): Promise<number> {
  const { files } = plan.table;
  return withOpenFiles(engine.files, files, async (open) => {
    const { sql, parameters } = printCount(plan, await inspectFiles(files, open, engine));
    const { deadlineMs, pool } = engine;
    const signal = caller.departure();
    const [[row] = []] = await pool.rows({
      files: open.paths,
      statements: [sql],
      parameters,
      deadlineMs,
      signal,
    });
    return Number(row?.['records']);
  });
}

/** Turns DuckDB's lack of memory into TooLarge: the caller must narrow the read; it is no bug. */
function toTooLarge(error: unknown): unknown {
  const isOver = error instanceof Failure && /^Out of Memory Error/i.test(reasonOf(error));
  if (!isOver) return error;
  const rule = 'request fewer of them, or fewer attributes with "filter"';
  return new Failure('TooLarge', `the records need more memory than a read has: ${rule}`);
}

/** Has no caller's signal: several callers may wait for the same pages. */
function loadPages(
  plan: SeriesPlan,
  records: number,
  engine: SeriesEngine,
): Promise<readonly Page[]> {
  const { files } = plan.table;
  return withOpenFiles(engine.files, files, async (open) => {
    const { sql, parameters } = printPages(plan, records, await inspectFiles(files, open, engine));
    const { deadlineMs, pool } = engine;
    const question = { files: open.paths, statements: [sql], parameters, deadlineMs };
    return pool.pages(question, Math.max(1, plan.takes.length));
  });
}

/** Inspects files that are new to this process before it returns their place. */
async function inspectFiles(
  files: readonly DataFile[],
  open: OpenFiles,
  { deadlineMs, pool, shapes }: SeriesEngine,
): Promise<FileAccess> {
  const { paths, pathOf } = open;
  await shapes.load(files, open, (statements) =>
    pool.rows({ files: paths, statements, deadlineMs }),
  );
  return { pathOf, holds: shapes.hasColumns };
}
