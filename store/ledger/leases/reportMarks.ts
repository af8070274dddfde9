// Marks stored reports of other nodes in the transaction of their charges. So a report that is repeated, to
// this node or to the next serving one, is charged once.
import { sql } from 'kysely';
import type { Database } from '../../catalog/database.ts';
import { toBatchStatement, runBatch } from '../../catalog/statementBatch.ts';

const PREFIX = 'reported ';
/** Age at which marks of silent node runs are deleted. */
const MARK_LIFETIME_MS = 30 * 86_400_000;

/** Number of the latest report of a node run. */
export interface Mark {
  readonly lessee: string;
  readonly sequence: number;
}

/** Loads the latest report of each node run; removes old marks. */
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
    if (timeMs > nowMs - MARK_LIFETIME_MS) marks.set(key.slice(PREFIX.length), sequence);
    else await database.deleteFrom('folder').where('key', '=', key).execute();
  }
  return marks;
}

/** Saves the latest mark of each node run. */
export async function saveMarks(
  transaction: Database,
  marks: readonly Mark[],
  nowMs: number,
): Promise<void> {
  const latest = latestMarks(marks);
  const rows = [...latest].map(([lessee, sequence]) => {
    return { key: `${PREFIX}${lessee}`, value: `${sequence} ${nowMs}` };
  });
  const insert = transaction.insertInto('folder').values(rows);
  const write = insert.onConflict((conflict) =>
    conflict.column('key').doUpdateSet({ value: sql<string>`excluded.value` }),
  );
  await runBatch(transaction, [toBatchStatement(write)]);
}

export function latestMarks(marks: readonly Mark[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { lessee, sequence } of marks) {
    latest.set(lessee, Math.max(sequence, latest.get(lessee) ?? 0));
  }
  return latest;
}
