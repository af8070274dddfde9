// Reads a whole dataset again from its sources into a changed schema: each file is fitted to the changed
// dataset, then all batches become one file. Writes only files of the work folder.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Column,
  toColumnType,
  isSystemColumn,
  ROW_COLUMN,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import type { Dataset, RecordSchema } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { newUuid } from '../../store/base/random.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import type { MergeTarget } from '../merge/reconcile.ts';
import { conformTo, withSymbols } from '../conform/conform.ts';
import { buildConversion } from '../merge/conversions.ts';
import { openRelation } from '../decode/decode.ts';
import { refuseBatch, logBreaches } from '../merge/ingest.ts';
import { copyTable, fileStats } from '../batch/parquetFile.ts';
import { withUnreadLines } from '../batch/unread.ts';
import type { Rewritten } from '../merge/rewrite.ts';
import { orderBy, buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type { IngestEvents, IngestServices, Load } from '../conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** Records of one re-ingestion (INTERFACE.md 3.7, 3.8). */
const REINGESTED_MAX = 1_000_000;

/** A dataset and its table, without files, after the change. */
export interface ChangedDataset {
  readonly dataset: Dataset;
  readonly table: Table;
}

/** The batch of one file, with the columns of the table at that point. */
export interface ReadBatch {
  readonly batch: Batch;
  readonly columns: readonly Column[];
  readonly duplicates: Load['duplicates'];
}

/** @throws Failure InvalidBody for more records than may be re-ingested. */
export function checkReingestable(records: number, what: string): void {
  if (records <= REINGESTED_MAX) return;
  const most = `at most ${REINGESTED_MAX} may be re-ingested at once`;
  throw new Failure('InvalidBody', `${what} ${records} records, ${most}`);
}

/** Applies an edit to the dataset; new properties get columns with new ids. */
export async function applyChanges(
  dataset: Dataset,
  table: Table,
  changes: Partial<Dataset> & { readonly schema: RecordSchema },
  lake: Lake,
): Promise<ChangedDataset> {
  const { properties } = changes.schema;
  const existing = table.columns.flatMap((column) => {
    if (isSystemColumn(column.name)) return [column];
    const property = Object.hasOwn(properties, column.name) ? properties[column.name] : undefined;
    return property === undefined ? [] : [{ ...column, type: toColumnType(property) }];
  });
  const names = new Set(table.columns.map(({ name }) => name));
  const firstId = await lake.nextColumnId(table.tableId);
  const added = Object.entries(properties)
    .filter(([name]) => !names.has(name))
    .map(([name, property], at) => ({
      id: firstId + at,
      name,
      type: toColumnType(property),
      nullable: true,
    }));
  const columns = [...existing, ...added];
  return {
    dataset: { ...dataset, ...changes },
    table: { ...table, columns, files: [], records: 0, bytes: 0 },
  };
}

/**
 * Fits one file to the changed dataset, after the batches before it.
 * @throws Failure InvalidBody if the contract, an expectation or a limit refuses it.
 */
export async function rereadSource(
  load: Load,
  becoming: ChangedDataset,
  before: readonly ReadBatch[],
  services: IngestServices,
  bench: Workbench,
  events: Pick<IngestEvents, 'log'>,
): Promise<{ readonly read: ReadBatch; readonly becoming: ChangedDataset }> {
  const folder = join(bench.folder, newUuid());
  await mkdir(folder);
  const files = before.map(({ batch }) => batch.path);
  const own = { ...bench, folder, files };
  const propertyNames = Object.keys(becoming.dataset.schema.properties);
  const { factReader, symbols, guessColumns } = services.defaultsOf(load) ?? {};
  const relation = withSymbols(
    await openRelation({ ...load, propertyNames, usual: guessColumns, facts: factReader }, own),
    symbols,
  );
  const fitted = await conformTo(
    { load, services, bench: own, events },
    relation,
    becoming,
    files.length === 0 ? undefined : `(SELECT * FROM ${readFiles(files)})`,
  );
  const { change } = fitted;
  const batch = withUnreadLines(fitted.batch, relation);
  await logBreaches(batch, events);
  refuseBatch(batch, load);
  const total = before.reduce((sum, one) => sum + one.batch.stats.records, batch.stats.records);
  checkReingestable(total, 'its sources have at least');
  const { dataset, table } = becoming;
  const after =
    change === undefined
      ? becoming
      : {
          dataset: { ...dataset, schema: change.schema },
          table: { ...table, columns: change.columns },
        };
  const { columns } = after.table;
  return { read: { batch, columns, duplicates: load.duplicates }, becoming: after };
}

const readFiles = (paths: readonly string[]): string =>
  `read_parquet([${paths.map(literal).join(', ')}], union_by_name = true)`;

/**
 * Merges all batches into one sorted file, with an index value once: the last record that replaces, or else
 * the first. Undefined if there are no batches.
 */
export async function mergeBatches(
  batches: readonly ReadBatch[],
  { dataset, table }: ChangedDataset,
  { deadlineMs, folder, pool }: Workbench,
): Promise<Rewritten | undefined> {
  if (batches.length === 0) return undefined;
  const { columns } = table;
  const index = buildUniqueIndex(dataset, table);
  const files = batches.map(({ batch }) => batch.path);
  const all = `(${batches.map((one, at) => selectBatch(one, at, columns)).join(' UNION ALL ')})`;
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const path = join(folder, `${newUuid()}.parquet`);
  const query = async (statement: string, more: readonly string[] = []) =>
    (
      await pool.rows({ files: [...files, ...more], folder, statements: [statement], deadlineMs })
    )[0] ?? [];
  if (index.terms.length === 0) {
    const numbered = columns.map(({ name }) =>
      name === ROW_COLUMN ? `row_number() OVER () AS ${identifier(name)}` : identifier(name),
    );
    const statement = `SELECT ${numbered.join(', ')} FROM ${all}${orderBy(index)}`;
    return { path, stats: fileStats(await query(copyTable(statement, path, columns))) };
  }
  const sorted = join(folder, `${newUuid()}.parquet`);
  const order = [...index.terms, `${RANK} DESC`].join(', ');
  await query(
    `COPY (SELECT * FROM ${all} ORDER BY ${order}) TO ${literal(sorted)} (FORMAT parquet)`,
  );
  const before = index.terms.map((term, at) => `lag(${term}) OVER () AS _system_before${at}`);
  const differs = index.terms.map((term, at) => `${term} IS DISTINCT FROM _system_before${at}`);
  const once = `SELECT ${list} FROM
    (SELECT *, ${before.join(', ')} FROM read_parquet(${literal(sorted)}))
    WHERE ${differs.join(' OR ')}`;
  return { path, stats: fileStats(await query(copyTable(once, path, columns), [sorted])) };
}

/** Rank that decides which of equal records is kept: the greatest. */
const RANK = '_system_rank';

function selectBatch(
  { batch, columns, duplicates }: ReadBatch,
  at: number,
  target: readonly Column[],
): string {
  const values = target.map((column) => {
    const was = columns.find(({ id }) => id === column.id);
    const value =
      was === undefined
        ? `CAST(NULL AS ${sqlType(column.type)})`
        : buildConversion(identifier(was.name), was.type, column.type);
    return `${value} AS ${identifier(column.name)}`;
  });
  const rank = duplicates === 'replace' ? at + 1 : -at - 1;
  return `SELECT ${values.join(', ')}, ${rank} AS ${RANK} FROM read_parquet(${literal(batch.path)})`;
}

/**
 * Refuses to lose a stored record that the sources no longer have.
 * @throws Failure InvalidBody with the number of records, and the first one.
 */
export async function refuseLost(read: Rewritten | undefined, place: MergeTarget): Promise<void> {
  const { bench, files, index, table } = place;
  const own = index.columns.filter(({ name }) => !isSystemColumn(name));
  const lostFailure = (lost: number, first: string): Failure => {
    const what = `${lost} of ${table.records} stored records`;
    return new Failure('InvalidBody', `${what} are not in what the sources have now${first}`);
  };
  const records = read?.stats.records ?? 0;
  if (read === undefined || own.length === 0) {
    if (records < table.records) throw lostFailure(table.records - records, '');
    return;
  }
  const names = own.map(({ name }) => identifier(name)).join(', ');
  const [row] = await withOpenFiles(files, table.files, async ({ paths, pathOf }) => {
    const stored = visibleRows(table.files, own, pathOf);
    const lost = `SELECT ${names} FROM ${stored}
      EXCEPT ALL SELECT ${names} FROM read_parquet(${literal(read.path)})`;
    const keys = own.map(
      ({ name }, at) => `CAST(${identifier(name)} AS VARCHAR) AS v${at}, ${identifier(name)}`,
    );
    const statement = `SELECT count(*) OVER () AS lost, ${keys.join(', ')} FROM (${lost})
      ORDER BY ${names} LIMIT 1`;
    const { deadlineMs, folder, pool } = bench;
    const question = { files: [...paths, read.path], folder, statements: [statement], deadlineMs };
    return (await pool.rows(question))[0] ?? [];
  });
  if (row === undefined) return;
  const first = own.map((_, at) => String(row[`v${at}`])).join(', ');
  throw lostFailure(Number(row['lost']), `, the first is ${first}`);
}
