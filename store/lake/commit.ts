// Creates a version in one transaction: a snapshot row and its changes. Before it, published files are
// orphans to be swept; after it, they belong to the dataset (DESIGN.md idea 1; DuckLake 1.0 specification,
// "Queries: Writing Data").
import { formatCatalogTime } from '../catalog/catalogTime.ts';
import type { Database } from '../catalog/database.ts';
import type { PendingRow } from './pushes/pendingRows.ts';
import { insertProof } from '../files/proofTable.ts';
import { newUuid } from '../base/random.ts';
import { insertEach, runBatch } from '../catalog/statementBatch.ts';
import { buildColumnRow, editTable, quoteIdentifier } from './tableEdits.ts';
import { addToTableStats } from './tableStats.ts';
import type { Edit, Progress, WrittenFile, WrittenDeletes, Head } from './edit.ts';
import { noSnapshotFailure } from '../files/catalogCheck.ts';

export interface CommitNote {
  readonly author: string;
  readonly message: string;
  /** Free text of the writer, such as the job. */
  readonly extra?: string;
  /** Changed keys, for caches of records; anything may have changed when undefined. */
  readonly touches?: ChangedKeys;
}

/** Changed records: none, only these pushed records that are in files now, or those of these keys. */
export type ChangedKeys =
  | { readonly kind: 'nothing' }
  /** Range of first values of the unique index, both ends included, by their UTF-8 bytes. */
  | { readonly kind: 'keys'; readonly least: string; readonly greatest: string }
  | { readonly kind: 'records'; readonly records: readonly PendingRow[] };

export interface CommitResult {
  readonly snapshot: number;
  readonly timeMs: number;
  /** Ids of created workspaces and tables, in the order of their edits. */
  readonly created: readonly number[];
  /** Unreferenced files to remove, relative to the lake's root. */
  readonly unnamed: readonly string[];
}

/** Writes one snapshot inside `transaction`, at a later time than the previous one. */
export async function writeSnapshot(
  transaction: Database,
  edits: readonly Edit[],
  note: CommitNote,
  timeMs: number,
): Promise<CommitResult> {
  const head = await readHead(transaction);
  const progress: Progress = {
    snapshot: head.snapshot_id + 1,
    timeMs,
    schemaVersion: head.schema_version,
    nextCatalogId: head.next_catalog_id,
    nextFileId: head.next_file_id,
    changes: [],
    created: [],
    unnamed: [],
  };
  for (const edit of edits) await apply(transaction, edit, progress);
  await transaction
    .insertInto('ducklake_snapshot')
    .values({
      snapshot_id: progress.snapshot,
      snapshot_time: formatCatalogTime(timeMs),
      schema_version: progress.schemaVersion,
      next_catalog_id: progress.nextCatalogId,
      next_file_id: progress.nextFileId,
    })
    .execute();
  await transaction
    .insertInto('ducklake_snapshot_changes')
    .values({
      snapshot_id: progress.snapshot,
      changes_made: progress.changes.join(','),
      author: note.author,
      commit_message: note.message,
      commit_extra_info: note.extra ?? null,
    })
    .execute();
  const { created, snapshot, unnamed } = progress;
  return { snapshot, timeMs, created, unnamed };
}

