// Fill checkpoint of each input, stored with the folder: an input that was loaded and is missing was deleted
// by its owner, and is not loaded again.
import type { Database } from '../../store/catalog/database.ts';
import type { SessionState } from '../../market/exchange/exchange.ts';
import type { FilledId } from '../../market/inputs/inputRow.ts';
import type { Day } from '../../query/time/days.ts';

/** Checkpoint of one input: the latest session that it has completely, and the count of symbols. */
export interface FillCheckpoint {
  readonly closed: Day;
  /** The session of its ticks, and the milliseconds that they cover. */
  readonly ticks: string;
  readonly symbols: number;
}

type AllLoaded = Readonly<Partial<Record<FilledId, FillCheckpoint>>>;

const KEY = 'exchange';

export async function readCheckpoints(database: Database): Promise<AllLoaded> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', KEY)
    .executeTakeFirst();
  return row === undefined ? {} : (JSON.parse(row.value) as AllLoaded);
}

export async function saveCheckpoints(database: Database, loaded: AllLoaded): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('folder').where('key', '=', KEY).execute();
    const row = { key: KEY, value: JSON.stringify(loaded) };
    await transaction.insertInto('folder').values(row).execute();
  });
}

/** @param closeMs end of the latest session that has opened */
export const toCheckpoint = (
  { closed, opened, untilMs }: SessionState,
  closeMs: number,
  symbols: number,
): FillCheckpoint => ({ closed, ticks: `${opened} ${Math.min(untilMs, closeMs)}`, symbols });
