// A table as SQL: its files by field id, without the positions that were deleted.
import { type Column, sqlType } from './columns.ts';
import type { DataFile } from './lakeRead.ts';
import type { Holds, PathOf } from './openFile.ts';
import { identifier, literal } from '../../duckdb/sqlText.ts';

/** Where the files of tables are, and which of them are as their table is. */
export interface RowPlace {
  readonly pathOf: PathOf;
  readonly holds?: Holds;
}

/** Where a record stands: file name (without folder) and position. */
export const FILE_COLUMN = '_system_file';
export const POSITION_COLUMN = '_system_position';

/**
 * A sub-select of the visible records of `files`, with `columns`; `positions` adds the two columns
 * that tell where a record stands.
 * @param holds tells which files are as the columns are: those are read with their statistics
 */
export function visibleRows(
  files: readonly DataFile[],
  columns: readonly Column[],
  pathOf: PathOf,
  positions = false,
  holds: Holds = () => false,
): string {
  const clean = files.filter((file) => file.deletes === null);
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const at = `, parse_filename(${FILE_COLUMN}) AS ${FILE_COLUMN}, file_row_number AS ${POSITION_COLUMN}`;
  const selected = positions ? `${list}${at}` : list;
  const parts: string[] = [];
  if (clean.length > 0) {
    parts.push(`SELECT ${selected} FROM ${readFiles(clean, columns, pathOf, positions, holds)}`);
  }
  for (const file of files) {
    if (file.deletes === null) continue;
    // A look into a set of positions: as NOT EXISTS over all files it kept every record in memory.
    const gone = `SELECT pos FROM read_parquet(${literal(pathOf(file.deletes.path))})`;
    parts.push(`SELECT ${selected} FROM ${readFiles([file], columns, pathOf, true, holds)}
      WHERE file_row_number NOT IN (${gone})`);
  }
  return parts.length === 0 ? noRows(columns, positions) : `(${parts.join(' UNION ALL ')})`;
}

function readFiles(
  files: readonly DataFile[],
  columns: readonly Column[],
  pathOf: PathOf,
  positions: boolean,
  holds: Holds,
): string {
  const fields = columns.map(
    ({ id, name, type }) =>
      `${id}: {name: ${literal(name)}, type: '${sqlType(type)}', default_value: NULL}`,
  );
  const paths = files.map((file) => literal(pathOf(file.path)));
  // DuckDB takes a file with a schema of its own for empty, and an as-of join for a loop then: 25 times
  // slower over 500,000 records.
  const records = files.reduce((sum, file) => sum + file.records, 0);
  const size = records > 0 ? `, explicit_cardinality = ${records}` : '';
  const place = positions ? `, file_row_number = true, filename = '${FILE_COLUMN}'` : '';
  const plainly = files.every((file) => holds(file, columns));
  const shape = plainly ? 'hive_partitioning = false' : `schema = MAP {${fields.join(', ')}}`;
  return `read_parquet([${paths.join(', ')}], ${shape}${size}${place})`;
}

function noRows(columns: readonly Column[], positions: boolean): string {
  const nulls = columns.map(
    ({ name, type }) => `CAST(NULL AS ${sqlType(type)}) AS ${identifier(name)}`,
  );
  const place = [`'' AS ${FILE_COLUMN}`, `0 AS ${POSITION_COLUMN}`];
  return `(SELECT ${[...nulls, ...(positions ? place : [])].join(', ')} WHERE false)`;
}
