// Where a caller's named query stands: the moment up to which its last answer told
// (INTERFACE.md 3.5 `queryId`).
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../../catalog/database.ts';
import { Failure } from '../../base/failure.ts';
import type { Moment } from './history.ts';

/** A query that was idle for so long begins anew. */
const IDLE_MS = 86_400_000;
/** How long a call waits for the answer of the one before; then it is refused. */
const TURN_MS = 10_000;

export interface QueryName {
  readonly accountId: string;
  readonly tableId: number;
  readonly queryId: string;
}

/** A call of a named query, from its begin to the end of its answer. */
export interface QueryTurn {
  /** What the last answer told up to; undefined for a query that is new or was idle too long. */
  readonly cursor: Moment | undefined;
  /** Its answer arrived, and told up to a moment; or nothing did, and it is told again. */
  readonly end: (moment: Moment | undefined) => void;
}

/** One call of a named query at a time: what one was told is known before the next is answered. */
export class QueryCursors {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #onFault: (reason: unknown) => void;
  /** The newest turn of each query that has one. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(database: Database, clock: Clock, onFault: (reason: unknown) => void) {
    this.#database = database;
    this.#clock = clock;
    this.#onFault = onFault;
  }

  /** @throws Failure Busy when the answer before takes too long. */
  async begin(name: QueryName): Promise<QueryTurn> {
    const key = JSON.stringify([name.accountId, name.tableId, name.queryId]);
    const before = this.#turns.get(key);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const mine = (before ?? Promise.resolve()).then(() => over);
    this.#turns.set(key, mine);
    void mine.then(() => {
      if (this.#turns.get(key) === mine) this.#turns.delete(key);
    });
    try {
      await within(before, TURN_MS);
      const cursor = await findCursor(this.#database, name, this.#clock());
      return { cursor, end: (moment) => void this.#end(name, moment).finally(end) };
    } catch (error) {
      end();
      throw error;
    }
  }

  async #end(name: QueryName, moment: Moment | undefined): Promise<void> {
    if (moment === undefined) return;
    // A cursor that can not be saved stays: its query tells again what it told.
    await saveCursor(this.#database, name, moment, this.#clock()).catch(this.#onFault);
  }
}

async function within(work: Promise<void> | undefined, ms: number): Promise<void> {
  if (work === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const told = '"queryId": the answer of the last call is still on its way: try again shortly';
    timer = setTimeout(() => reject(new Failure('Busy', told)), ms);
  });
  try {
    await Promise.race([work, late]);
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
  const stands = { snapshot_id: snapshot, sequence, used_ms: nowMs };
  await database.transaction().execute(async (transaction) => {
    await transaction
      .deleteFrom('query_cursor')
      .where('used_ms', '<=', nowMs - IDLE_MS)
      .execute();
    await transaction
      .insertInto('query_cursor')
      .values({ ...name, ...stands })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'table_id', 'query_id']).doUpdateSet(stands),
      )
      .execute();
  });
}
