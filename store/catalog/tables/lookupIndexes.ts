// Indexes of the catalog's tables for queries by table: without them each query scans all datasets, and the
// time to list them grows with the square of their number. Other readers of the format are not affected.
import type { Kysely } from 'kysely';

const INDEXES: readonly (readonly [table: string, columns: readonly string[]])[] = [
  ['ducklake_table', ['table_id']],
  ['ducklake_column', ['table_id', 'begin_snapshot']],
  ['ducklake_delete_file', ['data_file_id', 'begin_snapshot']],
  ['ducklake_delete_file', ['table_id']],
  ['ducklake_file_column_stats', ['table_id']],
  ['ducklake_table_stats', ['table_id']],
  ['ducklake_table_column_stats', ['table_id', 'column_id']],
  ['ducklake_schema_versions', ['table_id']],
  ['job', ['workspace', 'created_ms']],
  ['job', ['status']],
];

export async function addLookupIndexes(database: Kysely<unknown>): Promise<void> {
  for (const [table, columns] of INDEXES) {
    const name = `tapedeck_${table}_by_${columns.join('_')}`;
    await database.schema
      .createIndex(name)
      .ifNotExists()
      .on(table)
      .columns([...columns])
      .execute();
  }
}
