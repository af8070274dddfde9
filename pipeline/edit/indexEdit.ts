// Changes the unique index of an existing dataset, or removes it: its records are rewritten in the new
// order, proved, and replace the old ones in one commit. Old versions stay readable.
import { join } from 'node:path';
import {
  type Column,
  CREATED_COLUMN,
  ROW_COLUMN,
  UPDATED_COLUMN,
} from '../../store/lake/versions/columns.ts';
import type { Dataset, DatasetIndex } from '../../store/lake/datasets/datasets.ts';
import { buildColumns } from '../../store/lake/datasetEdits.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { newUuid } from '../../store/base/random.ts';
import { withVerifiedFiles } from '../../store/lake/versions/tableFiles.ts';
import { FILE_COLUMN, POSITION_COLUMN, visibleRows } from '../../store/lake/versions/tableSql.ts';
import { tableOf } from '../conform/conform.ts';
import { publishFile } from '../merge/ingest.ts';
import { copyTable, fileStats, type FileStats } from '../batch/parquetFile.ts';
import { replacingEdits } from '../merge/merge.ts';
import { checkRewritable } from '../merge/rewrite.ts';
import {
  orderBy,
  repeatExamplesQuery,
  countRepeatsQuery,
  formatRepeats,
  type UniqueIndex,
  buildUniqueIndex,
} from '../batch/uniqueIndex.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { IngestServices } from '../conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { withWorkFolder, type Workbench } from '../bytes/workbench.ts';

export interface IndexEdit extends DatasetIndex {
  /** Which record with a repeated index value is kept; undefined: repeats refuse the edit. */
  readonly duplicates: 'ignore' | 'replace' | undefined;
}

/** @param left the number of records that were dropped for another one with their index value */
type Commit = (edits: readonly Edit[], left: number) => Promise<void>;

/**
 * Runs in the dataset's turn, with nothing pending. The work folder exists while `commit` runs.
 * @throws Failure InvalidBody if a record has no value of the index, or repeats another's.
 */
export async function editIndex(
  dataset: Dataset,
  edit: IndexEdit,
  services: IngestServices,
  commit: Commit,
): Promise<void> {
  const { deadlineMs, lake } = services;
  const table = await tableOf(lake, dataset);
  checkRewritable(table);
  const { inferred, mapping, numbered } = edit;
  const becoming: Dataset = { ...dataset, inferred, mapping, numbered };
  const columns = await columnsAfter(becoming, table, services);
  const edits = replacingEdits(table, columns);
  if (table.records === 0) return commit(edits, 0);
  await withWorkFolder(dataset.workspace, services, async (where) => {
    const bench = { ...where, deadlineMs, onProgress: () => undefined };
    const index = buildUniqueIndex(becoming, { ...table, columns });
    const writing = { before: storedOrder(dataset, table), bench, columns, edit, index, table };
    const { path, stats } = await rewriteRecords(writing, services);
    services.at('parquet-written');
    const inserts = await publishFile(path, stats, { ...table, columns }, lake, 'all');
    await commit([...edits, ...inserts], table.records - stats.records);
  });
}

/** Columns keep their ids; system columns are added and removed with the index. */
async function columnsAfter(
  becoming: Dataset,
  table: Table,
  { lake }: IngestServices,
): Promise<readonly Column[]> {
  const first = await lake.nextColumnId(table.tableId);
  let fresh = 0;
  return buildColumns(becoming).map((column) => {
    const existing = table.columns.find(({ name }) => name === column.name);
    if (existing !== undefined) return { ...column, id: existing.id, type: existing.type };
    fresh += 1;
    return { ...column, id: first + fresh - 1 };
  });
}

/** The order in which the records are stored: that of their numbers, or of the index. */
function storedOrder(dataset: Dataset, table: Table): readonly string[] {
  const { columns } = buildUniqueIndex(dataset, table);
  const row = columns.filter(({ name }) => name === ROW_COLUMN);
  const names = (row.length > 0 ? row : columns).map(({ name }) => identifier(name));
  return [...names, FILE_COLUMN, POSITION_COLUMN];
}

interface Writing {
  readonly before: readonly string[];
  readonly bench: Workbench;
  readonly columns: readonly Column[];
  readonly edit: IndexEdit;
  readonly index: UniqueIndex;
  readonly table: Table;
}

