// Limits the time of failed queries, which cost no messages: an account that has used its budget waits until
// the budget has recovered.
import { LruMap } from 'toad-cache';
import type { Accounts } from '../../store/accounts/accounts.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';

/** Maximum tracked accounts; an evicted one starts with its full budget. */
const ACCOUNTS_MAX = 10_000;
const MINUTE_MS = 60_000;

interface Spent {
  ms: number;
  atMs: number;
}

export interface FailedTime {
  /** @throws Failure TooManyRequests if the account has used what its tier allows within a minute. */
  check(caller: Caller): void;
  /** Records the time of a failed query. */
  spent(accountId: string, ms: number): void;
}

/** @param clockMs a monotonic clock */
export function makeFailedTime(
  clockMs: () => number,
  directory: Pick<Accounts, 'account'>,
): FailedTime {
  const accounts = new LruMap<Spent>(ACCOUNTS_MAX);
  const updateSpent = (accountId: string, budgetMs: number): Spent => {
    const nowMs = clockMs();
    const before = accounts.get(accountId) ?? { ms: 0, atMs: nowMs };
    const recoveredMs = ((nowMs - before.atMs) / MINUTE_MS) * budgetMs;
    const spent = { ms: Math.max(0, before.ms - recoveredMs), atMs: nowMs };
    accounts.set(accountId, spent);
    return spent;
  };
  return {
    check: ({ accountId, tier }) => {
      const budgetMs = tier.sql.failedMsPerMinute;
      const { ms } = updateSpent(accountId, budgetMs);
      if (ms < budgetMs) return;
      const waitMs = ((ms - budgetMs) / budgetMs) * MINUTE_MS + 1_000;
      const rule = `its tier allows ${budgetMs / 1_000} s of them in a minute`;
      const detail = `too much time went into failed queries of this account: ${rule}`;
      throw new Failure('TooManyRequests', detail, waitMs);
    },
    spent: (accountId, ms) => {
      const account = directory.account(accountId);
      if (account !== undefined)
        updateSpent(accountId, account.tier.sql.failedMsPerMinute).ms += ms;
    },
  };
}
