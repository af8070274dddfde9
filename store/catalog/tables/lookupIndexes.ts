// Indexes of the catalog's tables for our own look-ups by table: without them each is a scan over all
// datasets, and a list of them grows with the square of their number. Foreign readers do not mind.
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
