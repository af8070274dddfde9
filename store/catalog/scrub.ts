// Removes deleted rows from the catalog's files: a database keeps them in its pages and its log until these
// are overwritten. Only a purge needs this.
import type { CatalogPlace } from './catalogPlace.ts';
import type { Database } from './database.ts';

const KEY = 'scrub';

/** Requests a scrub in the transaction that deletes, so that it is done even after a kill. */
export async function requestScrub(transaction: Database): Promise<void> {
  await transaction.deleteFrom('folder').where('key', '=', KEY).execute();
  await transaction.insertInto('folder').values({ key: KEY, value: 'asked' }).execute();
}

/** Scrubs if it was requested. @returns false if a reader of an older snapshot still needs old pages */
export type Scrub = () => Promise<boolean>;

/** Tries to scrub now; if it fails, on a full disk or during a backup, the next upkeep repeats it. */
export async function scrubOrLater(scrub: Scrub): Promise<void> {
  await scrub().catch(() => false);
}

/** Creates a scrub of which concurrent calls share the next run. */
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
  const request = database.selectFrom('folder').select('key').where('key', '=', KEY);
  if ((await request.executeTakeFirst()) === undefined) return true;
  const isScrubbed = await place.scrub(database);
  if (isScrubbed) await database.deleteFrom('folder').where('key', '=', KEY).execute();
  return isScrubbed;
}
