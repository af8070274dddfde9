// Stores rows of pushed records in the catalog until a snapshot contains them.
import type { Database } from '../../catalog/database.ts';
import { insertEach, runBatch } from '../../catalog/statementBatch.ts';
import type { PendingRow } from './pendingRows.ts';

/** Rows of one table from a push, or from a group of pushes. */
export interface PushedRows {
  readonly tableId: number;
  readonly rows: readonly PendingRow[];
}

/** Lists the distinct table ids. */
export const listTableIds = (pushed: readonly PushedRows[]): readonly number[] => [
  ...new Set(pushed.map(({ tableId }) => tableId)),
];

export async function insertRows(
  transaction: Database,
  pushed: readonly PushedRows[],
): Promise<void> {
  const values = pushed.flatMap(({ tableId, rows }) =>
    rows.map(({ sequence, index, replaces, document, timeMs }) => ({
      sequence,
      table_id: tableId,
      index_json: index,
      replaces: Number(replaces),
      document: JSON.stringify(document),
      time_ms: timeMs,
    })),
  );
  await runBatch(transaction, insertEach(transaction, 'pending', values));
}

/** Key of the folder row with the latest flushed sequence: no sequence is used twice. */
const SEQUENCE_KEY = 'push sequence';

export async function readFlushedSequence(database: Database): Promise<number> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', SEQUENCE_KEY)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
}

export async function saveFlushedSequence(transaction: Database, sequence: number): Promise<void> {
  const latest = Math.max(sequence, await readFlushedSequence(transaction));
  await transaction.deleteFrom('folder').where('key', '=', SEQUENCE_KEY).execute();
  await transaction
    .insertInto('folder')
    .values({ key: SEQUENCE_KEY, value: String(latest) })
    .execute();
}

/** Matches the escape of half of a surrogate pair, or another escape. */
const ESCAPE = /\\(?:ud[89a-f][\da-f]{2}|[^])/g;

/** Servers before 0.2 accepted halves of pairs. No file can store them, and one ended every later flush. */
const withoutHalfPairs = (json: string): string =>
  json.replaceAll(ESCAPE, (escape) => (escape.startsWith('\\ud') ? '\\ufffd' : escape));

/** Reads the pending rows, oldest first. */
export async function readPending(database: Database): Promise<readonly PushedRows[]> {
  const rows = await database.selectFrom('pending').selectAll().orderBy('sequence').execute();
  return rows.map((row) => {
    const document = JSON.parse(withoutHalfPairs(row.document)) as Record<string, unknown>;
    const { sequence, time_ms: timeMs } = row;
    const index = withoutHalfPairs(row.index_json);
    return {
      tableId: row.table_id,
      rows: [{ sequence, index, replaces: row.replaces === 1, document, timeMs }],
    };
  });
}
