// What was deleted from the catalog leaves its files too: a database keeps deleted rows in its pages and
// its log until they are written over. Only a purge needs this.
import type { CatalogPlace } from './catalogPlace.ts';
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
export function makeScrub(database: Database, place: Pick<CatalogPlace, 'scrub'>): Scrub {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const work = scrub(database, place);
      running = work.catch(() => undefined);
      return work;
    });
    return next;
  };
}

async function scrub(database: Database, place: Pick<CatalogPlace, 'scrub'>): Promise<boolean> {
  const asked = database.selectFrom('folder').select('key').where('key', '=', KEY);
  if ((await asked.executeTakeFirst()) === undefined) return true;
  const gone = await place.scrub(database);
  if (gone) await database.deleteFrom('folder').where('key', '=', KEY).execute();
  return gone;
}
