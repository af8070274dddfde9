// Fill checkpoint of each input, stored with the folder: an input that was loaded and is missing was deleted
// by its owner, and is not loaded again.
import type { Database } from '../../store/catalog/database.ts';
import type { Standing } from '../../market/exchange/exchange.ts';
import type { FilledId } from '../../market/inputs/inputRow.ts';
import type { Day } from '../../query/time/days.ts';

/** Checkpoint of one input: the latest session that it has completely, and the count of symbols. */
export interface Loaded {
  readonly closed: Day;
  /** The session of its ticks, and the milliseconds that they cover. */
  readonly ticks: string;
  readonly symbols: number;
}

type AllLoaded = Readonly<Partial<Record<FilledId, Loaded>>>;

const KEY = 'exchange';

export async function readLoaded(database: Database): Promise<AllLoaded> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', KEY)
    .executeTakeFirst();
  return row === undefined ? {} : (JSON.parse(row.value) as AllLoaded);
}

export async function saveLoaded(database: Database, loaded: AllLoaded): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('folder').where('key', '=', KEY).execute();
    const row = { key: KEY, value: JSON.stringify(loaded) };
    await transaction.insertInto('folder').values(row).execute();
  });
}

/** @param closeMs end of the latest session that has opened */
export const loadedAt = (
  { closed, opened, untilMs }: Standing,
  closeMs: number,
  symbols: number,
): Loaded => ({ closed, ticks: `${opened} ${Math.min(untilMs, closeMs)}`, symbols });
