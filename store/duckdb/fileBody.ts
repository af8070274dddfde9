// Result rows as a file that DuckDB writes itself, with all its threads: Parquet of any size, text
// of many rows. What a value looks like is as in render.ts.
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
} from './protocol.ts';
import { checkTypes, renderBody } from './render.ts';
import { cellSql, memberSql } from './valueSql.ts';
import { identifier, literal } from './sqlText.ts';
import { runOne, streamOne } from './statement.ts';

/** As the lake's own files. */
const ROW_GROUP_ROWS = 122_880;
/** How often the growing file is looked at. */
const LOOK_MS = 100;

interface Wanted<Format extends FileFormat = FileFormat> {
  readonly query: string;
  readonly parameters: readonly Bound[];
  readonly format: Format;
  readonly path: string;
  readonly bytesMax: number;
  readonly compression?: Compression | undefined;
}

/** A Parquet file, read into memory. @throws Failure TooLarge, as soon as it is. */
export async function parquetBody(
  connection: DuckDBConnection,
  query: string,
  parameters: readonly Bound[],
  folder: string,
): Promise<Body> {
  const path = join(folder, 'body.parquet');
  const wanted = { query, parameters, format: 'parquet', path, bytesMax: BODY_BYTES_MAX } as const;
  try {
    const { objects } = await writeBody(connection, wanted);
    return { objects, bytes: await readFile(path) };
  } finally {
    await rm(path, { force: true });
  }
}

/** Rows of a query whose number nobody knew: they, and what was spilled of them, go with the connection. */
const KEPT = 'answer';
const KEPT_ROWS = `FROM ${KEPT}`;

/**
 * Most answers of which nobody could say how few rows they have are small. To write one of them by
 * COPY means to bind its query twice and to make a file: 20 ms more than these bytes.
 */
export async function keptBody(
  connection: DuckDBConnection,
  wanted: Wanted<TextFormat>,
  fewRows: number,
): Promise<Body> {
  const create = `CREATE TEMP TABLE ${KEPT} AS ${wanted.query}`;
  const [[rows] = []] = await (await runOne(connection, create, wanted.parameters)).getRows();
  const body = Number(rows) <= fewRows ? await textOf(connection, wanted.format) : undefined;
  return body ?? (await fileBody(connection, { ...wanted, query: KEPT_ROWS, parameters: [] }));
}

/** The bytes; undefined where they are more than a body may have in memory. */
async function textOf(connection: DuckDBConnection, format: TextFormat): Promise<Body | undefined> {
  try {
    return await renderBody(await streamOne(connection, KEPT_ROWS), format);
  } catch (error) {
    if (error instanceof Failure && error.type === 'TooLarge') return undefined;
    throw error;
  }
}

/** The file stays: whoever asked takes it. @throws Failure TooLarge, as soon as it is. */
export async function fileBody(connection: DuckDBConnection, wanted: Wanted): Promise<Body> {
  const { objects, length } = await writeBody(connection, wanted);
  return { objects, bytes: new Uint8Array(), file: { path: wanted.path, length } };
}

async function writeBody(
  connection: DuckDBConnection,
  wanted: Wanted,
): Promise<{ readonly objects: number; readonly length: number }> {
  const { bytesMax, parameters, path } = wanted;
  const copy = await copyStatement(connection, wanted);
  let over = false;
  const look = async (): Promise<void> => {
    over ||= (await bytesOf(path)) > bytesMax;
  };
  const looking = setInterval(async () => {
    await look();
    if (over) connection.interrupt();
  }, LOOK_MS);
  try {
    const [row] = await (await runOne(connection, copy, parameters)).getRowObjectsJson();
    await look();
    if (over) throw tooLong(bytesMax);
    return { objects: Number(row?.['Count']), length: await bytesOf(path) };
  } catch (error) {
    // An interrupted COPY takes its file away.
    throw over ? tooLong(bytesMax) : error;
  } finally {
    clearInterval(looking);
  }
}

export const tooLong = (bytes: number): Failure =>
  new Failure('TooLarge', `the answer is over ${bytes} bytes: ask for less of it`);

async function bytesOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** What the file would hold is known before it is written: its columns are bound without a row. */
async function copyStatement(
  connection: DuckDBConnection,
  { compression = 'none', format, parameters, path, query }: Wanted,
): Promise<string> {
  const result = await streamOne(connection, `FROM (${query}) LIMIT 0`, parameters);
  checkTypes(result);
  const options = `${OPTIONS[format]}, USE_TMP_FILE false`;
  if (format === 'parquet')
    return `COPY (${filed(result, query)}) TO ${literal(path)} (${options})`;
  const packed = `${options}, COMPRESSION ${compression}`;
  // As a sub-select's, which have names of their own.
  const names = result.columnNames();
  const types = result.columnTypes();
  // By place: in the query itself two columns may have one name.
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
  return `COPY (${rows}) TO ${literal(path)} (${packed})`;
}

const HUGE: ReadonlySet<DuckDBTypeId> = new Set([DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT]);

/** The query with decimals in the place of integers that DuckDB would write as doubles. */
function filed(result: DuckDBResult, query: string): string {
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
