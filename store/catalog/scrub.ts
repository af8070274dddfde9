// What was deleted from the catalog leaves its file too: SQLite keeps deleted rows in free pages, in
// the gaps of others and in its log until they are written over. Only a purge needs this.
import { sql } from 'kysely';
import type { Database } from './database.ts';

const KEY = 'scrub';

/** In the transaction that deletes: from now on the catalog is to be scrubbed, also after a kill. */
export async function askScrub(transaction: Database): Promise<void> {
  await transaction.deleteFrom('folder').where('key', '=', KEY).execute();
  await transaction.insertInto('folder').values({ key: KEY, value: 'asked' }).execute();
}

/** Scrubs when that was asked for; false when a reader of an older moment still keeps old pages. */
export type Scrub = () => Promise<boolean>;

/** Now where it can be; else, on a full disk or beside a backup, the next upkeep does it. */
export async function scrubOrLater(scrub: Scrub): Promise<void> {
  await scrub().catch(() => false);
}

/** Who asks while one runs shares the next one with all who asked by then. */
export function makeScrub(database: Database): Scrub {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const work = scrub(database);
      running = work.catch(() => undefined);
      return work;
    });
    return next;
  };
}

/**
 * Every page is written anew (0.6 s for 70 MB), moved out of the log, and the log emptied.
 * PostgreSQL has VACUUM FULL for it.
 */
async function scrub(database: Database): Promise<boolean> {
  const asked = database.selectFrom('folder').select('key').where('key', '=', KEY);
  if ((await asked.executeTakeFirst()) === undefined) return true;
  await sql`VACUUM`.execute(database);
  const emptied = await emptyLog(database);
  if (emptied) await database.deleteFrom('folder').where('key', '=', KEY).execute();
  return emptied;
}

/** Does not wait for readers, such as a backup: nothing else would run meanwhile. */
async function emptyLog(database: Database): Promise<boolean> {
  return database.connection().execute(async (connection) => {
    const { rows } = await sql<{ timeout: number }>`PRAGMA busy_timeout`.execute(connection);
    await sql`PRAGMA busy_timeout = 0`.execute(connection);
    try {
      const checkpoint = sql<{ busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`;
      return (await checkpoint.execute(connection)).rows[0]?.busy === 0;
    } finally {
      await sql.raw(`PRAGMA busy_timeout = ${rows[0]?.timeout ?? 0}`).execute(connection);
    }
  });
}
