// Maintains totals of a table: record and row-id counts, and minimum and maximum of each column over all
// files, merged by the column's type.
import { type ColumnType, isExactNumber } from './versions/columns.ts';
import { compareDecimals } from './versions/decimals.ts';
import type { Database } from '../catalog/database.ts';
import { insertEach, runBatch } from '../catalog/statementBatch.ts';
import type { WrittenColumn, WrittenFile } from './edit.ts';

/** Adds a file to its table's totals; returns the first row id of its records. */
export async function addToTableStats(
  transaction: Database,
  tableId: number,
  file: WrittenFile,
): Promise<number> {
  const existing = await transaction
    .selectFrom('ducklake_table_stats')
    .selectAll()
    .where('table_id', '=', tableId)
    .executeTakeFirst();
  const rowIdStart = existing?.next_row_id ?? 0;
  await transaction.deleteFrom('ducklake_table_stats').where('table_id', '=', tableId).execute();
  await transaction
    .insertInto('ducklake_table_stats')
    .values({
      table_id: tableId,
      record_count: (existing?.record_count ?? 0) + file.records,
      next_row_id: rowIdStart + file.records,
      file_size_bytes: (existing?.file_size_bytes ?? 0) + file.bytes,
    })
    .execute();
  await mergeColumns(transaction, tableId, file.columns);
  return rowIdStart;
}

/**
 * Recomputes the totals from the table's current files, without removed ones.
 */
export async function recomputeTableStats(transaction: Database, tableId: number): Promise<void> {
  const existing = await transaction
    .selectFrom('ducklake_table_stats')
    .selectAll()
    .where('table_id', '=', tableId)
    .executeTakeFirst();
  if (existing === undefined) return;
  const files = await transaction
    .selectFrom('ducklake_data_file')
    .select(['record_count', 'file_size_bytes'])
    .where('table_id', '=', tableId)
    .where('end_snapshot', 'is', null)
    .execute();
  await transaction
    .updateTable('ducklake_table_stats')
    .set({
      record_count: files.reduce((sum, file) => sum + file.record_count, 0),
      file_size_bytes: files.reduce((sum, file) => sum + file.file_size_bytes, 0),
    })
    .where('table_id', '=', tableId)
    .execute();
  const columns = await transaction
    .selectFrom('ducklake_file_column_stats')
    .selectAll()
    .where('table_id', '=', tableId)
    .execute();
  await mergeColumns(
    transaction,
    tableId,
    columns.map((row) => ({
      columnId: row.column_id,
      bytes: row.column_size_bytes,
      values: row.value_count,
      nulls: row.null_count,
      min: row.min_value,
      max: row.max_value,
      containsNan: toBoolean(row.contains_nan),
    })),
    'anew',
  );
}

async function mergeColumns(
  transaction: Database,
  tableId: number,
  columns: readonly WrittenColumn[],
  mode: 'anew' | 'beside' = 'beside',
): Promise<void> {
  const types = await columnTypes(transaction, tableId);
  const rows = await transaction
    .selectFrom('ducklake_table_column_stats')
    .selectAll()
    .where('table_id', '=', tableId)
    .execute();
  await transaction
    .deleteFrom('ducklake_table_column_stats')
    .where('table_id', '=', tableId)
    .execute();
  const existing = mode === 'anew' ? [] : rows;
  const merged = new Map(existing.map((row) => [row.column_id, toStatsRow(row)]));
  for (const column of columns) {
    const before = merged.get(column.columnId);
    const type = types.get(column.columnId) ?? 'varchar';
    merged.set(column.columnId, {
      table_id: tableId,
      column_id: column.columnId,
      contains_null: Boolean(before?.contains_null) || column.nulls > 0,
      contains_nan:
        column.containsNan === null ? null : Boolean(before?.contains_nan) || column.containsNan,
      min_value: mergeExtreme(type, before?.min_value, column.min, column, -1),
      max_value: mergeExtreme(type, before?.max_value, column.max, column, 1),
      extra_stats: null,
    });
  }
  const values = [...merged.values()];
  await runBatch(transaction, insertEach(transaction, 'ducklake_table_column_stats', values));
}

interface ColumnStatsRow {
  readonly table_id: number;
  readonly column_id: number;
  readonly contains_null: boolean | null;
  readonly contains_nan: boolean | null;
  readonly min_value: string | null;
  readonly max_value: string | null;
  readonly extra_stats: string | null;
}

const toBoolean = (value: boolean | number | null): boolean | null =>
  value === null ? null : Boolean(value);

/** Converts a row, with its members in the order of a new row. */
const toStatsRow = (row: {
  readonly [K in keyof ColumnStatsRow]:
    ColumnStatsRow[K] | (K extends `contains_${string}` ? number : never);
}): ColumnStatsRow => ({
  table_id: row.table_id,
  column_id: row.column_id,
  contains_null: toBoolean(row.contains_null),
  contains_nan: toBoolean(row.contains_nan),
  min_value: row.min_value,
  max_value: row.max_value,
  extra_stats: row.extra_stats,
});

async function columnTypes(
  transaction: Database,
  tableId: number,
): Promise<ReadonlyMap<number, ColumnType>> {
  const rows = await transaction
    .selectFrom('ducklake_column')
    .select(['column_id', 'column_type'])
    .where('table_id', '=', tableId)
    .where('end_snapshot', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.column_id, row.column_type as ColumnType]));
}

/** Merges an extreme value. Null means unknown and stays null: foreign readers prune by these values. */
function mergeExtreme(
  type: ColumnType,
  before: string | null | undefined,
  value: string | null,
  column: WrittenColumn,
  sign: 1 | -1,
): string | null {
  if (before === undefined) return value;
  if (before === null) return null;
  if (value === null) return column.values === 0 ? before : null;
  return compareValues(type, before, value) * sign >= 0 ? before : value;
}

/** Compares two catalog texts by the type of their column: -1, 0 or 1. */
export function compareValues(type: ColumnType, a: string, b: string): number {
  if (type === 'int64') return Math.sign(Number(BigInt(a) - BigInt(b)));
  if (type === 'float64') return Math.sign(Number(a) - Number(b));
  if (isExactNumber(type)) return compareDecimals(a, b);
  if (INSTANTS.has(type)) return Buffer.compare(instantKey(a), instantKey(b));
  // DuckDB orders text by its UTF-8 bytes, JavaScript by UTF-16 units.
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const INSTANTS: ReadonlySet<string> = new Set(['timestamp', 'timestamp_ns', 'time']);

/** Normalizes a time: `12:00:00.500` and `12:00:00.5` are equal, as DuckDB omits trailing zeros. */
const instantKey = (text: string): Buffer =>
  Buffer.from(text.includes('.') ? text.replace(/\.?0{1,9}$/, '') : text);
