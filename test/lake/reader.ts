/**
 * An independent reader of DuckLake 1.0 lakes, written from the specification (its page "Queries",
 * whose SELECTs these are) and sharing no code with the product: a lake it reads is one that any
 * foreign reader can read. What it cannot read (inlined data, encryption, name mappings, deletion
 * vectors, nested types) it refuses, since rows left out silently would prove nothing.
 */
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

type CatalogRow = Record<string, unknown>;

/** The specification's tables behind SQL; integers may be bigints, booleans may be 0 and 1. */
export interface LakeCatalog {
  rows(sql: string): Promise<CatalogRow[]>;
  close(): void;
}

/** A row of `ducklake_snapshot`; `time` is text such as 2026-11-20 11:30:04.50186+00. */
export interface LakeSnapshot {
  snapshotId: number;
  time: string;
}

/** A table as it is at one snapshot; `path` is its folder, below the data path when relative. */
export interface LakeTable {
  schema: string;
  name: string;
  tableId: number;
  path: string;
  pathIsRelative: boolean;
}

/** `alias` is what our SQL calls the column (its own name is free to clash), `type` DuckDB's. */
interface Column {
  fieldId: number;
  alias: string;
  name: string;
  type: string;
  initialDefault: string | null;
}

/** "Data Types": the few that DuckDB calls otherwise (in DuckDB `int8` has eight bytes). */
const RENAMED = new Map(Object.entries({ int8: 'TINYINT', float32: 'FLOAT', float64: 'DOUBLE' }));

/** The column with the snapshot of each row or deletion of a partial file, and its field id. */
const ROW_SNAPSHOT = '_ducklake_internal_snapshot_id';
const ROW_SNAPSHOT_FIELD_ID = 2147483539;

/** Opens a catalog kept in an SQLite file, read-only. */
export async function openSqliteCatalog(path: string): Promise<LakeCatalog> {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = async (sql: string): Promise<CatalogRow[]> => database.prepare(sql).all();
  return ofThisVersion({ rows, close: () => database.close() });
}

/** Loads a catalog exported as `ddl.sql` and `<table>.csv` (all values quoted, `\N` is NULL). */
export async function openCsvCatalog(folder: string): Promise<LakeCatalog> {
  const database = await openDuckdb();
  await database.run(await readFile(join(folder, 'ddl.sql'), 'utf8'));
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.csv'))) {
    const options = String.raw`HEADER, AUTO_DETECT false, QUOTE '"', ESCAPE '"', NULLSTR '\N'`;
    const source = literal(join(folder, file));
    await database.run(`COPY ${basename(file, '.csv')} FROM ${source} (${options})`);
  }
  const rows = async (sql: string): Promise<CatalogRow[]> =>
    (await database.runAndReadAll(sql)).getRowObjectsJS();
  return ofThisVersion({ rows, close: () => database.closeSync() });
}

/** The value of a catalog-wide key of `ducklake_metadata`, such as `version` or `data_path`. */
export async function metadataValue(catalog: LakeCatalog, key: string): Promise<string> {
  const [row] = await catalog.rows(
    `SELECT value FROM ducklake_metadata WHERE key = ${literal(key)} AND scope IS NULL`,
  );
  return text(row, 'value');
}

/** All snapshots, oldest first ("Get Current Snapshot"). */
export async function snapshots(catalog: LakeCatalog): Promise<LakeSnapshot[]> {
  const rows = await catalog.rows(`SELECT snapshot_id, CAST(snapshot_time AS VARCHAR) AS time
    FROM ducklake_snapshot ORDER BY snapshot_id`);
  return rows.map((row) => ({ snapshotId: Number(row['snapshot_id']), time: text(row, 'time') }));
}

