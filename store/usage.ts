// Usage as counters: (account, token, key, hour) and the month's balance, in one transaction.
import { sql } from 'kysely';
import type { BillingDays } from './billingDays.ts';
import type { Database } from './database.ts';

const HOUR_MS = 3_600_000;

/** One delivered call. */
export interface UsageLine {
  readonly accountId: string;
  readonly tokenId: string;
  readonly usageKey: string;
  readonly month: string;
  readonly timeMs: number;
  readonly messages: number;
}

export interface Usage {
  readonly month: number;
  /** `YYYYMMDD` to messages. */
  readonly byDay: ReadonlyMap<string, number>;
  readonly byToken: ReadonlyMap<string, number>;
  readonly byKey: ReadonlyMap<string, number>;
}

/** Adds delivered calls to the counters: all of them or, on failure, none. */
export async function writeUsage(database: Database, lines: readonly UsageLine[]): Promise<void> {
  const counters = new Map<string, UsageLine & { readonly hour: number; calls: number }>();
  const balances = new Map<string, { account_id: string; month: string; messages: number }>();
  for (const line of lines) {
    const hour = Math.floor(line.timeMs / HOUR_MS);
    const key = JSON.stringify([line.accountId, line.tokenId, line.usageKey, hour]);
    const counter = counters.get(key) ?? { ...line, hour, messages: 0, calls: 0 };
    const messages = counter.messages + line.messages;
    counters.set(key, { ...counter, messages, calls: counter.calls + 1 });
    const month = `${line.accountId} ${line.month}`;
    const balance = balances.get(month) ?? {
      account_id: line.accountId,
      month: line.month,
      messages: 0,
    };
    balances.set(month, { ...balance, messages: balance.messages + line.messages });
  }
  await database.transaction().execute(async (transaction) => {
    for (const counter of counters.values()) {
      await transaction
        .insertInto('usage')
        .values({
          account_id: counter.accountId,
          token_id: counter.tokenId,
          usage_key: counter.usageKey,
          hour: counter.hour,
          messages: counter.messages,
          calls: counter.calls,
        })
        .onConflict((conflict) =>
          conflict.columns(['account_id', 'hour', 'token_id', 'usage_key']).doUpdateSet({
            messages: sql`usage.messages + excluded.messages`,
            calls: sql`usage.calls + excluded.calls`,
          }),
        )
        .execute();
    }
    for (const balance of balances.values()) {
      await transaction
        .insertInto('balance')
        .values(balance)
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'month'])
            .doUpdateSet({ messages: sql`balance.messages + excluded.messages` }),
        )
        .execute();
    }
  });
}

/** Usage of an account in the month of `nowMs`. */
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
    .where('hour', '>=', Math.floor(days.monthFloor(nowMs) / HOUR_MS))
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
    byDay: sum((row) => days.day(row.hour * HOUR_MS)),
    byToken: sum((row) => row.token_id),
    byKey: sum((row) => row.usage_key),
  };
}
