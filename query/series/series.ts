// The effect behind the time-series door: a plan in, counted bytes out. Hot path: rendered records in
// memory. Cold path: DuckDB over the pinned files of the plan's snapshot.
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Body, BodyFormat, Page } from '../../store/duckdb/protocol.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { FileShapes } from '../../store/lake/versions/fileShapes.ts';
import type { Files } from '../../store/files/files.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';
import { type OpenFiles, withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import type { RowPlace } from '../../store/lake/versions/tableSql.ts';
import { inWorkFolder } from '../../store/base/workFolder.ts';
import type { SeriesPlan } from '../plan/seriesPlan.ts';
import type { SeriesCache } from './seriesCache.ts';
import type { PageLoads } from './pageLoads.ts';
import { arrayOf } from './takes.ts';
import { lostFiles, printCount, printPages, printSeries, printTakes } from '../plan/seriesSql.ts';

export interface SeriesEngine {
  readonly files: Files;
  readonly pool: DuckDbPool;
  readonly shapes: FileShapes;
  readonly cache: SeriesCache;
  readonly pageLoads: PageLoads;
  readonly deadlineMs: number;
  /** Where DuckDB writes the bodies that are files. */
  readonly temporary: string;
}

/** Who waits for an answer, with a signal that is aborted when it goes away. */
interface Waiting {
  readonly departure: () => AbortSignal;
}

/**
 * @param remembered whether memory may answer and be filled: only for what is stored now
 * @throws Failure TimedOut, TooLarge, ChildLost, Busy.
 */
export async function runSeries(
  plan: SeriesPlan,
  format: BodyFormat,
  engine: SeriesEngine,
  caller: Waiting,
  remembered = false,
): Promise<Body> {
  const known = remembered && format === 'json' ? await remember(plan, engine) : undefined;
  if (known !== undefined) return known;
  const files = [...plan.table.files, ...lostFiles(plan)];
  return withOpenFiles(engine.files, files, async (open) => {
    const { deadlineMs, pool, temporary } = engine;
    const asFile = format === 'parquet';
    const place = await cachePlaceOf(files, open, engine);
    const { sql, parameters, wide } = printSeries(plan, place, { asFile });
    const { paths } = open;
    const signal = caller.departure();
    const skips = wide ? { skips: ['statistics_propagation'] as const } : {};
    const asked = { files: paths, statements: [sql], parameters, deadlineMs, signal };
    const question = { ...asked, ...skips };
    const body = asFile
      ? inWorkFolder(temporary, (folder) => pool.body({ ...question, folder }, format))
      : pool.body(question, format);
    return body.catch((error: unknown) => {
      throw told(error);
    });
  });
}

/** The JSON of a series that memory has, or takes in because it is asked for again. */
export async function remember(plan: SeriesPlan, engine: SeriesEngine): Promise<Body | undefined> {
  // Memory has the records as they are.
  if (plan.visibility.scramble !== undefined) return undefined;
  const { pageLoads, pool } = engine;
  return engine.cache.read(plan, (wanted, records) =>
    pageLoads.load(pool.account, wanted, records, (one, most) => loadPages(one, most, engine)),
  );
}

/**
 * The JSON of each take of a plan, in their order: what as many plans of one key answer, by one statement.
 * @throws Failure as `runSeries`.
 */
export async function runTakes(
  plan: SeriesPlan,
  engine: SeriesEngine,
  caller: Waiting,
): Promise<readonly Body[]> {
  const { files } = plan.table;
  const pages = await withOpenFiles(engine.files, files, async (open) => {
    const { sql, parameters } = printTakes(plan, await cachePlaceOf(files, open, engine));
    const { deadlineMs, pool } = engine;
    const signal = caller.departure();
    const question = { files: open.paths, statements: [sql], parameters, deadlineMs, signal };
    return pool.pages(question, plan.takes.length).catch((error: unknown) => {
      throw told(error);
    });
  });
  return pages.map(arrayOf);
}

/** The records that a plan's conditions on its unique index leave, in the version that it reads. */
export async function countRecords(
  plan: SeriesPlan,
  engine: SeriesEngine,
  caller: Waiting,
): Promise<number> {
  const { files } = plan.table;
  return withOpenFiles(engine.files, files, async (open) => {
    const { sql, parameters } = printCount(plan, await cachePlaceOf(files, open, engine));
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

/** What does not fit the memory of a read is the caller's to narrow, and no bug. */
function told(error: unknown): unknown {
  const isOver = error instanceof Failure && /^Out of Memory Error/i.test(reasonOf(error));
  if (!isOver) return error;
  const rule = 'ask for fewer of them, or for fewer attributes with "filter"';
  return new Failure('TooLarge', `the records need more memory than a read has: ${rule}`);
}

/** Without a caller's signal: several may wait for it. */
function loadPages(
  plan: SeriesPlan,
  records: number,
  engine: SeriesEngine,
): Promise<readonly Page[]> {
  const { files } = plan.table;
  return withOpenFiles(engine.files, files, async (open) => {
    const { sql, parameters } = printPages(plan, records, await cachePlaceOf(files, open, engine));
    const { deadlineMs, pool } = engine;
    const question = { files: open.paths, statements: [sql], parameters, deadlineMs };
    return pool.pages(question, Math.max(1, plan.takes.length));
  });
}

/** Files that were not met before are looked at first. */
async function cachePlaceOf(
  files: readonly DataFile[],
  open: OpenFiles,
  { deadlineMs, pool, shapes }: SeriesEngine,
): Promise<RowPlace> {
  const { paths, pathOf } = open;
  await shapes.learn(files, open, (statements) =>
    pool.rows({ files: paths, statements, deadlineMs }),
  );
  return { pathOf, holds: shapes.holds };
}