/** The tables at a snapshot by schema and name ("List Schemas", "List Tables", "Note on Paths"). */
export async function tables(catalog: LakeCatalog, snapshot: number): Promise<LakeTable[]> {
  const rows = await catalog.rows(`SELECT schema_name, table_name, table_id, t.path,
      t.path_is_relative, s.path AS schema_path, s.path_is_relative AS schema_path_is_relative
    FROM ducklake_table t JOIN ducklake_schema s USING (schema_id)
    WHERE ${validAt(snapshot, 't')} AND ${validAt(snapshot, 's')}
    ORDER BY schema_name, table_name`);
  return rows.map((row) => ({
    schema: text(row, 'schema_name'),
    name: text(row, 'table_name'),
    tableId: Number(row['table_id']),
    path: under(text(row, 'schema_path'), row, 'path'),
    pathIsRelative: flag(row, 'path_is_relative') && flag(row, 'schema_path_is_relative'),
  }));
}

/**
 * All rows of a table at the snapshot it was listed at, ordered by all columns (nulls last), each
 * the text of a JSON object with the columns in table order. `dataPath` is the folder, with its
 * last `/`, that the catalog's `data_path` stands for.
 *
 * Text, for only text keeps an int64 past 2^53 and a double's digits: the lines of two tables are
 * equal exactly when their rows are. Decimals are strings, dates and times ISO text (in UTC), JSON
 * columns nested values; a double that JSON cannot write is 'nan', 'inf' or '-inf'.
 */
export async function readTable(
  catalog: LakeCatalog,
  dataPath: string,
  snapshot: number,
  table: LakeTable,
): Promise<string[]> {
  const folder = table.pathIsRelative ? dataPath + table.path : table.path;
  const columns = await listColumns(catalog, snapshot, table);
  const files = await listFiles(catalog, snapshot, table.tableId);
  await refuseUnreadable(catalog, table.tableId, files);
  const database = await openDuckdb();
  try {
    const definitions = columns.map(({ alias, type }) => `${alias} ${type}`);
    await database.run(`CREATE TABLE result (${definitions.join(', ')})`);
    for (const file of files) {
      await database.run(`INSERT INTO result ${liveRows(file, folder, columns, snapshot)}`);
    }
    const members = columns.map((column) => `${literal(column.name)}: ${asJson(column)}`);
    const order = columns.map(({ alias }) => alias).join(', ');
    const lines = await database.runAndReadAll(
      `SELECT to_json({${members.join(', ')}})::VARCHAR FROM result ORDER BY ${order}`,
    );
    return lines.getRows().map(([line]) => String(line));
  } finally {
    database.closeSync();
  }
}

/** A row from its line, without loss: an integer that no number holds is a bigint. */
export function parseRow(line: string): Record<string, unknown> {
  const exact = (_key: string, value: unknown, { source = '' }: { source?: string }): unknown => {
    const isInteger = typeof value === 'number' && /^-?\d+$/.test(source);
    return isInteger && !Number.isSafeInteger(value) ? BigInt(source) : value;
  };
  // The language passes the number's text as a third argument; the type library omits it so far.
  return JSON.parse(line, exact as (key: string, value: unknown) => unknown);
}

async function openDuckdb(): Promise<DuckDBConnection> {
  const options = { autoinstall_known_extensions: 'false' };
  const connection = await (await DuckDBInstance.create(':memory:', options)).connect();
  await connection.run("SET TimeZone = 'UTC'");
  return connection;
}

async function ofThisVersion(catalog: LakeCatalog): Promise<LakeCatalog> {
  const version = await metadataValue(catalog, 'version');
  if (version !== '1.0') throw new Error(`a lake of version ${version}, not 1.0`);
  return catalog;
}

/** "The row is valid at the snapshot": from its begin up to, but not including, its end. */
function validAt(snapshot: number, alias: string): string {
  return `${snapshot} >= ${alias}.begin_snapshot AND
    (${snapshot} < ${alias}.end_snapshot OR ${alias}.end_snapshot IS NULL)`;
}

/** "Show the Structure of a Table". */
async function listColumns(catalog: LakeCatalog, at: number, table: LakeTable): Promise<Column[]> {
  const rows = await catalog.rows(`SELECT column_id, column_name, column_type, initial_default
    FROM ducklake_column c WHERE table_id = ${table.tableId} AND parent_column IS NULL
    AND ${validAt(at, 'c')} ORDER BY column_order`);
  return rows.map((row, index) => ({
    fieldId: Number(row['column_id']),
    alias: `c${index}`,
    name: text(row, 'column_name'),
    type: RENAMED.get(text(row, 'column_type')) ?? text(row, 'column_type'),
    initialDefault: row['initial_default'] === null ? null : text(row, 'initial_default'),
  }));
}

