// Rows of pushed records in the catalog, until a snapshot holds them.
import type { Database } from '../../catalog/database.ts';
import { insertEach, runTogether } from '../../catalog/together.ts';
import type { PendingRow } from './pendingRows.ts';

/** What one push, or all of a group, made of a table. */
export interface MadeRows {
  readonly tableId: number;
  readonly rows: readonly PendingRow[];
}

/** Each once. */
export const tablesOf = (made: readonly MadeRows[]): readonly number[] => [
  ...new Set(made.map(({ tableId }) => tableId)),
];

export async function insertRows(transaction: Database, made: readonly MadeRows[]): Promise<void> {
  const values = made.flatMap(({ tableId, rows }) =>
    rows.map(({ sequence, index, replaces, document, timeMs }) => ({
      sequence,
      table_id: tableId,
      index_json: index,
      replaces: Number(replaces),
      document: JSON.stringify(document),
      time_ms: timeMs,
    })),
  );
  await runTogether(transaction, insertEach(transaction, 'pending', values));
}

/** Key of the folder's row with the last sequence that was flushed: none is given twice. */
const SEQUENCE = 'push sequence';

export async function flushedSequence(database: Database): Promise<number> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', SEQUENCE)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
}

export async function noteFlushed(transaction: Database, sequence: number): Promise<void> {
  const newest = Math.max(sequence, await flushedSequence(transaction));
  await transaction.deleteFrom('folder').where('key', '=', SEQUENCE).execute();
  await transaction
    .insertInto('folder')
    .values({ key: SEQUENCE, value: String(newest) })
    .execute();
}

/** Those that are pending, oldest first. */
export async function readPending(database: Database): Promise<readonly MadeRows[]> {
  const rows = await database.selectFrom('pending').selectAll().orderBy('sequence').execute();
  return rows.map((row) => {
    const document = JSON.parse(row.document) as Record<string, unknown>;
    const { index_json: index, sequence, time_ms: timeMs } = row;
    return {
      tableId: row.table_id,
      rows: [{ sequence, index, replaces: row.replaces === 1, document, timeMs }],
    };
  });
}
