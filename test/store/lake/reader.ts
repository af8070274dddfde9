/**
 * An independent reader of DuckLake 1.0 lakes, written from the specification (its page "Queries",
 * whose SELECTs these are) and sharing no code with the product: a lake it reads is one that any
 * foreign reader can read. What it cannot read (inlined data, encryption, name mappings, deletion
 * vectors, nested types) it refuses, since rows left out silently would prove nothing.
 */
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { DuckDBInstance } from '@duckdb/node-api';
import { connectionHere } from '../../base/duckdbHere.ts';

type CatalogRow = Record<string, unknown>;

/** The specification's tables behind SQL; integers may be bigints, booleans may be 0 and 1. */
export interface LakeCatalog {
  rows(sql: string): Promise<CatalogRow[]>;
  /** The source of each table by its `name`: a table or a query. */
  readonly tables: string;
  close(): void;
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
type Column = { id: number; alias: string; name: string; type: string; initial: string | null };

/** "Data Types": the few that DuckDB calls otherwise (in DuckDB `int8` has eight bytes). */
const RENAMED = new Map(Object.entries({ int8: 'TINYINT', float32: 'FLOAT', float64: 'DOUBLE' }));

/** The column with the snapshot of each row or deletion of a partial file, and its field id. */
const ROW_SNAPSHOT = '_ducklake_internal_snapshot_id';
const ROW_SNAPSHOT_FIELD_ID = 2147483539;

/** Opens a catalog kept in an SQLite file, read-only. */
export async function openSqliteCatalog(path: string): Promise<LakeCatalog> {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = async (sql: string): Promise<CatalogRow[]> => database.prepare(sql).all();
  return ofThisVersion({ rows, tables: 'sqlite_master', close: () => database.close() });
}

/** Opens a catalog kept in a schema of PostgreSQL, as the specification's own types are there. */
export async function openPostgresCatalog(url: string, schema: string): Promise<LakeCatalog> {
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` });
  await client.connect();
  await client.query("set time zone 'UTC'");
  const rows = async (sql: string): Promise<CatalogRow[]> => (await client.query(sql)).rows;
  const tables =
    '(SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()) AS t';
  return ofThisVersion({ rows, tables, close: () => void client.end() });
}

/** Loads a catalog exported as `ddl.sql` and `<table>.csv` (all values quoted, `\N` is NULL). */
export async function openCsvCatalog(folder: string): Promise<LakeCatalog> {
  const database = await (await DuckDBInstance.create(':memory:')).connect();
  await database.run("SET TimeZone = 'UTC'");
  await database.run(await readFile(join(folder, 'ddl.sql'), 'utf8'));
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.csv'))) {
    const options = String.raw`HEADER, AUTO_DETECT false, QUOTE '"', ESCAPE '"', NULLSTR '\N'`;
    const source = literal(join(folder, file));
    await database.run(`COPY ${basename(file, '.csv')} FROM ${source} (${options})`);
  }
  const rows = async (sql: string): Promise<CatalogRow[]> =>
    (await database.runAndReadAll(sql)).getRowObjectsJS();
  return ofThisVersion({ rows, tables: 'sqlite_master', close: () => database.closeSync() });
}

/** All snapshots, oldest first ("Get Current Snapshot"), times such as 2026-11-20 11:30:04.5+00. */
export async function snapshots(catalog: LakeCatalog): Promise<{ id: number; time: string }[]> {
  const rows = await catalog.rows(`SELECT snapshot_id AS id, CAST(snapshot_time AS VARCHAR) AS time
    FROM ducklake_snapshot ORDER BY snapshot_id`);
  return rows.map(({ id, time }) => ({ id: Number(id), time: String(time) }));
}

/** The tables at a snapshot by schema and name ("List Schemas", "List Tables", "Note on Paths"). */
export async function tables(catalog: LakeCatalog, snapshot: number): Promise<LakeTable[]> {
  const rows = await catalog.rows(`SELECT schema_name, table_name, table_id,
      CASE WHEN t.path_is_relative THEN s.path || t.path ELSE t.path END AS path,
      t.path_is_relative AND s.path_is_relative AS path_is_relative
    FROM ducklake_table AS t JOIN ducklake_schema AS s USING (schema_id)
    WHERE ${validAt(snapshot, 't')} AND ${validAt(snapshot, 's')}
    ORDER BY schema_name, table_name`);
  return rows.map((row) => ({
    schema: String(row['schema_name']),
    name: String(row['table_name']),
    tableId: Number(row['table_id']),
    path: String(row['path']),
    pathIsRelative: Number(row['path_is_relative']) === 1,
  }));
}

/**
 * All rows of a table at the snapshot it was listed at, ordered by all columns (nulls last), each
 * the text of a JSON object with the columns in table order. `dataPath` is the folder, with its
 * last `/`, that the catalog's `data_path` stands for.
 *
 * Text, for only text keeps an int64 past 2^53 and a double's digits: the lines of two tables are
 * equal exactly when their rows are. Decimals are strings, dates and times ISO text (in UTC), JSON
 * columns nested values; a double may be NaN or Infinity, which is no JSON.
 */
export async function readTable(
  catalog: LakeCatalog,
  dataPath: string,
  snapshot: number,
  table: LakeTable,
): Promise<string[]> {
  await refuseUnreadable(catalog, table.tableId);
  const folder = table.pathIsRelative ? dataPath + table.path : table.path;
  const columns = await listColumns(catalog, snapshot, table.tableId);
  const files = await listFiles(catalog, snapshot, table.tableId);
  const database = await connectionHere();
  try {
    await database.run("SET TimeZone = 'UTC'");
    const definitions = columns.map(({ alias, type }) => `${alias} ${type}`);
    await database.run(`CREATE TEMP TABLE result (${definitions.join(', ')})`);
    for (const file of files) {
      await database.run(`INSERT INTO result ${liveRows(file, folder, columns, snapshot)}`);
    }
    const members = columns.map((column) => `${literal(column.name)}: ${asJson(column)}`);
    const order = columns.map(({ alias }) => alias).join(', ');
    const sql = `SELECT to_json({${members.join(', ')}})::VARCHAR FROM result ORDER BY ${order}`;
    return (await database.runAndReadAll(sql)).getRows().map(([line]) => String(line));
  } finally {
    database.closeSync();
  }
}

/** A row from its line, without loss: an integer that no number holds is a bigint. */
export function parseRow(line: string): Record<string, unknown> {
  // The type library omits the third argument so far: the text that the value was parsed from.
  return JSON.parse(line, (_key, value: unknown, { source = '' }: { source?: string } = {}) => {
    const isInteger = typeof value === 'number' && /^-?\d+$/.test(source);
    return isInteger && !Number.isSafeInteger(value) ? BigInt(source) : value;
  });
}

async function ofThisVersion(catalog: LakeCatalog): Promise<LakeCatalog> {
  const sql = "SELECT value FROM ducklake_metadata WHERE key = 'version' AND scope IS NULL";
  const [version] = await catalog.rows(sql);
  if (version?.['value'] === '1.0') return catalog;
  catalog.close();
  throw new Error(`not a lake of version 1.0: ${String(version?.['value'])}`);
}

/** "The row is valid at the snapshot": from its begin up to, but not including, its end. */
function validAt(snapshot: number, alias: string): string {
  return `${snapshot} >= ${alias}.begin_snapshot AND
    (${snapshot} < ${alias}.end_snapshot OR ${alias}.end_snapshot IS NULL)`;
}

/** "Show the Structure of a Table". */
async function listColumns(catalog: LakeCatalog, at: number, id: number): Promise<Column[]> {
  const rows = await catalog.rows(`SELECT column_id, column_name, column_type, initial_default
    FROM ducklake_column c WHERE table_id = ${id} AND parent_column IS NULL
    AND ${validAt(at, 'c')} ORDER BY column_order`);
  return rows.map((row, index) => ({
    id: Number(row['column_id']),
    alias: `c${index}`,
    name: String(row['column_name']),
    type: RENAMED.get(String(row['column_type'])) ?? String(row['column_type']),
    initial: row['initial_default'] === null ? null : String(row['initial_default']),
  }));
}

/** "SELECT": the data files, each with the delete file it may have (`del_` columns). */
async function listFiles(catalog: LakeCatalog, at: number, id: number): Promise<CatalogRow[]> {
  const files = await catalog.rows(`SELECT data.*, del.path AS del_path,
      del.path_is_relative AS del_path_is_relative, del.partial_max AS del_partial_max
    FROM ducklake_data_file AS data LEFT JOIN (SELECT * FROM ducklake_delete_file AS d
      WHERE ${validAt(at, 'd')}) AS del USING (data_file_id)
    WHERE data.table_id = ${id} AND ${validAt(at, 'data')} ORDER BY file_order`);
  const ids = new Set(files.map((file) => file['data_file_id']));
  if (ids.size < files.length) throw new Error('a data file has two delete files at one snapshot');
  return files;
}

/** Throws for a table that has, or once had, rows outside of plain files with field ids. */
async function refuseUnreadable(catalog: LakeCatalog, id: number): Promise<void> {
  const refused = await catalog.rows(`
    SELECT table_name AS what FROM ducklake_inlined_data_tables WHERE table_id = ${id}
    UNION ALL SELECT name FROM ${catalog.tables} WHERE name = 'ducklake_inlined_delete_${id}'
    UNION ALL SELECT path FROM ducklake_data_file WHERE table_id = ${id}
      AND (file_format <> 'parquet' OR encryption_key IS NOT NULL OR mapping_id IS NOT NULL)
    UNION ALL SELECT path FROM ducklake_delete_file WHERE table_id = ${id}
      AND (format <> 'parquet' OR encryption_key IS NOT NULL)`);
  if (refused.length > 0) throw new Error(`cannot read ${refused.map(({ what }) => what).join()}`);
}

/** The SELECT of the rows that one file adds to the snapshot, its columns found by field id. */
function liveRows(file: CatalogRow, folder: string, columns: Column[], snapshot: number): string {
  const fields = columns.map(({ id, alias, type, initial }) => {
    const absent = initial === null ? 'NULL' : literal(initial);
    return `${id}: {name: '${alias}', type: '${type}', default_value: ${absent}}`;
  });
  let where = 'true';
  if (file['partial_max'] !== null) {
    fields.push(`${ROW_SNAPSHOT_FIELD_ID}: {name: 'since', type: 'BIGINT', default_value: NULL}`);
    where += ` AND since <= ${snapshot}`;
  }
  if (file['del_path'] !== null) {
    // The catalog assigns the delete file to its data file; the `file_path` in it is one writer's view.
    const condition = file['del_partial_max'] === null ? 'true' : `${ROW_SNAPSHOT} <= ${snapshot}`;
    const source = literal(under(folder, file, 'del_path'));
    where += ` AND file_row_number NOT IN (SELECT pos FROM read_parquet(${source}) WHERE ${condition})`;
  }
  return `SELECT ${columns.map(({ alias }) => alias).join(', ')}
    FROM read_parquet(${literal(under(folder, file, 'path'))}, file_row_number = true,
      schema = map {${fields.join(', ')}}) WHERE ${where}`;
}

/** Plain concatenation, as the reference reader does it: folders bring their own last `/`. */
function under(folder: string, row: CatalogRow, column: string): string {
  return (Number(row[`${column}_is_relative`]) === 1 ? folder : '') + String(row[column]);
}

function asJson({ alias, type }: Column): string {
  return type.startsWith('decimal') ? `${alias}::VARCHAR` : alias;
}

function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
