// What may happen to a table after it was made: rows of the catalog end and begin, nothing is
// overwritten (DuckLake 1.0 specification, "Queries: Writing Data").
import type { Insertable } from 'kysely';
import type { Column } from './columns.ts';
import type { Edit, Progress } from './commit.ts';
import type { Database, Tables } from './database.ts';
import { Failure } from './failure.ts';
import { beginTable, writeFloor } from './history.ts';
import { restateTable } from './tableStats.ts';

type TableEdit = Extract<
  Edit,
  {
    readonly kind:
      'truncate' | 'remove-files' | 'end-history' | 'drop-table' | 'rename-table' | 'add-columns';
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
  } else {
    await addColumns(transaction, edit, progress);
  }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A column's row; its order in the table is its id, since columns are only ever added. */
export const columnRow = (
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

/** Ends the table's files, or the named ones, with their deletes. */
async function endFiles(
  transaction: Database,
  tableId: number,
  snapshot: number,
  fileIds?: readonly number[],
): Promise<void> {
  for (const table of ['ducklake_data_file', 'ducklake_delete_file'] as const) {
    const all = transaction
      .updateTable(table)
      .set({ end_snapshot: snapshot })
      .where('table_id', '=', tableId)
      .where('end_snapshot', 'is', null);
    await (fileIds === undefined ? all : all.where('data_file_id', 'in', fileIds)).execute();
  }
}

async function endHistory(
  transaction: Database,
  { tableId, records }: Extract<TableEdit, { kind: 'end-history' }>,
  progress: Progress,
): Promise<void> {
  const { snapshot, timeMs } = progress;
  progress.unnamed.push(...(await beginTable(transaction, tableId, snapshot)));
  await restateTable(transaction, tableId);
  await writeFloor(transaction, tableId, { snapshot, timeMs, reason: 'purged', records });
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

async function endColumns(transaction: Database, tableId: number, snapshot: number): Promise<void> {
  await transaction
    .updateTable('ducklake_column')
    .set({ end_snapshot: snapshot })
    .where('table_id', '=', tableId)
    .where('end_snapshot', 'is', null)
    .execute();
}

/** The new row keeps id, uuid and folder: files and history stay where they are. */
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
  await newSchemaVersion(transaction, edit.tableId, progress);
  progress.changes.push(`created_table:${quoted(edit.schemaName)}.${quoted(edit.name)}`);
}

async function addColumns(
  transaction: Database,
  edit: Extract<TableEdit, { kind: 'add-columns' }>,
  progress: Progress,
): Promise<void> {
  const newest = await transaction
    .selectFrom('ducklake_column')
    .select((select) => [select.fn.max('column_id').as('id')])
    .where('table_id', '=', edit.tableId)
    .executeTakeFirst();
  let id = Number(newest?.id ?? 0);
  for (const column of edit.columns) {
    id += 1;
    const values = columnRow(edit.tableId, progress.snapshot, column, id);
    await transaction.insertInto('ducklake_column').values(values).execute();
  }
  await newSchemaVersion(transaction, edit.tableId, progress);
  progress.changes.push(`altered_table:${edit.tableId}`);
}

async function newSchemaVersion(
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
