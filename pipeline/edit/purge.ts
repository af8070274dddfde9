// Purges records: no remaining version has them, and the history before the purge ends. Files with any of
// them, even in deleted records, are rewritten without them.
import { join } from 'node:path';
import { makeBind } from '../../query/plan/binding.ts';
import type { SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { printConditions, prunedFiles } from '../../query/plan/seriesSql.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Bound } from '../../store/duckdb/protocol.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { type DataFile, fileName } from '../../store/lake/versions/lakeRead.ts';
import { newUuid } from '../../store/base/random.ts';
import { requestScrub } from '../../store/catalog/scrub.ts';
import { withOpenFiles, withVerifiedFiles } from '../../store/lake/versions/tableFiles.ts';
import { FILE_COLUMN, visibleRows } from '../../store/lake/versions/tableSql.ts';
import { withWorkFolder } from '../bytes/workbench.ts';
import { publishFile } from '../merge/ingest.ts';
import { copyTable, fileStats, remoteWriteOptions } from '../batch/parquetFile.ts';
import { identityTerms, orderBy, buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { IngestServices } from '../conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** Runs in the purge's transaction: deletes other copies of the dataset's records. */
type Alongside = (transaction: Database) => Promise<void>;

/** The state of one purge. */
interface Run {
  readonly plan: SeriesPlan;
  readonly dataset: Dataset;
  readonly services: IngestServices;
  readonly folder: string;
  readonly pool: DuckDbPool;
}

/**
 * Purges the records that match the plan's key, subkey and dates in any version; returns their number, with
 * a record of several versions counted once. A purge without a match ends no history. Runs in the dataset's
 * turn.
 */
export async function purgeRecords(
  plan: SeriesPlan,
  dataset: Dataset,
  author: string,
  services: IngestServices,
  alongside: Alongside,
): Promise<number> {
  const { at, lake } = services;
  return withWorkFolder(dataset.workspace, services, async (place) => {
    const run = { ...place, plan, dataset, services };
    const { holders, records } = await findRecords(run);
    if (records === 0) return 0;
    const { tableId } = dataset;
    const replaced = plan.table.files.filter(({ path }) => holders.has(fileName(path)));
    const inserts: Edit[] = [];
    for (const file of replaced) inserts.push(...(await withoutRecords(file, run)));
    const fileIds = replaced.map(({ id }) => id);
    const removal: Edit[] =
      fileIds.length === 0 ? [] : [{ kind: 'remove-files', tableId, fileIds }];
    at('purge-written');
    const message = `${records} records purged from ${dataset.workspace}.${dataset.dataset}`;
    const edits: Edit[] = [...removal, ...inserts, { kind: 'end-history', tableId, records }];
    const committed = await lake.commit(edits, { author, message }, async (transaction) => {
      await alongside(transaction);
      await requestScrub(transaction);
      at('purge-open');
    });
    at('purge-committed');
    await lake.files.remove(committed.unnamed);
    at('purge-removed');
    return records;
  });
}

interface Holders {
  /** Names of files with a matching record, including a deleted one. */
  readonly holders: ReadonlySet<string>;
  readonly records: number;
}

/** Searches the files of all versions without applying deletes. */
async function findRecords({ plan, dataset, services, folder, pool }: Run): Promise<Holders> {
  const { deadlineMs, lake } = services;
  const every = { ...plan.table, files: await lake.listAllFiles(plan.table) };
  const files = prunedFiles({ ...plan, table: every });
  if (files.length === 0) return { holders: new Set(), records: 0 };
  const unique = buildUniqueIndex(dataset, plan.table);
  const { columns } = unique;
  const index = identityTerms(unique)
    .map((term, at) => `${term} AS t${at}`)
    .join(', ');
  return withOpenFiles(lake.files, files, async ({ paths, pathOf }) => {
    const matches = `FROM ${visibleRows(files, columns, pathOf, true)}
      WHERE ${printConditions(plan, literal)}`;
    const statements = [
      `SELECT DISTINCT ${FILE_COLUMN} AS file ${matches}`,
      `SELECT count(*) AS records FROM (SELECT DISTINCT ${index} ${matches})`,
    ];
    const [names = [], counts = []] = await pool.rows({
      files: paths,
      folder,
      statements,
      deadlineMs,
    });
    return {
      holders: new Set(names.map((row) => String(row['file']))),
      records: Number(counts[0]?.['records'] ?? 0),
    };
  });
}

/** Publishes the file's visible records except the matching ones; nothing if none is left. */
async function withoutRecords(file: DataFile, run: Run): Promise<readonly Edit[]> {
  const { plan, dataset, services, folder, pool } = run;
  const { deadlineMs, lake } = services;
  const { table } = plan;
  const written = `${newUuid()}.parquet`;
  const path = join(folder, written);
  const stats = await withVerifiedFiles(lake.files, [file], async ({ paths, pathOf }) => {
    const list = table.columns.map(({ name }) => identifier(name)).join(', ');
    // Bound: another node replaces texts that begin with this node's paths by its own paths.
    const parameters: Bound[] = [];
    const remaining = `SELECT ${list} FROM ${visibleRows([file], table.columns, pathOf)}
      WHERE (${printConditions(plan, makeBind(parameters))}) IS NOT TRUE`;
    const sorted = `${remaining}${orderBy(buildUniqueIndex(dataset, table))}`;
    const statements = [copyTable(sorted, path, table.columns)];
    const question = { files: paths, folder, statements, parameters, deadlineMs };
    return fileStats(
      (await pool.rows({ ...question, ...remoteWriteOptions(written, [file]) }))[0] ?? [],
    );
  });
  services.at('parquet-written');
  return publishFile(path, stats, table, lake, [file]);
}
