// Applies edits of existing tables: rows of the catalog end and begin, no row is overwritten (DuckLake 1.0
// specification, "Queries: Writing Data").
import type { Insertable } from 'kysely';
import type { Column } from './versions/columns.ts';
import type { Database, Tables } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { truncateHistory, writeHorizon } from './history/history.ts';
import { insertEach, runBatch } from '../catalog/statementBatch.ts';
import { recomputeTableStats } from './tableStats.ts';
import type { Edit, Progress } from './edit.ts';

type TableEdit = Extract<
  Edit,
  {
    readonly kind:
      | 'truncate'
      | 'remove-files'
      | 'end-history'
      | 'drop-table'
      | 'rename-table'
      | 'add-columns'
      | 'alter-columns'
      | 'drop-columns';
  }
>;

export async function editTable(
  transaction: Database,
  edit: TableEdit,
  progress: Progress,
): Promise<void> {
  const { tableId } = edit;
  if (edit.kind === 'truncate') {
    await endFiles(transaction, tableId, progress.snapshot);
    progress.changes.push(`deleted_from_table:${tableId}`);
  } else if (edit.kind === 'remove-files') {
    await endFiles(transaction, tableId, progress.snapshot, edit.fileIds);
    progress.changes.push(`deleted_from_table:${tableId}`);
  } else if (edit.kind === 'end-history') {
    await endHistory(transaction, edit, progress);
  } else if (edit.kind === 'drop-table') {
    await endFiles(transaction, tableId, progress.snapshot);
    await endTable(transaction, tableId, progress.snapshot);
    await endColumns(transaction, tableId, progress.snapshot);
    progress.schemaVersion += 1;
    progress.changes.push(`dropped_table:${tableId}`);
  } else if (edit.kind === 'rename-table') {
    await renameTable(transaction, edit, progress);
  } else if (edit.kind === 'alter-columns') {
    await alterColumns(transaction, edit, progress);
  } else if (edit.kind === 'drop-columns') {
    await dropColumns(transaction, edit, progress);
  } else {
    await addColumns(transaction, edit, progress);
  }
}

export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Builds a column's row; its position is its id, since columns are only appended. */
export const buildColumnRow = (
  tableId: number,
  snapshot: number,
  column: Omit<Column, 'id'>,
  id: number,
): Insertable<Tables['ducklake_column']> => ({
  table_id: tableId,
  begin_snapshot: snapshot,
  end_snapshot: null,
  column_id: id,
  column_order: id,
  column_name: column.name,
  column_type: column.type,
  initial_default: null,
  default_value: 'NULL',
  nulls_allowed: column.nullable,
  parent_column: null,
  default_value_type: 'literal',
  default_value_dialect: 'duckdb',
});

/** Ends the table's files, or the given ones, with their deletes. */
async function endFiles(
  transaction: Database,
  tableId: number,
  snapshot: number,
  fileIds?: readonly number[],
): Promise<void> {
  for (const table of ['ducklake_data_file', 'ducklake_delete_file'] as const) {
    const update = transaction
      .updateTable(table)
      .set({ end_snapshot: snapshot })
      .where('table_id', '=', tableId)
      .where('end_snapshot', 'is', null);
    await (fileIds === undefined ? update : update.where('data_file_id', 'in', fileIds)).execute();
  }
}

async function endHistory(
  transaction: Database,
  { tableId, records }: Extract<TableEdit, { kind: 'end-history' }>,
  progress: Progress,
): Promise<void> {
  const { snapshot, timeMs } = progress;
  progress.unnamed.push(...(await truncateHistory(transaction, tableId, snapshot)));
  await recomputeTableStats(transaction, tableId);
  await writeHorizon(transaction, tableId, { snapshot, timeMs, reason: 'purged', records });
  const change = `deleted_from_table:${tableId}`;
  if (!progress.changes.includes(change)) progress.changes.push(change);
}

async function endTable(transaction: Database, tableId: number, snapshot: number): Promise<void> {
  await transaction
    .updateTable('ducklake_table')
    .set({ end_snapshot: snapshot })
    .where('table_id', '=', tableId)
    .where('end_snapshot', 'is', null)
    .execute();
}

