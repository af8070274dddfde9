// Which reports of other nodes are in the catalog: a mark in the transaction that has their charges. So a
// report that comes again, to this node or to the next one that serves, is charged once.
import { sql } from 'kysely';
import type { Database } from '../../catalog/database.ts';
import { pieceOf, runTogether } from '../../catalog/together.ts';

const PREFIX = 'reported ';
/** A run of a node that was not heard of for so long is over: its mark goes. */
const KEPT_MS = 30 * 86_400_000;

/** The number of the last report of a run of a node. */
export interface Mark {
  readonly lessee: string;
  readonly sequence: number;
}

/** The last report of each run of a node; old marks go. */
export async function loadMarks(
  database: Database,
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  const marks = new Map<string, number>();
  const rows = await database
    .selectFrom('folder')
    .selectAll()
    .where('key', 'like', `${PREFIX}%`)
    .execute();
  for (const { key, value } of rows) {
    const [sequence = 0, timeMs = 0] = value.split(' ').map(Number);
    if (timeMs > nowMs - KEPT_MS) marks.set(key.slice(PREFIX.length), sequence);
    else await database.deleteFrom('folder').where('key', '=', key).execute();
  }
  return marks;
}

/** The newest of each run. */
export async function saveMarks(
  transaction: Database,
  marks: readonly Mark[],
  nowMs: number,
): Promise<void> {
  const newest = newestOf(marks);
  const rows = [...newest].map(([lessee, sequence]) => {
    return { key: `${PREFIX}${lessee}`, value: `${sequence} ${nowMs}` };
  });
  const insert = transaction.insertInto('folder').values(rows);
  const write = insert.onConflict((conflict) =>
    conflict.column('key').doUpdateSet({ value: sql<string>`excluded.value` }),
  );
  await runTogether(transaction, [pieceOf(write)]);
}

export function newestOf(marks: readonly Mark[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { lessee, sequence } of marks) {
    newest.set(lessee, Math.max(sequence, newest.get(lessee) ?? 0));
  }
  return newest;
}
