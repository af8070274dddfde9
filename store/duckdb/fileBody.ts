// Result rows as a file that DuckDB writes with all its threads: Parquet of any size, text
// of many rows. Values have the same format as in render.ts.
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBConnection, type DuckDBResult, DuckDBTypeId } from '@duckdb/node-api';
import { Failure } from '../base/failure.ts';
import { escapedFormula, escapedFormulaSql, isEscaped } from './formulas.ts';
import {
  type Body,
  type Bound,
  type Compression,
  type FileFormat,
  hasStrings,
  jsonFraming,
  type TextFormat,
  BODY_BYTES_MAX,
  fileTooLarge,
} from './protocol.ts';
import { checkTypes, renderBody } from './render.ts';
import { cellSql, memberSql } from './valueSql.ts';
import { identifier, literal } from './sqlText.ts';
import { runOne, streamOne } from './statement.ts';

/** The row group size of the lake's files. */
const ROW_GROUP_ROWS = 122_880;
/** Interval of checks of the growing file's size. */
const SIZE_CHECK_MS = 100;

interface FileTarget<Format extends FileFormat = FileFormat> {
  readonly query: string;
  readonly parameters: readonly Bound[];
  readonly format: Format;
  readonly path: string;
  readonly bytesMax: number;
  readonly compression?: Compression | undefined;
}

/** Writes a Parquet file and reads it into memory. @throws Failure TooLarge as soon as it is too long. */
export async function parquetBody(
  connection: DuckDBConnection,
  query: string,
  parameters: readonly Bound[],
  folder: string,
): Promise<Body> {
  const path = join(folder, 'body.parquet');
  const target = { query, parameters, format: 'parquet', path, bytesMax: BODY_BYTES_MAX } as const;
  try {
    const { objects } = await writeBody(connection, target);
    return { objects, bytes: await readFile(path) };
  } finally {
    await rm(path, { force: true });
  }
}

/** A temporary table of rows whose number was unknown; it and its spill are dropped with the connection. */
const BUFFER_TABLE = 'answer';
const BUFFER_QUERY = `FROM ${BUFFER_TABLE}`;

/**
 * Buffers rows of an unknown number, and returns few rows as bytes. Most such answers are small. Writing one
 * with COPY binds its query twice and creates a file, which takes 20 ms more.
 */
export async function bufferedBody(
  connection: DuckDBConnection,
  target: FileTarget<TextFormat>,
  fewRows: number,
): Promise<Body> {
  const create = `CREATE TEMP TABLE ${BUFFER_TABLE} AS ${target.query}`;
  const [[rows] = []] = await (await runOne(connection, create, target.parameters)).getRows();
  const body =
    Number(rows) <= fewRows ? await renderBuffered(connection, target.format) : undefined;
  return body ?? (await fileBody(connection, { ...target, query: BUFFER_QUERY, parameters: [] }));
}

/** Renders the buffered rows; undefined if they exceed the limit of a body in memory. */
async function renderBuffered(
  connection: DuckDBConnection,
  format: TextFormat,
): Promise<Body | undefined> {
  try {
    return await renderBody(await streamOne(connection, BUFFER_QUERY), format);
  } catch (error) {
    if (error instanceof Failure && error.type === 'TooLarge') return undefined;
    throw error;
  }
}

/** Writes a file, which the caller takes isOver. @throws Failure TooLarge as soon as it exceeds the limit. */
export async function fileBody(connection: DuckDBConnection, target: FileTarget): Promise<Body> {
  const { objects, length } = await writeBody(connection, target);
  return { objects, bytes: new Uint8Array(), file: { path: target.path, length } };
}

async function writeBody(
  connection: DuckDBConnection,
  target: FileTarget,
): Promise<{ readonly objects: number; readonly length: number }> {
  const { bytesMax, parameters, path } = target;
  const copy = await copyStatement(connection, target);
  let isOver = false;
  const checkSize = async (): Promise<void> => {
    isOver ||= (await fileSize(path)) > bytesMax;
  };
  const timer = setInterval(async () => {
    await checkSize();
    if (isOver) connection.interrupt();
  }, SIZE_CHECK_MS);
  try {
    const [row] = await (await runOne(connection, copy, parameters)).getRowObjectsJson();
    await checkSize();
    if (isOver) throw fileTooLarge(bytesMax);
    return { objects: Number(row?.['Count']), length: await fileSize(path) };
  } catch (error) {
    // An interrupted COPY deletes its file.
    throw isOver ? fileTooLarge(bytesMax) : error;
  } finally {
    clearInterval(timer);
  }
}

async function fileSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** Builds the COPY statement. Binds the query without rows to get the columns of the file. */
async function copyStatement(
  connection: DuckDBConnection,
  { compression = 'none', format, parameters, path, query }: FileTarget,
): Promise<string> {
  const result = await streamOne(connection, `FROM (${query}) LIMIT 0`, parameters);
  checkTypes(result);
  const options = `${OPTIONS[format]}, USE_TMP_FILE false`;
  if (format === 'parquet')
    return `COPY (${castHugeIntegers(result, query)}) TO ${literal(path)} (${options})`;
  const textOptions = `${options}, COMPRESSION ${compression}`;
  const names = result.columnNames();
  const types = result.columnTypes();
  // Columns are referenced by position, because two columns of the query may have the same name.
  const places = names.map((_, at) => `c${at}`);
  const escapes = isEscaped(format);
  const isJson = jsonFraming(format) !== undefined;
  const list = places.map((place, at) => {
    const [name = '', type] = [names[at], types[at]];
    if (type === undefined) return `${place} AS ${identifier(name)}`;
    const cell = isJson ? memberSql(type, place, hasStrings(format)) : cellSql(type, place);
    if (!escapes) return `${cell} AS ${identifier(name)}`;
    return `${escapedFormulaSql(type, place, cell)} AS ${identifier(escapedFormula(name))}`;
  });
  const rows = `SELECT ${list.join(', ')} FROM (${query}) AS answer(${places.join(', ')})`;
  return `COPY (${rows}) TO ${literal(path)} (${textOptions})`;
}

const HUGE: ReadonlySet<DuckDBTypeId> = new Set([DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT]);

/** Casts huge integers to decimals, because DuckDB would write them to Parquet as doubles. */
function castHugeIntegers(result: DuckDBResult, query: string): string {
  const types = result.columnTypes();
  if (!types.some(({ typeId }) => HUGE.has(typeId))) return query;
  const names = result.columnNames();
  const list = types.map(({ typeId }, at) => {
    const value = HUGE.has(typeId) ? `CAST(c${at} AS DECIMAL(38, 0))` : `c${at}`;
    return `${value} AS ${identifier(names[at] ?? '')}`;
  });
  const places = types.map((_, at) => `c${at}`).join(', ');
  return `SELECT ${list.join(', ')} FROM (${query}) AS answer(${places})`;
}

const CSV = `FORMAT csv, HEADER true, NULLSTR ''`;
const PSV = `${CSV}, DELIMITER '|'`;

const OPTIONS: Readonly<Record<FileFormat, string>> = {
  parquet: `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`,
  json: 'FORMAT json, ARRAY true',
  jsonStrings: 'FORMAT json, ARRAY true',
  jsonl: 'FORMAT json',
  jsonlStrings: 'FORMAT json',
  csv: CSV,
  psv: PSV,
  csvEscaped: CSV,
  psvEscaped: PSV,
};
