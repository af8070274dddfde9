// Cuts a version of a dataset into parts: the same records in the same order each time a part is created, so
// that a part created again is identical.
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeBind } from '../../query/plan/binding.ts';
import { mayHold } from '../../query/plan/pruning.ts';
import {
  type Column,
  isSystemColumn,
  ROW_COLUMN,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Body, Bound, Compression } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Files } from '../../store/files/files.ts';
import type { DataFile, Table } from '../../store/lake/versions/lakeRead.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { withPending } from '../../store/lake/pushes/pendingSql.ts';
import { newUuid } from '../../store/base/random.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { FILE_COLUMN, POSITION_COLUMN, visibleRows } from '../../store/lake/versions/tableSql.ts';
import { isNumbered, buildUniqueIndex } from '../batch/uniqueIndex.ts';
import type { ResolvePath } from '../../store/lake/versions/openFile.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export const EXPORT_FORMATS = ['csv', 'jsonl', 'parquet', 'arrow'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The encoding of a part. */
export interface PartFormat {
  readonly format: ExportFormat;
  /** For csv and jsonl. */
  readonly compression: Compression;
}

/** Name and DuckDB's type of each column, in the order of the part. */
export type PartSchema = readonly { readonly name: string; readonly type: string }[];

/** Maximum parts of one export: their list is stored as one text. */
const PARTS_MAX = 1_000;
/** Maximum bytes of one part: an upload in pieces of 16 MiB has at most 10,000 of them. */
export const PART_BYTES_MAX = 64 * 1024 ** 3;
/** Bytes of the lake per part, unless the owner sets the number of records. */
const USUAL_BYTES = 256 * 1024 ** 2;
const USUAL_ROWS_MAX = 2_000_000;

/** Prefix of the names of unfinished parts. */
export const UNFINISHED_PREFIX = 'making-';

