// What became of pushed records.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface PushLogTable {
  readonly log_id: number;
  readonly table_id: number;
  /** The version that holds the rows. */
  readonly snapshot_id: number;
  readonly flushed_ms: number;
  readonly first_sequence: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly bytes: number;
  /** Base64 of zstd of JSON lines. */
  readonly body: string;
}

/** Up to which version the flushes of a dataset are not known any more. */
export interface PushEndTable {
  readonly table_id: number;
  readonly snapshot_id: number;
}

export async function addPushLog(database: Kysely<unknown>): Promise<void> {
  const columns = `log_id! bigint, table_id bigint, snapshot_id bigint, flushed_ms bigint,
    first_sequence bigint, first_ms bigint, last_ms bigint, bytes bigint, body text`;
  await createTable(database, 'push_log', columns);
  await createTable(database, 'push_end', 'table_id! bigint, snapshot_id bigint');
  await database.schema
    .createIndex('push_log_by_table')
    .on('push_log')
    .columns(['table_id', 'snapshot_id'])
    .execute();
  await database.schema
    .createIndex('push_log_by_time')
    .on('push_log')
    .columns(['flushed_ms'])
    .execute();
}
