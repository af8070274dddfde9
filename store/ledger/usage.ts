// Usage as counters: (account, token, key, hour) and the month's balance, in one transaction.
import { sql } from 'kysely';
import type { BillingDays } from './billingDays.ts';
import type { Database } from '../catalog/database.ts';
import type { Piece } from '../catalog/statements.ts';
import { insertEach, runTogether } from '../catalog/together.ts';
import { journalPiece, type JournalLines, type LinesAlike, spelled } from './journal.ts';

const HOUR_MS = 3_600_000;

export interface Usage {
  /** Messages without premium ones, everywhere below too. */
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

/** Lines that add to one row, told by the first of them. */
interface Group {
  readonly first: LinesAlike;
  readonly sums: Sums;
}

/** What is written with a charge or not at all, such as the alert that it pays. */
export interface WithCharge {
  /** Knows the rows that are its own; all of a group are written at once. */
  readonly writer: ChargeWriter;
  readonly row: unknown;
}

export interface ChargeWriter {
  readonly write: (transaction: Database, rows: readonly unknown[]) => Promise<void>;
  readonly written: (rows: readonly unknown[]) => void;
}

/** Delivered calls that are written together: spelled and summed as they come. */
interface Charges extends JournalLines {
  firstMs: number;
  lastMs: number;
  readonly also: WithCharge[];
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
 * Calls that are charged alike. Done as they come: at the end of a window only what SQLite does is left,
 * where a thousand calls at once kept all others waiting for 5 ms.
 */
export function addCharge(
  charges: Charges,
  line: LinesAlike,
  requestIds: readonly string[],
  also?: WithCharge,
): void {
  if (also !== undefined) charges.also.push(also);
  const { accountId, month, timeMs, tokenId, usageKey } = line;
  charges.firstMs = Math.min(charges.firstMs, timeMs);
  charges.lastMs = Math.max(charges.lastMs, timeMs);
  for (const text of spelled(line, requestIds)) charges.lines.push(text);
  const calls = requestIds.length;
  const all = { messages: line.messages * calls, premium: line.premium * calls, calls };
  addTo(charges.counters, `${accountId} ${tokenId} ${hourOf(line)} ${usageKey}`, line, all);
  addTo(charges.balances, `${accountId} ${month}`, line, all);
}

/** Those that came while the first could not be written are written with them. */
export function addCharges(charges: Charges, later: Charges): void {
  charges.firstMs = Math.min(charges.firstMs, later.firstMs);
  charges.lastMs = Math.max(charges.lastMs, later.lastMs);
  for (const line of later.lines) charges.lines.push(line);
  for (const one of later.also) charges.also.push(one);
  for (const kind of ['counters', 'balances'] as const) {
    for (const [key, { first, sums }] of later[kind]) addTo(charges[kind], key, first, sums);
  }
}

function addTo(groups: Map<string, Group>, key: string, first: LinesAlike, more: Sums): void {
  const known = groups.get(key);
  if (known === undefined) {
    groups.set(key, { first, sums: { ...more } });
    return;
  }
  known.sums.messages += more.messages;
  known.sums.premium += more.premium;
  known.sums.calls += more.calls;
}

const hourOf = ({ timeMs }: LinesAlike): number => Math.floor(timeMs / HOUR_MS);

/** Adds delivered calls to the counters and the journal: all of them or, on failure, none. */
export async function writeUsage(database: Database, charges: Charges): Promise<void> {
  const also = rowsByWriter(charges.also);
  await database.transaction().execute(async (transaction) => {
    await runTogether(transaction, [
      await journalPiece(transaction, charges),
      ...counterPieces(transaction, [...charges.counters.values()]),
      ...balancePieces(transaction, [...charges.balances.values()]),
    ]);
    for (const [writer, own] of also) await writer.write(transaction, own);
  });
  for (const [writer, own] of also) writer.written(own);
}

function rowsByWriter(also: readonly WithCharge[]): ReadonlyMap<ChargeWriter, readonly unknown[]> {
  const rows = new Map<ChargeWriter, unknown[]>();
  for (const { row, writer } of also) {
    const own = rows.get(writer) ?? [];
    own.push(row);
    rows.set(writer, own);
  }
  return rows;
}

function counterPieces(database: Database, groups: readonly Group[]): readonly Piece[] {
  const rows = groups.map(({ first, sums }) => ({
    account_id: first.accountId,
    token_id: first.tokenId,
    usage_key: first.usageKey,
    hour: hourOf(first),
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

function balancePieces(database: Database, groups: readonly Group[]): readonly Piece[] {
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
  /** Premium ones as well: a token's limit is on both. */
  readonly messages: number;
}

/** What each token used in the month of `nowMs`, and in each later one that was charged. */
export async function monthsByToken(
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

/** Usage of an account in the month of `nowMs`: ask with the ledger's time, which is never behind. */
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
  const mine = rows.filter((row) => days.month(row.hour * HOUR_MS) === month);
  const sum = (keyOf: (row: (typeof mine)[number]) => string): ReadonlyMap<string, number> => {
    const sums = new Map<string, number>();
    for (const row of mine) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.messages);
    return sums;
  };
  return {
    month: mine.reduce((total, row) => total + row.messages, 0),
    premium: mine.reduce((total, row) => total + row.premium, 0),
    byDay: sum((row) => days.day(row.hour * HOUR_MS)),
    byToken: sum((row) => row.token_id),
    byKey: sum((row) => row.usage_key),
  };
}
