// Finds balances above their account's quota: the sign of a month that was opened twice, where the journal
// and the counters agree on every call.
import { toAccount } from '../../store/accounts/accountRows.ts';
import { type BillingDays, monthMiddle } from '../../store/ledger/billingDays.ts';
import type { Database } from '../../store/catalog/database.ts';
import { maxMessages } from '../../store/ledger/quota.ts';

/**
 * Returns a sentence for each. An account that an operator or its owner changed in that month or later is
 * left out: its quota at that time is unknown.
 */
export async function findOverQuota(
  database: Database,
  days: BillingDays,
): Promise<readonly string[]> {
  const accounts = await database.selectFrom('account').selectAll().execute();
  const accountsById = new Map(accounts.map((row) => [row.account_id, toAccount(row)]));
  const changes = await database
    .selectFrom('audit')
    .select('account_id')
    .select((select) => select.fn.max('time_ms').as('time_ms'))
    .where('action', '=', 'change account')
    .groupBy('account_id')
    .execute();
  const changedMs = new Map(changes.map((row) => [row.account_id, Number(row.time_ms)]));
  const balances = await database.selectFrom('balance').selectAll().execute();
  return balances.flatMap(({ account_id, month, messages, premium }) => {
    const account = accountsById.get(account_id);
    if (account === undefined) return [];
    if ((changedMs.get(account_id) ?? -1) >= days.monthStart(monthMiddle(month))) return [];
    const kinds = [
      ['messages', messages, maxMessages(account, false)],
      ['premium messages', premium, maxMessages(account, true)],
    ] as const;
    return kinds.flatMap(([kind, spent, most]) => {
      if (spent <= most) return [];
      const message = `account ${account_id}, month ${month}: ${spent} ${kind} were charged`;
      return [`${message}, ${most} is the most it may spend: the month was opened twice`];
    });
  });
}
