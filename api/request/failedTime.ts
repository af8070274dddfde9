// Queries that fail cost no messages, so their time has a budget of its own: an account that spends it
// waits until it has grown back.
import { LruMap } from 'toad-cache';
import type { Accounts } from '../../store/accounts/accounts.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';

/** Accounts remembered; one that is forgotten begins with its whole budget. */
const ACCOUNTS_MAX = 10_000;
const MINUTE_MS = 60_000;

interface Spent {
  ms: number;
  atMs: number;
}

export interface FailedTime {
  /** @throws Failure TooManyRequests when the account has spent what its tier allows within a minute. */
  check(caller: Caller): void;
  /** A query failed after so long. */
  spent(accountId: string, ms: number): void;
}

/** @param clockMs never goes back */
export function makeFailedTime(
  clockMs: () => number,
  known: Pick<Accounts, 'account'>,
): FailedTime {
  const accounts = new LruMap<Spent>(ACCOUNTS_MAX);
  const now = (accountId: string, budgetMs: number): Spent => {
    const nowMs = clockMs();
    const before = accounts.get(accountId) ?? { ms: 0, atMs: nowMs };
    const back = ((nowMs - before.atMs) / MINUTE_MS) * budgetMs;
    const spent = { ms: Math.max(0, before.ms - back), atMs: nowMs };
    accounts.set(accountId, spent);
    return spent;
  };
  return {
    check: ({ accountId, tier }) => {
      const budgetMs = tier.sql.failedMsPerMinute;
      const { ms } = now(accountId, budgetMs);
      if (ms < budgetMs) return;
      const waitMs = ((ms - budgetMs) / budgetMs) * MINUTE_MS + 1_000;
      const rule = `its tier allows ${budgetMs / 1_000} s of them in a minute`;
      const detail = `too much time went into failed queries of this account: ${rule}`;
      throw new Failure('TooManyRequests', detail, waitMs);
    },
    spent: (accountId, ms) => {
      const account = known.account(accountId);
      if (account !== undefined) now(accountId, account.tier.sql.failedMsPerMinute).ms += ms;
    },
  };
}
