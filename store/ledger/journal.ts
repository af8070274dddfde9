// Stores the journal: one line for each charged call, appended in the transaction that adds it to the
// counters. A group of lines is one row; old rows are moved to Parquet (jobs/upkeep/journalRoll.ts).
import type { Database } from '../catalog/database.ts';
import type { BatchStatement } from '../catalog/statements.ts';
import { toBatchStatement } from '../catalog/statementBatch.ts';
import { Failure } from '../base/failure.ts';

/** A delivered and charged call, possibly with 0 messages. */
export interface CallLine {
  readonly requestId: string;
  readonly timeMs: number;
  /** `YYYYMM`, in the billing zone, of the charged balance. */
  readonly month: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly endpoint: string;
  /** `WORKSPACE.DATASET`. */
  readonly usageKey: string;
  readonly objects: number;
  readonly weight: number;
  readonly messages: number;
  readonly premium: number;
}

/** Common members of lines that differ only in their ids. */
export type LineTemplate = Omit<CallLine, 'requestId'>;

/** Serializes lines as JSON, the id first; their common members are serialized once. */
export function serializeLines(
  template: LineTemplate,
  requestIds: readonly string[],
): readonly string[] {
  const rest = JSON.stringify(template).slice(1);
  return requestIds.map((id) => `{"requestId":${JSON.stringify(id)},${rest}`);
}

/** Lines of one row. */
export interface JournalLines {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Each as JSON. */
  readonly lines: readonly string[];
}

/** Builds the statement that appends a group of lines; run it in the same transaction. */
export async function buildJournalInsert(
  transaction: Database,
  { firstMs, lastMs, lines }: JournalLines,
): Promise<BatchStatement> {
  const newest = await transaction
    .selectFrom('journal')
    .select((select) => select.fn.max('sequence').as('sequence'))
    .executeTakeFirst();
  const rolled = await rolledSequence(transaction);
  const row = {
    sequence: Math.max(Number(newest?.sequence ?? 0), rolled) + 1,
    first_ms: firstMs,
    last_ms: lastMs,
    calls: lines.length,
    lines: lines.join('\n'),
  };
  return toBatchStatement(transaction.insertInto('journal').values(row));
}

interface JournalRow {
  readonly sequence: number;
  readonly calls: number;
  readonly firstMs: number;
  /** JSON lines as appended. */
  readonly text: string;
}

/** Reads rows that are not in Parquet yet and overlap `[fromMs, untilMs)`, oldest first. */
export async function readJournal(
  database: Database,
  fromMs = 0,
  untilMs = Number.MAX_SAFE_INTEGER,
): Promise<readonly JournalRow[]> {
  const rows = await database
    .selectFrom('journal')
    .selectAll()
    .where('last_ms', '>=', fromMs)
    .where('first_ms', '<', untilMs)
    .orderBy('sequence')
    .execute();
  return rows.map(({ sequence, calls, first_ms, lines }) => {
    return { sequence, calls, firstMs: first_ms, text: lines };
  });
}

export const parseLines = (text: string): readonly CallLine[] =>
  text.split('\n').map((line) => JSON.parse(line) as CallLine);

/**
 * Removes rows that are in Parquet now; their sequence numbers are never reused.
 * @throws Failure Conflict unless there are exactly `count` such rows: a concurrent roll removed them.
 */
export async function removeRolledRows(
  transaction: Database,
  sequence: number,
  count: number,
): Promise<void> {
  const result = await transaction
    .deleteFrom('journal')
    .where('sequence', '<=', sequence)
    .executeTakeFirst();
  if (Number(result.numDeletedRows) !== count) {
    throw new Failure('Conflict', 'the journal was rolled meanwhile');
  }
  await transaction.deleteFrom('folder').where('key', '=', ROLLED_KEY).execute();
  const row = { key: ROLLED_KEY, value: String(sequence) };
  await transaction.insertInto('folder').values(row).execute();
}

const ROLLED_KEY = 'journal rolled';

async function rolledSequence(database: Database): Promise<number> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', ROLLED_KEY)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
}
