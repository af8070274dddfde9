// Counts usage by (account, token, key, hour) and the month's balance, in one transaction.
import { sql } from 'kysely';
import type { BillingDays } from './billingDays.ts';
import type { Database } from '../catalog/database.ts';
import type { BatchStatement } from '../catalog/statements.ts';
import { insertEach, runBatch } from '../catalog/statementBatch.ts';
import {
  buildJournalInsert,
  type JournalLines,
  type LineTemplate,
  serializeLines,
} from './journal.ts';

const HOUR_MS = 3_600_000;

export interface Usage {
  /** Messages without premium ones, as in all members below. */
  readonly month: number;
  readonly premium: number;
  /** `YYYYMMDD` to messages. */
  readonly byDay: ReadonlyMap<string, number>;
  readonly byToken: ReadonlyMap<string, number>;
  readonly byKey: ReadonlyMap<string, number>;
}

/** Counts of one row: messages, premium messages, calls. */
interface Sums {
  messages: number;
  premium: number;
  calls: number;
}

/** Lines that add to one row, identified by the first of them. */
interface Group {
  readonly first: LineTemplate;
  readonly sums: Sums;
}

/** A row that is written with a charge or not at all, such as the alert that it pays. */
export interface ChargeAttachment {
  /** Writes its rows; all rows of a group are written together. */
  readonly writer: ChargeWriter;
  readonly row: unknown;
}

export interface ChargeWriter {
  readonly write: (transaction: Database, rows: readonly unknown[]) => Promise<void>;
  readonly onWritten: (rows: readonly unknown[]) => void;
}

/** Delivered calls that are written together: serialized and summed as they arrive. */
interface Charges extends JournalLines {
  firstMs: number;
  lastMs: number;
  readonly also: ChargeAttachment[];
  readonly lines: string[];
  readonly counters: Map<string, Group>;
  readonly balances: Map<string, Group>;
}

export const newCharges = (): Charges => ({
  firstMs: Number.POSITIVE_INFINITY,
  lastMs: Number.NEGATIVE_INFINITY,
  lines: [],
  also: [],
  counters: new Map(),
  balances: new Map(),
});

/**
 * Adds calls with equal charges. Sums are computed as calls arrive, so that only SQLite's work is left at the
 * end of a window: a thousand calls together delayed all others for 5 ms.
 */
export function addCharge(
  charges: Charges,
  line: LineTemplate,
  requestIds: readonly string[],
  attachment?: ChargeAttachment,
): void {
  if (attachment !== undefined) charges.also.push(attachment);
  const { accountId, month, timeMs, tokenId, usageKey } = line;
  charges.firstMs = Math.min(charges.firstMs, timeMs);
  charges.lastMs = Math.max(charges.lastMs, timeMs);
  for (const text of serializeLines(line, requestIds)) charges.lines.push(text);
  const calls = requestIds.length;
  const all = { messages: line.messages * calls, premium: line.premium * calls, calls };
  addToGroup(charges.counters, `${accountId} ${tokenId} ${toHour(line)} ${usageKey}`, line, all);
  addToGroup(charges.balances, `${accountId} ${month}`, line, all);
}

/** Adds charges that arrived while the first ones could not be written. */
export function addCharges(charges: Charges, later: Charges): void {
  charges.firstMs = Math.min(charges.firstMs, later.firstMs);
  charges.lastMs = Math.max(charges.lastMs, later.lastMs);
  for (const line of later.lines) charges.lines.push(line);
  for (const attachment of later.also) charges.also.push(attachment);
  for (const kind of ['counters', 'balances'] as const) {
    for (const [key, { first, sums }] of later[kind]) addToGroup(charges[kind], key, first, sums);
  }
}

function addToGroup(
  groups: Map<string, Group>,
  key: string,
  first: LineTemplate,
  more: Sums,
): void {
  const group = groups.get(key);
  if (group === undefined) {
    groups.set(key, { first, sums: { ...more } });
    return;
  }
  group.sums.messages += more.messages;
  group.sums.premium += more.premium;
  group.sums.calls += more.calls;
}

const toHour = ({ timeMs }: LineTemplate): number => Math.floor(timeMs / HOUR_MS);