async function readHead(transaction: Database): Promise<Head> {
  const head = await transaction
    .selectFrom('ducklake_snapshot')
    .selectAll()
    .orderBy('snapshot_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (head === undefined) throw noSnapshotFailure();
  return head;
}

async function apply(transaction: Database, edit: Edit, progress: Progress): Promise<void> {
  if (edit.kind === 'create-workspace') return createSchema(transaction, edit.name, progress);
  if (edit.kind === 'create-table') return createTable(transaction, edit, progress);
  if (edit.kind === 'insert') return insertFile(transaction, edit.tableId, edit.file, progress);
  if (edit.kind === 'delete') {
    return insertDeletes(transaction, edit.tableId, edit.deletes, progress);
  }
  return editTable(transaction, edit, progress);
}

async function createSchema(
  transaction: Database,
  name: string,
  progress: Progress,
): Promise<void> {
  const id = progress.nextCatalogId++;
  await transaction
    .insertInto('ducklake_schema')
    .values({
      schema_id: id,
      schema_uuid: newUuid(),
      begin_snapshot: progress.snapshot,
      end_snapshot: null,
      schema_name: name,
      path: `${name}/`,
      path_is_relative: true,
    })
    .execute();
  progress.schemaVersion += 1;
  progress.created.push(id);
  progress.changes.push(`created_schema:${quoteIdentifier(name)}`);
}

async function createTable(
  transaction: Database,
  edit: Extract<Edit, { kind: 'create-table' }>,
  progress: Progress,
): Promise<void> {
  const id = progress.nextCatalogId++;
  const begin_snapshot = progress.snapshot;
  const row = { table_id: id, begin_snapshot, end_snapshot: null };
  const location = { schema_id: edit.schemaId, path: `${edit.name}/`, path_is_relative: true };
  await transaction
    .insertInto('ducklake_table')
    .values({ ...row, ...location, table_uuid: newUuid(), table_name: edit.name })
    .execute();
  const columns = edit.columns.map((column) =>
    buildColumnRow(id, begin_snapshot, column, column.id),
  );
  await runBatch(transaction, insertEach(transaction, 'ducklake_column', columns));
  progress.schemaVersion += 1;
  const version = { begin_snapshot, schema_version: progress.schemaVersion, table_id: id };
  await transaction.insertInto('ducklake_schema_versions').values(version).execute();
  progress.created.push(id);
  progress.changes.push(
    `created_table:${quoteIdentifier(edit.schemaName)}.${quoteIdentifier(edit.name)}`,
  );
}

async function insertFile(
  transaction: Database,
  tableId: number,
  file: WrittenFile,
  progress: Progress,
): Promise<void> {
  const fileId = progress.nextFileId++;
  const rowIdStart = await addToTableStats(transaction, tableId, file);
  await transaction
    .insertInto('ducklake_data_file')
    .values({
      data_file_id: fileId,
      table_id: tableId,
      begin_snapshot: progress.snapshot,
      end_snapshot: null,
      file_order: null,
      path: file.name,
      path_is_relative: true,
      file_format: 'parquet',
      record_count: file.records,
      file_size_bytes: file.bytes,
      footer_size: file.footerBytes,
      row_id_start: rowIdStart,
      partition_id: null,
      encryption_key: null,
      mapping_id: null,
      partial_max: null,
    })
    .execute();
  await insertProof(transaction, { fileId, ...file.proof }, progress.timeMs);
  const columns = file.columns.map((column) => ({
    data_file_id: fileId,
    table_id: tableId,
    column_id: column.columnId,
    column_size_bytes: column.bytes,
    value_count: column.values,
    null_count: column.nulls,
    min_value: column.min,
    max_value: column.max,
    contains_nan: column.containsNan,
    extra_stats: null,
  }));
  const pieces = insertEach(transaction, 'ducklake_file_column_stats', columns);
  await runBatch(transaction, pieces);
  progress.changes.push(`inserted_into_table:${tableId}`);
}

async function insertDeletes(
  transaction: Database,
  tableId: number,
  deletes: readonly WrittenDeletes[],
  progress: Progress,
): Promise<void> {
  for (const { dataFileId, file } of deletes) {
    await transaction
      .updateTable('ducklake_delete_file')
      .set({ end_snapshot: progress.snapshot })
      .where('data_file_id', '=', dataFileId)
      .where('end_snapshot', 'is', null)
      .execute();
    const fileId = progress.nextFileId++;
    await insertProof(transaction, { fileId, ...file.proof }, progress.timeMs);
    await transaction
      .insertInto('ducklake_delete_file')
      .values({
        delete_file_id: fileId,
        table_id: tableId,
        begin_snapshot: progress.snapshot,
        end_snapshot: null,
        data_file_id: dataFileId,
        path: file.name,
        path_is_relative: true,
        format: 'parquet',
        delete_count: file.records,
        file_size_bytes: file.bytes,
        footer_size: file.footerBytes,
        encryption_key: null,
        partial_max: null,
      })
      .execute();
  }
  progress.changes.push(`deleted_from_table:${tableId}`);
}