/** Ends the table's columns, or the given ones. */
async function endColumns(
  transaction: Database,
  tableId: number,
  snapshot: number,
  ids?: readonly number[],
): Promise<void> {
  const update = transaction
    .updateTable('ducklake_column')
    .set({ end_snapshot: snapshot })
    .where('table_id', '=', tableId)
    .where('end_snapshot', 'is', null);
  await (ids === undefined ? update : update.where('column_id', 'in', ids)).execute();
}

/** Renames a table. The new row keeps id, uuid and folder, so that files and history stay in place. */
async function renameTable(
  transaction: Database,
  edit: Extract<TableEdit, { kind: 'rename-table' }>,
  progress: Progress,
): Promise<void> {
  const row = await transaction
    .selectFrom('ducklake_table')
    .selectAll()
    .where('table_id', '=', edit.tableId)
    .where('end_snapshot', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw new Failure('NotFound');
  await endTable(transaction, edit.tableId, progress.snapshot);
  await transaction
    .insertInto('ducklake_table')
    .values({
      ...row,
      path_is_relative: Boolean(row.path_is_relative),
      begin_snapshot: progress.snapshot,
      table_name: edit.name,
    })
    .execute();
  await insertSchemaVersion(transaction, edit.tableId, progress);
  progress.changes.push(
    `created_table:${quoteIdentifier(edit.schemaName)}.${quoteIdentifier(edit.name)}`,
  );
}

async function addColumns(
  transaction: Database,
  edit: Extract<TableEdit, { kind: 'add-columns' }>,
  progress: Progress,
): Promise<void> {
  const first = await nextColumnId(transaction, edit.tableId);
  const columns = edit.columns.map((column, at) =>
    buildColumnRow(edit.tableId, progress.snapshot, column, first + at),
  );
  await runBatch(transaction, insertEach(transaction, 'ducklake_column', columns));
  await insertSchemaVersion(transaction, edit.tableId, progress);
  progress.changes.push(`altered_table:${edit.tableId}`);
}

/**
 * Returns the id for the next added column: ids of removed columns are never reused. After the end of a
 * table's history, removed columns are known from the files that still contain them.
 */
export async function nextColumnId(database: Database, tableId: number): Promise<number> {
  let latest = 0;
  for (const table of ['ducklake_column', 'ducklake_file_column_stats'] as const) {
    const row = await database
      .selectFrom(table)
      .select((select) => [select.fn.max('column_id').as('id')])
      .where('table_id', '=', tableId)
      .executeTakeFirst();
    latest = Math.max(latest, Number(row?.id ?? 0));
  }
  return latest + 1;
}

/** Changes column types; ids stay: files of the version have the new types by then. */
async function alterColumns(
  transaction: Database,
  { columns, tableId }: Extract<TableEdit, { kind: 'alter-columns' }>,
  progress: Progress,
): Promise<void> {
  const ids = columns.map(({ id }) => id);
  await endColumns(transaction, tableId, progress.snapshot, ids);
  const rows = columns.map((column) =>
    buildColumnRow(tableId, progress.snapshot, column, column.id),
  );
  await runBatch(transaction, insertEach(transaction, 'ducklake_column', rows));
  // Minimum and maximum of two types can't be merged: they stay unknown.
  await transaction
    .updateTable('ducklake_table_column_stats')
    .set({ min_value: null, max_value: null, contains_nan: null })
    .where('table_id', '=', tableId)
    .where('column_id', 'in', ids)
    .execute();
  await insertSchemaVersion(transaction, tableId, progress);
  progress.changes.push(`altered_table:${tableId}`);
}

async function dropColumns(
  transaction: Database,
  { columnIds, tableId }: Extract<TableEdit, { kind: 'drop-columns' }>,
  progress: Progress,
): Promise<void> {
  await endColumns(transaction, tableId, progress.snapshot, columnIds);
  await insertSchemaVersion(transaction, tableId, progress);
  progress.changes.push(`altered_table:${tableId}`);
}

async function insertSchemaVersion(
  transaction: Database,
  tableId: number,
  progress: Progress,
): Promise<void> {
  progress.schemaVersion += 1;
  const version = { schema_version: progress.schemaVersion, table_id: tableId };
  await transaction
    .insertInto('ducklake_schema_versions')
    .values({ begin_snapshot: progress.snapshot, ...version })
    .execute();
}
