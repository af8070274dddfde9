// The positions of callers' cursors.
import type { Kysely } from 'kysely';
import { createTable, hasColumn } from './createTable.ts';

export interface QueryCursorTable {
  readonly account_id: string;
  readonly table_id: number;
  readonly query_id: string;
  readonly snapshot_id: number;
  /** Sequence of the last push that it returned; null for a cursor of folder version 8. */
  readonly sequence: number | null;
  readonly used_ms: number;
}

export async function addQueryCursors(database: Kysely<unknown>): Promise<void> {
  const columns =
    'account_id text, table_id bigint, query_id text, snapshot_id bigint, used_ms bigint';
  await createTable(database, 'query_cursor', columns);
  await database.schema
    .createIndex('query_cursor_by_id')
    .on('query_cursor')
    .columns(['account_id', 'table_id', 'query_id'])
    .unique()
    .execute();
}

/** Folder version 9. An older cursor is positioned after its snapshot's files and before every push. */
export async function addCursorSequences(database: Kysely<unknown>): Promise<void> {
  // The first folders of version 3 have no cursors.
  if (!(await hasColumn(database, 'query_cursor', 'used_ms'))) await addQueryCursors(database);
  await database.schema.alterTable('query_cursor').addColumn('sequence', 'bigint').execute();
}
