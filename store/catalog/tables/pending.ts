// Folder version 3: pushed records that are not a file yet (pending.ts).
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface PendingTable {
  readonly sequence: number;
  readonly table_id: number;
  /** JSON: the values of the unique index. */
  readonly index_json: string;
  /** 1: it replaces a stored record of its index value; 0: a stored one stays. */
  readonly replaces: number;
  /** JSON: the record by its column names, as DuckDB reads them. */
  readonly document: string;
  readonly time_ms: number;
}

const COLUMNS = `sequence! bigint, table_id bigint, index_json text, replaces bigint, document text,
  time_ms bigint`;

export async function addPending(database: Kysely<unknown>): Promise<void> {
  await createTable(database, 'pending', COLUMNS);
}