/** Writes delivered calls to the counters and the journal: all of them or, on failure, none. */
export async function writeUsage(database: Database, charges: Charges): Promise<void> {
  const attachments = rowsByWriter(charges.also);
  await database.transaction().execute(async (transaction) => {
    await runBatch(transaction, [
      await buildJournalInsert(transaction, charges),
      ...counterPieces(transaction, [...charges.counters.values()]),
      ...balancePieces(transaction, [...charges.balances.values()]),
    ]);
    for (const [writer, attached] of attachments) await writer.write(transaction, attached);
  });
  for (const [writer, attached] of attachments) writer.onWritten(attached);
}

function rowsByWriter(
  attachments: readonly ChargeAttachment[],
): ReadonlyMap<ChargeWriter, readonly unknown[]> {
  const rows = new Map<ChargeWriter, unknown[]>();
  for (const { row, writer } of attachments) {
    const attached = rows.get(writer) ?? [];
    attached.push(row);
    rows.set(writer, attached);
  }
  return rows;
}

function counterPieces(database: Database, groups: readonly Group[]): readonly BatchStatement[] {
  const rows = groups.map(({ first, sums }) => ({
    account_id: first.accountId,
    token_id: first.tokenId,
    usage_key: first.usageKey,
    hour: toHour(first),
    ...sums,
  }));
  return insertEach(database, 'usage', rows, (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['account_id', 'hour', 'token_id', 'usage_key']).doUpdateSet({
        messages: sql`usage.messages + excluded.messages`,
        premium: sql`usage.premium + excluded.premium`,
        calls: sql`usage.calls + excluded.calls`,
      }),
    ),
  );
}

function balancePieces(database: Database, groups: readonly Group[]): readonly BatchStatement[] {
  const rows = groups.map(({ first, sums }) => ({
    account_id: first.accountId,
    month: first.month,
    messages: sums.messages,
    premium: sums.premium,
  }));
  return insertEach(database, 'balance', rows, (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['account_id', 'month']).doUpdateSet({
        messages: sql`balance.messages + excluded.messages`,
        premium: sql`balance.premium + excluded.premium`,
      }),
    ),
  );
}

interface TokenMonth {
  readonly accountId: string;
  readonly month: string;
  readonly tokenId: string;
  /** Includes premium messages: a token's limit applies to both. */
  readonly messages: number;
}

/** Sums the messages of each token in the month of `nowMs` and in each later charged month. */
export async function sumMonthsByToken(
  database: Database,
  days: BillingDays,
  nowMs: number,
): Promise<readonly TokenMonth[]> {
  const rows = await database
    .selectFrom('usage')
    .select(['account_id', 'token_id', 'hour'])
    .select((select) => select.fn.sum<number>(sql`messages + premium`).as('messages'))
    .where('hour', '>=', Math.floor(days.monthStart(nowMs) / HOUR_MS))
    .groupBy(['account_id', 'token_id', 'hour'])
    .execute();
  const sums = new Map<string, TokenMonth>();
  for (const row of rows) {
    const month = days.month(row.hour * HOUR_MS);
    const key = `${row.token_id} ${month}`;
    const messages = (sums.get(key)?.messages ?? 0) + Number(row.messages);
    const ids = { accountId: row.account_id, tokenId: row.token_id };
    sums.set(key, { ...ids, month, messages });
  }
  return [...sums.values()];
}

/** Reads the usage of an account in the month of `nowMs`; pass the ledger's time, which is never behind. */
export async function readUsage(
  database: Database,
  accountId: string,
  days: BillingDays,
  nowMs: number,
): Promise<Usage> {
  const month = days.month(nowMs);
  const rows = await database
    .selectFrom('usage')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('hour', '>=', Math.floor(days.monthStart(nowMs) / HOUR_MS))
    .orderBy('hour')
    .execute();
  const monthRows = rows.filter((row) => days.month(row.hour * HOUR_MS) === month);
  const sum = (keyOf: (row: (typeof monthRows)[number]) => string): ReadonlyMap<string, number> => {
    const sums = new Map<string, number>();
    for (const row of monthRows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.messages);
    return sums;
  };
  return {
    month: monthRows.reduce((total, row) => total + row.messages, 0),
    premium: monthRows.reduce((total, row) => total + row.premium, 0),
    byDay: sum((row) => days.day(row.hour * HOUR_MS)),
    byToken: sum((row) => row.token_id),
    byKey: sum((row) => row.usage_key),
  };
}
