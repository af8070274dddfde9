// Pushed records that are not in a file yet, the log of flushed ones, the offsets of the lake's clock, and
// the stored answers of requests with an `Idempotency-Key`.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface PendingTable {
  readonly sequence: number;
  readonly table_id: number;
  /** JSON: the values of the unique index. */
  readonly index_json: string;
  /** 1: it replaces a stored record with its index value; 0: the stored record is kept. */
  readonly replaces: number;
  /** JSON: the record by its column names, as DuckDB reads it. */
  readonly document: string;
  readonly time_ms: number;
}

const COLUMNS = `sequence! bigint, table_id bigint, index_json text, replaces bigint, document text,
  time_ms bigint`;

export async function addPending(database: Kysely<unknown>): Promise<void> {
  await createTable(database, 'pending', COLUMNS);
}

export interface PushLogTable {
  readonly log_id: number;
  readonly table_id: number;
  /** The version that contains the rows. */
  readonly snapshot_id: number;
  readonly flushed_ms: number;
  readonly first_sequence: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly bytes: number;
  /** Base64 of zstd of JSON lines. */
  readonly body: string;
}

/** The version up to which the flushes of a dataset are no longer recorded. */
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

export interface ClockMarkTable {
  readonly mark_id: number;
  readonly wall_ms: number;
  readonly offset_ms: number;
}

export async function addClockMarks(database: Kysely<unknown>): Promise<void> {
  await createTable(database, 'clock_mark', 'mark_id! bigint, wall_ms bigint, offset_ms bigint');
}

export interface WriteKeyTable {
  readonly account_id: string;
  readonly write_key: string;
  /** SHA-256 of the request, hex. */
  readonly fingerprint: string;
  /** JSON: the data of its answer. */
  readonly answer: string;
  /** In capitals: a purge of it removes the row. */
  readonly workspace: string;
  readonly dataset: string;
  readonly created_ms: number;
}

export async function addWriteKeys(database: Kysely<unknown>): Promise<void> {
  const columns = `account_id text, write_key text, fingerprint text, answer text, workspace text,
    dataset text, created_ms bigint`;
  await createTable(database, 'write_key', columns);
  await database.schema
    .createIndex('write_key_by_key')
    .on('write_key')
    .columns(['account_id', 'write_key'])
    .unique()
    .execute();
  await database.schema
    .createIndex('write_key_by_time')
    .on('write_key')
    .columns(['created_ms'])
    .execute();
}
