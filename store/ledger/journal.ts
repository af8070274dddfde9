// The journal: one line for each charged call, appended in the transaction that adds it to the
// counters. A group of lines is one row; old rows become Parquet (jobs/upkeep/journalRoll.ts).
import type { Database } from '../catalog/database.ts';
import type { Piece } from '../catalog/statements.ts';
import { pieceOf } from '../catalog/together.ts';
import { Failure } from '../base/failure.ts';

/** A delivered call that was charged, if only with 0 messages. */
export interface CallLine {
  readonly requestId: string;
  readonly timeMs: number;
  /** `YYYYMM` in the billing zone of the balance that it went to. */
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

/** Lines of calls that were charged alike, before their ids. */
export type LinesAlike = Omit<CallLine, 'requestId'>;

/** As JSON, the id first: all that they have in common is spelled once. */
export function spelled(alike: LinesAlike, requestIds: readonly string[]): readonly string[] {
  const rest = JSON.stringify(alike).slice(1);
  return requestIds.map((id) => `{"requestId":${JSON.stringify(id)},${rest}`);
}

/** Lines that become one row. */
export interface JournalLines {
  readonly firstMs: number;
  readonly lastMs: number;
  /** Each as JSON. */
  readonly lines: readonly string[];
}

/** What appends a group of lines; it is to be run in the transaction that made it. */
export async function journalPiece(
  transaction: Database,
  { firstMs, lastMs, lines }: JournalLines,
): Promise<Piece> {
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
  return pieceOf(transaction.insertInto('journal').values(row));
}

interface JournalRow {
  readonly sequence: number;
  readonly calls: number;
  readonly firstMs: number;
  /** JSON lines, as they were appended. */
  readonly text: string;
}

/** Rows that are not Parquet yet and overlap `[fromMs, untilMs)`, oldest first. */
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

export const linesOf = (text: string): readonly CallLine[] =>
  text.split('\n').map((line) => JSON.parse(line) as CallLine);

/**
 * Rows up to a sequence are Parquet now: they go, and their numbers are not used again.
 * @throws Failure Conflict when they are not the `count` rows that were read: another roll took them.
 */
export async function forgetJournal(
  transaction: Database,
  sequence: number,
  count: number,
): Promise<void> {
  const gone = await transaction
    .deleteFrom('journal')
    .where('sequence', '<=', sequence)
    .executeTakeFirst();
  if (Number(gone.numDeletedRows) !== count) {
    throw new Failure('Conflict', 'the journal was rolled meanwhile');
  }
  await transaction.deleteFrom('folder').where('key', '=', ROLLED).execute();
  const row = { key: ROLLED, value: String(sequence) };
  await transaction.insertInto('folder').values(row).execute();
}

const ROLLED = 'journal rolled';

async function rolledSequence(database: Database): Promise<number> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', ROLLED)
    .executeTakeFirst();
  return Number(row?.value ?? 0);
}