/** Rewrites in two steps: in the old order with numbers, then in the new one, each index value once. */
async function rewriteRecords(
  writing: Writing,
  { lake }: IngestServices,
): Promise<{ readonly path: string; readonly stats: FileStats }> {
  const { before, bench, columns, table } = writing;
  const staged = join(bench.folder, `${newUuid()}.parquet`);
  await withVerifiedFiles(lake.files, table.files, async ({ paths, pathOf }) => {
    const list = columns.map(
      (column) => `${valueIn(table, column, before)} AS ${identifier(column.name)}`,
    );
    const number = `row_number() OVER (ORDER BY ${before.join(', ')}) AS ${NUMBER}`;
    const rows = visibleRows(table.files, table.columns, pathOf, true);
    const copy = `COPY (SELECT ${[...list, number].join(', ')} FROM ${rows}) TO ${literal(staged)}
      (FORMAT parquet, COMPRESSION lz4_raw)`;
    await ask(bench, paths, [copy]);
  });
  await refuseBlanks(writing, staged);
  return sortUnique(writing, staged);
}

const NUMBER = '_system_number';

function valueIn(table: Table, { name }: Column, before: readonly string[]): string {
  if (table.columns.some((column) => column.name === name)) return identifier(name);
  if (name === ROW_COLUMN) return `row_number() OVER (ORDER BY ${before.join(', ')})`;
  // The creation time of a record of an index with a date is unknown; its time of writing is not.
  return name === CREATED_COLUMN ? identifier(UPDATED_COLUMN) : 'NULL';
}

async function refuseBlanks({ bench, index }: Writing, staged: string): Promise<void> {
  const { required } = index;
  if (required.length === 0) return;
  const counts = required.map(({ name }, at) => {
    const blank = `nullif(CAST(${identifier(name)} AS VARCHAR), '') IS NULL`;
    return `count(*) FILTER (WHERE ${blank}) AS c${at}`;
  });
  const statement = `SELECT ${counts.join(', ')} FROM read_parquet(${literal(staged)})`;
  const [[row] = []] = await ask(bench, [], [statement]);
  for (const [at, { name }] of required.entries()) {
    const records = Number(row?.[`c${at}`] ?? 0);
    if (records === 0) continue;
    const problem = `${records} records have no value of '${name}'`;
    throw mappingFailure(problem);
  }
}

async function sortUnique(
  { bench, columns, edit, index, table }: Writing,
  staged: string,
): Promise<{ readonly path: string; readonly stats: FileStats }> {
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const all = `SELECT ${list} FROM read_parquet(${literal(staged)})`;
  const copy = (query: string): string =>
    copyTable(`${query}${orderBy(index)}`, path, columns, table.records);
  const [copied = [], repeated] = await ask(
    bench,
    [],
    [copy(all), ...(edit.numbered ? [] : [countRepeatsQuery(path, index)])],
  );
  const repeats = Number(repeated?.[0]?.['repeats'] ?? 0);
  if (repeats === 0) return { path, stats: fileStats(copied) };
  if (edit.duplicates === undefined) {
    const [rows = []] = await ask(bench, [], [repeatExamplesQuery(path, index)]);
    throw repeatsFailure(repeats, formatRepeats(rows));
  }
  const order = edit.duplicates === 'ignore' ? 'ASC' : 'DESC';
  const once = `SELECT ${list} FROM read_parquet(${literal(staged)})
    QUALIFY row_number() OVER (PARTITION BY ${index.terms.join(', ')} ORDER BY ${NUMBER} ${order}) = 1`;
  const [rows = []] = await ask(bench, [], [copy(once)]);
  return { path, stats: fileStats(rows) };
}

function repeatsFailure(records: number, examples: readonly string[]): Failure {
  const what = `${records} records repeat an index value, such as ${examples.join(', ')}`;
  const rule =
    'name more of its parts, or choose which one stays: duplicateKeyHandling=ignore ' +
    '(--duplicates keep-first) or duplicateKeyHandling=replace (--duplicates replace)';
  return mappingFailure(`${what}: ${rule}`);
}

const mappingFailure = (problem: string): Failure =>
  new Failure('InvalidBody', `columnMapping can not be so: ${problem}`);

const ask = (
  { deadlineMs, folder, pool }: Workbench,
  files: readonly string[],
  statements: readonly string[],
) => pool.rows({ files, folder, statements, deadlineMs });
