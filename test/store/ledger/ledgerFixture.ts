// A ledger over a new catalog, and callers of it.
import assert from 'node:assert/strict';
import type { Caller } from '../../../store/accounts/callers.ts';
import { billingDays } from '../../../store/ledger/billingDays.ts';
import type { Account } from '../../../store/accounts/accountRows.ts';
import { survive } from '../../../store/base/crashPoints.ts';
import type { Database } from '../../../store/catalog/database.ts';
import { newCatalog } from '../../base/catalogElsewhere.ts';
import { Ledger } from '../../../store/ledger/ledger.ts';
import type { ChargeOrder } from '../../../store/ledger/metering.ts';
import { migrate } from '../../../store/catalog/migrate.ts';
import { findTier } from '../../../store/accounts/tiers.ts';
import { DEFAULT_SETTINGS, type Token } from '../../../store/accounts/tokens.ts';

export const QUOTA = 1_000;
const account: Account = {
  accountId: 'a',
  name: 'test',
  tier: { ...findTier('launch'), messagesMonthly: QUOTA },
  payAsYouGo: false,
  suspended: false,
  circuitBreaker: undefined,
  budget: undefined,
  ceiling: undefined,
  premiumMessages: 0,
  grants: [],
  defaultWorkspace: undefined,
  createdMs: 0,
};
const ids = { accountId: 'a', tokenId: 't', kind: 'secret' } as const;
const times = { createdMs: 0, lastUsedMs: undefined };
const token: Token = { ...DEFAULT_SETTINGS, ...ids, ...times, test: false, signed: false };
export const callerWith = (own: Partial<Account>, settings: Partial<Token> = {}): Caller => {
  const changed = { ...account, ...own };
  return { ...ids, tier: changed.tier, account: changed, token: { ...token, ...settings } };
};
export const caller = callerWith({});

/** A call of `WS.K` whose objects weigh 1. */
export const K: ChargeOrder = {
  requestId: 'r',
  endpoint: 'e',
  usageKey: 'WS.K',
  weight: 1,
  premium: false,
};

interface Fixture extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly database: Database;
  readonly time: { nowMs: number };
  reopen(believedMonth?: string): Promise<Ledger>;
}

const refuseFault = (reason: unknown): void => assert.fail(String(reason));

export async function fixture({ at = survive, onFault = refuseFault } = {}): Promise<Fixture> {
  const database = newCatalog();
  await migrate(database);
  const time = { nowMs: Date.UTC(2026, 0, 31, 12) };
  const days = billingDays('America/New_York');
  const open = (believedMonth?: string): Promise<Ledger> =>
    Ledger.open({ database, clock: () => time.nowMs, days, at, onFault, believedMonth });
  const ledger = await open();
  const dispose = async (): Promise<void> => {
    await ledger.flush();
    await database.destroy();
  };
  return { ledger, database, time, reopen: open, [Symbol.asyncDispose]: dispose };
}
