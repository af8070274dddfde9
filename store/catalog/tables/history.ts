// The beginning of the history of datasets.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export interface HistoryFloorTable {
  readonly table_id: number;
  /** The first snapshot that can be queried. */
  readonly snapshot_id: number;
  /** When the history before it ended. */
  readonly time_ms: number;
  readonly reason: string;
  /** Records that a purge removed from all versions. */
  readonly records: number;
}

/** Folder version 4. */
export async function addHistoryFloors(database: Kysely<unknown>): Promise<void> {
  const columns =
    'table_id! bigint, snapshot_id bigint, time_ms bigint, reason text, records bigint';
  await createTable(database, 'history_floor', columns);
  await database.schema.alterTable('dataset').addColumn('history_days', 'bigint').execute();
}