/** The data and the context of parts. */
export interface PartsInput {
  readonly files: Files;
  readonly pool: DuckDbPool;
  readonly dataset: Dataset;
  readonly table: Table;
  /** Records that were pushed before the version and are not in its files. */
  readonly pushed: readonly PendingRow[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Folder for unfinished files, and for the part itself. */
  readonly folder: string;
}

/** The end of a part: the values of its last record in the columns of its order. */
type Edge = readonly string[];

/** Records after one edge, up to and including another; undefined: unbounded. */
export interface PartRange {
  readonly after: Edge | undefined;
  readonly upTo: Edge | undefined;
  readonly rows: number;
}

/**
 * Records of each part: as requested, or as many as take about 256 MiB of the lake.
 * @throws Failure InvalidBody if there would be too many parts.
 */
export function rowsPerPart({ bytes, records }: Table, requested: number | undefined): number {
  const fitting = Math.floor((USUAL_BYTES / Math.max(1, bytes)) * records);
  const usual = Math.min(USUAL_ROWS_MAX, Math.max(1, fitting));
  const rows = requested ?? Math.max(usual, Math.ceil(records / PARTS_MAX));
  if (records <= rows * PARTS_MAX) return rows;
  const least = Math.ceil(records / PARTS_MAX);
  const rule = `must be at least ${least}: an export has at most ${PARTS_MAX} parts`;
  throw new Failure('InvalidBody', `rowsPerFile ${rule}, and ${records} records`);
}

/** The parts of a table, in their order; one empty part for a table without records. */
export async function planParts(parts: PartsInput, rows: number): Promise<readonly PartRange[]> {
  const records = await countRecords(parts);
  if (records <= rows) return [{ after: undefined, upTo: undefined, rows: records }];
  const edges = await findEdges(parts, rows, records);
  const count = Math.ceil(records / rows);
  if (edges.length !== count - 1) throw inconsistent(parts);
  return Array.from({ length: count }, (_, at) => ({
    after: edges[at - 1],
    upTo: edges[at],
    rows: Math.min(rows, records - at * rows),
  }));
}

async function countRecords(parts: PartsInput): Promise<number> {
  if (parts.pushed.length === 0) return parts.table.records;
  return withOpenFiles(parts.files, parts.table.files, async ({ paths, pathOf }) => {
    const { bind, parameters } = makeBinding();
    const statements = [`SELECT count(*) AS records FROM ${selectRows(parts, [], pathOf, bind)}`];
    const [counts = []] = await parts.pool.rows({
      ...toQuestion(parts, paths),
      statements,
      parameters,
    });
    return Number(counts[0]?.['records'] ?? 0);
  });
}

const inconsistent = ({ dataset, table }: PartsInput): Failure => {
  const what = `version ${table.snapshot} of ${dataset.workspace}.${dataset.dataset}`;
  return new Failure('SystemError', `${what} has another number of records than its catalog`);
};

/** The owner's properties, as of this version. */
const columnsOf = ({ columns }: Table): readonly Column[] =>
  columns.filter(({ name }) => !isSystemColumn(name));

export const partSchema = (table: Table): PartSchema =>
  columnsOf(table).map(({ name, type }) => ({ name, type: sqlType(type) }));

/** One term of the order by which records are compared. */
interface Term {
  readonly sql: string;
  readonly type: string;
}

/** The columns that order and distinguish records: the number first, if there is one. */
function orderColumns(dataset: Dataset, table: Table): readonly Column[] {
  const { columns } = buildUniqueIndex(dataset, table);
  const row = columns.filter(({ name }) => name === ROW_COLUMN);
  return [...row, ...columns.filter((column) => !row.includes(column))];
}

/** Replaces missing values: key, subkey and date of numbered records may be null. */
function orderTerm({ name, type }: Column, table: Table): Term {
  const isTotal = !isNumbered(table) || name === ROW_COLUMN;
  if (isTotal) return { sql: identifier(name), type: sqlType(type) };
  return { sql: `coalesce(CAST(${identifier(name)} AS VARCHAR), '')`, type: 'VARCHAR' };
}

/** Key, subkey and date, or the number; for old datasets without an index the file and the position in it. */
function sortTerms({ dataset, table }: PartsInput): readonly Term[] {
  const columns = orderColumns(dataset, table);
  if (columns.length > 0) return columns.map((column) => orderTerm(column, table));
  const names = table.files.map(({ path }) => literal(path.split('/').at(-1) ?? ''));
  return [
    { sql: `list_position([${names.join(', ')}], ${FILE_COLUMN})`, type: 'INTEGER' },
    { sql: POSITION_COLUMN, type: 'BIGINT' },
  ];
}

function selectRows(
  { dataset, pushed, table }: PartsInput,
  columns: readonly Column[],
  pathOf: ResolvePath,
  bind: (value: Bound) => string,
): string {
  const index = orderColumns(dataset, table);
  const read = [...new Set([...columns, ...index])];
  // A SELECT needs at least one column.
  const some = read.length === 0 ? table.columns.slice(0, 1) : read;
  const stored = visibleRows(table.files, some, pathOf, index.length === 0);
  if (pushed.length === 0) return stored;
  return withPending(stored, some, index, pushed, 'true', bind);
}

/** The last record of each part except the last part. */
async function findEdges(
  parts: PartsInput,
  rows: number,
  records: number,
): Promise<readonly Edge[]> {
  const { table } = parts;
  return withOpenFiles(parts.files, table.files, async ({ paths, pathOf }) => {
    const { bind, parameters } = makeBinding();
    const terms = sortTerms(parts);
    const values = terms.map(({ sql }, at) => `${sql} AS t${at}`).join(', ');
    const names = terms.map((_, at) => `t${at}`);
    const texts = names.map((name) => `CAST(${name} AS VARCHAR) AS ${name}`).join(', ');
    const numbered = `SELECT ${names.join(', ')}, row_number() OVER (ORDER BY ${names.join(', ')}) AS n
      FROM (SELECT ${values} FROM ${selectRows(parts, [], pathOf, bind)})`;
    const statement = `SELECT ${texts} FROM (${numbered})
      WHERE n % ${rows} = 0 AND n < ${records} ORDER BY n`;
    const [edges = []] = await parts.pool.rows({
      ...toQuestion(parts, paths),
      statements: [statement],
      parameters,
    });
    return edges.map((row) => names.map((name) => String(row[name])));
  });
}

const toQuestion = ({ deadlineMs, folder, signal }: PartsInput, files: readonly string[]) => ({
  files,
  folder,
  deadlineMs,
  signal,
  canRunRemotely: true,
});

/**
 * Writes one part into a new file of the folder; returns its path.
 * @throws Failure SystemError if the part does not have the records of its range; TooLarge, TimedOut,
 * ChildLost, Busy.
 */
export async function makePart(
  parts: PartsInput,
  range: PartRange,
  name: string,
  { compression, format }: PartFormat,
  onProgress: (percent: number) => void,
): Promise<string> {
  const files = parts.table.files.filter((file) => mayHaveSome(file, range, parts));
  return withOpenFiles(parts.files, files, async ({ paths, pathOf }) => {
    const { bind, parameters } = makeBinding();
    const typed: BindTyped = (value, type) => `CAST(${bind(value)} AS ${type})`;
    const columns = columnsOf(parts.table);
    const list = columns.map((column) => identifier(column.name)).join(', ');
    const terms = sortTerms(parts);
    const table = { ...parts, table: { ...parts.table, files } };
    const where = [
      ...edgeConditions(terms, range.after, '>', typed),
      ...edgeConditions(terms, range.upTo, '<=', typed),
    ];
    const statement = `SELECT ${list} FROM ${selectRows(table, columns, pathOf, bind)}
      ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}
      ORDER BY ${terms.map(({ sql }) => sql).join(', ')}`;
    const file = {
      name: `${UNFINISHED_PREFIX}${newUuid()}`,
      bytesMax: PART_BYTES_MAX,
      compression,
    };
    const common = { ...toQuestion(parts, paths), onProgress };
    const question = { ...common, statements: [statement], parameters, file };
    const body = await parts.pool.body(question, format);
    if (body.objects !== range.rows) throw inconsistent(parts);
    return renameBodyFile(body, parts.folder, name);
  });
}

/** Renames the file of a body; returns its path. */
export async function renameBodyFile(
  { file }: Body,
  folder: string,
  name: string,
): Promise<string> {
  if (file === undefined) throw new Failure('SystemError', 'a part left no file');
  const path = join(folder, name);
  await rename(file.path, path);
  return path;
}

type BindTyped = (value: string, type: string) => string;

function makeBinding(): { readonly parameters: Bound[]; readonly bind: (value: Bound) => string } {
  const parameters: Bound[] = [];
  return { parameters, bind: makeBind(parameters) };
}

/**
 * Conditions of the records after an edge, or up to it. The first condition, on one column only, lets
 * DuckDB skip whole row groups.
 */
function edgeConditions(
  terms: readonly Term[],
  edge: Edge | undefined,
  operator: '>' | '<=',
  bind: BindTyped,
): readonly string[] {
  if (edge === undefined) return [];
  const strict = operator === '>' ? '>' : '<';
  const values = terms.map(({ type }, at) => bind(edge[at] ?? '', type));
  let condition = '';
  for (const [at, { sql }] of [...terms.entries()].toReversed()) {
    const value = values[at] ?? '';
    condition =
      condition === ''
        ? `${sql} ${operator} ${value}`
        : `(${sql} ${strict} ${value} OR (${sql} = ${value} AND ${condition}))`;
  }
  return [`${terms[0]?.sql ?? 'true'} ${strict}= ${values[0] ?? ''}`, condition];
}

const PRUNED = ['varchar', 'date', 'int64'];

/** Tests a file by its least and greatest key in the catalog. */
function mayHaveSome(file: DataFile, { after, upTo }: PartRange, parts: PartsInput): boolean {
  const [column] = orderColumns(parts.dataset, parts.table);
  if (column === undefined || !PRUNED.includes(column.type)) return true;
  const mayMatch = (operator: '>=' | '<=', edge: Edge | undefined): boolean =>
    edge === undefined || mayHold(file, { column, operator, values: [edge[0] ?? ''] });
  return mayMatch('>=', after) && mayMatch('<=', upTo);
}
