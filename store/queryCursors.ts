// Where a caller's named query stood: the snapshot that its last answer was read from
// (INTERFACE.md 3.5 `queryId`).
import type { Kysely } from 'kysely';
import type { Database } from './database.ts';
import { createTable } from './lakeTables.ts';

export interface QueryCursorTable {
  readonly account_id: string;
  readonly table_id: number;
  readonly query_id: string;
  readonly snapshot_id: number;
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

/** A query that was idle for so long begins anew. */
const IDLE_MS = 86_400_000;

interface QueryName {
  readonly accountId: string;
  readonly tableId: number;
  readonly queryId: string;
}

/** The snapshot of the last answer; undefined for a query that is new or was idle too long. */
export async function findCursor(
  database: Database,
  { accountId, tableId, queryId }: QueryName,
  nowMs: number,
): Promise<number | undefined> {
  const row = await database
    .selectFrom('query_cursor')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('table_id', '=', tableId)
    .where('query_id', '=', queryId)
    .executeTakeFirst();
  return row === undefined || nowMs - row.used_ms >= IDLE_MS ? undefined : row.snapshot_id;
}

export async function saveCursor(
  database: Database,
  { accountId, tableId, queryId }: QueryName,
  snapshot: number,
  nowMs: number,
): Promise<void> {
  const name = { account_id: accountId, table_id: tableId, query_id: queryId };
  await database.transaction().execute(async (transaction) => {
    await transaction
      .deleteFrom('query_cursor')
      .where('used_ms', '<=', nowMs - IDLE_MS)
      .execute();
    await transaction
      .insertInto('query_cursor')
      .values({ ...name, snapshot_id: snapshot, used_ms: nowMs })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'table_id', 'query_id'])
          .doUpdateSet({ snapshot_id: snapshot, used_ms: nowMs }),
      )
      .execute();
  });
}
