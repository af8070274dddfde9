// Keeps used, held and leased messages of each month by account and token in memory, loaded from the catalog
// at start.
import { type BillingDays, monthMiddle } from './billingDays.ts';
import type { Database } from '../catalog/database.ts';
import type { Spending } from './quota.ts';
import { sumMonthsByToken } from './usage.ts';

export type Counter = { -readonly [K in keyof Spending]: Spending[K] };

export interface Balance {
  readonly messages: Counter;
  readonly premium: Counter;
  readonly byToken: Map<string, Counter>;
}

/** Balances by account. */
export type Balances = Map<string, Balance>;

export interface Month {
  /** `YYYYMM`. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly balances: Balances;
}

export const newCounter = (used = 0): Counter => ({ used, held: 0, leased: 0 });

export const newBalance = (): Balance => ({
  messages: newCounter(),
  premium: newCounter(),
  byToken: new Map(),
});

/** Loads the charges of a month and of later ones, by month and account. */
export async function loadChargedMonths(
  database: Database,
  days: BillingDays,
  from: string,
): Promise<Map<string, Balances>> {
  const months = new Map<string, Balances>();
  const openBalance = (month: string, accountId: string): Balance => {
    const balances = months.get(month) ?? new Map<string, Balance>();
    const balance = balances.get(accountId) ?? newBalance();
    months.set(month, balances.set(accountId, balance));
    return balance;
  };
  const rows = database.selectFrom('balance').selectAll().where('month', '>=', from);
  for (const row of await rows.execute()) {
    const balance = openBalance(row.month, row.account_id);
    balance.messages.used = row.messages;
    balance.premium.used = row.premium;
  }
  for (const row of await sumMonthsByToken(database, days, monthMiddle(from))) {
    const balance = openBalance(row.month, row.accountId);
    balance.byToken.set(row.tokenId, newCounter(row.messages));
  }
  return months;
}
