// Stores cursors of callers' incremental queries: the moment up to which the latest answer reported
// (INTERFACE.md 3.5 `queryId`).
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../../catalog/database.ts';
import { Failure } from '../../base/failure.ts';
import type { Moment } from './history.ts';

/** Idle time after which a query starts over. */
const IDLE_MS = 86_400_000;
/** Maximum wait of a call for the previous answer. */
const TURN_MS = 10_000;

export interface QueryName {
  readonly accountId: string;
  readonly tableId: number;
  readonly queryId: string;
}

/** A call of a query, from its start to the end of its answer. */
export interface QueryTurn {
  /** Moment of the latest answer; undefined for a new query, or one that was idle too long. */
  readonly cursor: Moment | undefined;
  /** Ends the call: its answer arrived and reported up to a moment; or it failed, and is repeated. */
  readonly end: (moment: Moment | undefined) => void;
}

/** Runs one call of a query at a time: a cursor is stored before the next call is answered. */
export class QueryCursors {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #onFault: (reason: unknown) => void;
  /** Latest call of each query that has one. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(database: Database, clock: Clock, onFault: (reason: unknown) => void) {
    this.#database = database;
    this.#clock = clock;
    this.#onFault = onFault;
  }

  /** @throws Failure Busy when the previous answer takes too long. */
  async begin(name: QueryName): Promise<QueryTurn> {
    const key = JSON.stringify([name.accountId, name.tableId, name.queryId]);
    const before = this.#turns.get(key);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const own = (before ?? Promise.resolve()).then(() => ended);
    this.#turns.set(key, own);
    void own.then(() => {
      if (this.#turns.get(key) === own) this.#turns.delete(key);
    });
    try {
      await waitAtMost(before, TURN_MS);
      const cursor = await findCursor(this.#database, name, this.#clock());
      return { cursor, end: (moment) => void this.#end(name, moment).finally(end) };
    } catch (error) {
      end();
      throw error;
    }
  }

  async #end(name: QueryName, moment: Moment | undefined): Promise<void> {
    if (moment === undefined) return;
    // After a failed save, the old cursor stays and the query repeats its answer.
    await saveCursor(this.#database, name, moment, this.#clock()).catch(this.#onFault);
  }
}

async function waitAtMost(work: Promise<void> | undefined, ms: number): Promise<void> {
  if (work === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const message = '"queryId": the answer of the last call is still on its way: try again shortly';
    timer = setTimeout(() => reject(new Failure('Busy', message)), ms);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

async function findCursor(
  database: Database,
  { accountId, tableId, queryId }: QueryName,
  nowMs: number,
): Promise<Moment | undefined> {
  const row = await database
    .selectFrom('query_cursor')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('table_id', '=', tableId)
    .where('query_id', '=', queryId)
    .executeTakeFirst();
  if (row === undefined || nowMs - row.used_ms >= IDLE_MS) return undefined;
  return { snapshot: row.snapshot_id, sequence: row.sequence ?? 0 };
}

async function saveCursor(
  database: Database,
  { accountId, tableId, queryId }: QueryName,
  { sequence, snapshot }: Moment,
  nowMs: number,
): Promise<void> {
  const name = { account_id: accountId, table_id: tableId, query_id: queryId };
  const position = { snapshot_id: snapshot, sequence, used_ms: nowMs };
  await database.transaction().execute(async (transaction) => {
    await transaction
      .deleteFrom('query_cursor')
      .where('used_ms', '<=', nowMs - IDLE_MS)
      .execute();
    await transaction
      .insertInto('query_cursor')
      .values({ ...name, ...position })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'table_id', 'query_id']).doUpdateSet(position),
      )
      .execute();
  });
}
