// Builds a table as SQL: its files by field id, without deleted positions.
import { type Column, sqlType } from './columns.ts';
import type { DataFile } from './lakeRead.ts';
import type { HasColumns, ResolvePath } from './openFile.ts';
import { identifier, literal } from '../../duckdb/sqlText.ts';

/** Resolves file paths, and detects files with exactly the table's columns. */
export interface FileAccess {
  readonly pathOf: ResolvePath;
  readonly holds?: HasColumns;
}

/** Position of a record: file name (without folder) and row number. */
export const FILE_COLUMN = '_system_file';
export const POSITION_COLUMN = '_system_position';

/**
 * Builds a sub-select of the visible records of `files`, with `columns`; `positions` adds the two columns of
 * a record's position.
 * @param holds detects files with exactly these columns: those are read with their statistics
 */
export function visibleRows(
  files: readonly DataFile[],
  columns: readonly Column[],
  pathOf: ResolvePath,
  positions = false,
  holds: HasColumns = () => false,
): string {
  const clean = files.filter((file) => file.deletes === null);
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const origin = `, parse_filename(${FILE_COLUMN}) AS ${FILE_COLUMN}, file_row_number AS ${POSITION_COLUMN}`;
  const selected = positions ? `${list}${origin}` : list;
  const parts: string[] = [];
  if (clean.length > 0) {
    parts.push(
      `SELECT ${selected} FROM ${buildFileScan(clean, columns, pathOf, positions, holds)}`,
    );
  }
  for (const file of files) {
    if (file.deletes === null) continue;
    // Looks up a set of positions: NOT EXISTS over all files loaded every record into memory.
    const deleted = `SELECT pos FROM read_parquet(${literal(pathOf(file.deletes.path))})`;
    parts.push(`SELECT ${selected} FROM ${buildFileScan([file], columns, pathOf, true, holds)}
      WHERE file_row_number NOT IN (${deleted})`);
  }
  return parts.length === 0 ? buildEmptyRows(columns, positions) : `(${parts.join(' UNION ALL ')})`;
}

function buildFileScan(
  files: readonly DataFile[],
  columns: readonly Column[],
  pathOf: ResolvePath,
  positions: boolean,
  holds: HasColumns,
): string {
  const fields = columns.map(
    ({ id, name, type }) =>
      `${id}: {name: ${literal(name)}, type: '${sqlType(type)}', default_value: NULL}`,
  );
  const paths = files.map((file) => literal(pathOf(file.path)));
  // DuckDB assumes that a file with an explicit schema is empty, and plans an as-of join as a loop: 25 times
  // slower over 500,000 records.
  const records = files.reduce((sum, file) => sum + file.records, 0);
  const size = records > 0 ? `, explicit_cardinality = ${records}` : '';
  const place = positions ? `, file_row_number = true, filename = '${FILE_COLUMN}'` : '';
  const isPlain = files.every((file) => holds(file, columns));
  const shape = isPlain ? 'hive_partitioning = false' : `schema = MAP {${fields.join(', ')}}`;
  return `read_parquet([${paths.join(', ')}], ${shape}${size}${place})`;
}

function buildEmptyRows(columns: readonly Column[], positions: boolean): string {
  const nulls = columns.map(
    ({ name, type }) => `CAST(NULL AS ${sqlType(type)}) AS ${identifier(name)}`,
  );
  const place = [`'' AS ${FILE_COLUMN}`, `0 AS ${POSITION_COLUMN}`];
  return `(SELECT ${[...nulls, ...(positions ? place : [])].join(', ')} WHERE false)`;
}