/** "SELECT": the data files, each with the delete file it may have (`del_` columns). */
async function listFiles(catalog: LakeCatalog, at: number, id: number): Promise<CatalogRow[]> {
  const files = await catalog.rows(`SELECT data.*, del.path AS del_path,
      del.path_is_relative AS del_path_is_relative, del.partial_max AS del_partial_max,
      coalesce(del.format, 'parquet') AS del_format, del.encryption_key AS del_key
    FROM ducklake_data_file AS data LEFT JOIN (SELECT * FROM ducklake_delete_file AS d
      WHERE ${validAt(at, 'd')}) AS del USING (data_file_id)
    WHERE data.table_id = ${id} AND ${validAt(at, 'data')} ORDER BY file_order`);
  const ids = new Set(files.map((file) => file['data_file_id']));
  if (ids.size < files.length) throw new Error('a data file has two delete files at one snapshot');
  return files;
}

async function refuseUnreadable(catalog: LakeCatalog, id: number, files: CatalogRow[]) {
  const inlined = await catalog.rows(`SELECT table_name FROM ducklake_inlined_data_tables
    WHERE table_id = ${id} UNION ALL
    SELECT name FROM sqlite_master WHERE name = 'ducklake_inlined_delete_${id}'`);
  const special = files.filter((file) => {
    const isParquet = file['file_format'] === 'parquet' && file['del_format'] === 'parquet';
    return !isParquet || (file['encryption_key'] ?? file['del_key'] ?? file['mapping_id']) !== null;
  });
  const refused = [
    ...inlined.map((row) => row['table_name']),
    ...special.map((file) => file['path']),
  ];
  if (refused.length > 0) throw new Error(`cannot read ${refused.join(', ')}`);
}

/** The SELECT of the rows that one file adds to the snapshot, its columns found by field id. */
function liveRows(file: CatalogRow, folder: string, columns: Column[], snapshot: number): string {
  const fields = columns.map(({ fieldId, alias, type, initialDefault }) => {
    const absent = initialDefault === null ? 'NULL' : literal(initialDefault);
    return `${fieldId}: {name: '${alias}', type: '${type}', default_value: ${absent}}`;
  });
  let where = 'true';
  if (file['partial_max'] !== null) {
    fields.push(`${ROW_SNAPSHOT_FIELD_ID}: {name: 'since', type: 'BIGINT', default_value: NULL}`);
    where += ` AND since <= ${snapshot}`;
  }
  if (file['del_path'] !== null) {
    // The catalog says whose delete file this is; the `file_path` in it is one writer's view.
    const made = file['del_partial_max'] === null ? 'true' : `${ROW_SNAPSHOT} <= ${snapshot}`;
    const source = literal(under(folder, file, 'del_path'));
    where += ` AND file_row_number NOT IN (SELECT pos FROM read_parquet(${source}) WHERE ${made})`;
  }
  return `SELECT ${columns.map(({ alias }) => alias).join(', ')}
    FROM read_parquet(${literal(under(folder, file, 'path'))}, file_row_number = true,
      schema = map {${fields.join(', ')}}) WHERE ${where}`;
}

/** Plain concatenation, as the reference reader does it: folders bring their own last `/`. */
function under(folder: string, row: CatalogRow, column: string): string {
  return (flag(row, `${column}_is_relative`) ? folder : '') + text(row, column);
}

function asJson({ alias, type }: Column): string {
  if (type.startsWith('decimal')) return `${alias}::VARCHAR`;
  if (type !== 'FLOAT' && type !== 'DOUBLE') return alias;
  return `CASE WHEN isfinite(${alias}) THEN to_json(${alias}) ELSE to_json(${alias}::VARCHAR) END`;
}

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

function text(row: CatalogRow | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw new Error(`${column} is ${String(value)}, not a text`);
}

function flag(row: CatalogRow, column: string): boolean {
  return Number(row[column]) === 1;
}
