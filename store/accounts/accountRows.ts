// The settings of an account that an operator sets, and their database columns.
import type { Selectable } from 'kysely';
import { Failure } from '../base/failure.ts';
import type { ServiceTables } from '../catalog/tables/service.ts';
import { type Tier, TIER_NAMES, findTier } from './tiers.ts';

/** The settings of an account that an operator may change. */
export interface AccountSettings {
  readonly name: string;
  readonly tier: string;
  readonly payAsYouGo: boolean;
  /** The tokens of a suspended account are refused with `Inactive`. */
  readonly suspended: boolean;
  /** Pay-as-you-go messages in a month after which all calls are refused. */
  readonly circuitBreaker: number | undefined;
  /** Messages in a month after which all calls stop, set by the account (SPEC.md "Message budget"). */
  readonly budget: number | undefined;
  /** The same limit, set by the operator: no token of the account can change it. */
  readonly ceiling: number | undefined;
  /** Premium messages in a month; 0: no premium data. */
  readonly premiumMessages: number;
  /** Names of the restricted datasets of CORE that it may read. */
  readonly grants: readonly string[];
  readonly defaultWorkspace: string | undefined;
}

export interface Account extends Omit<AccountSettings, 'tier'> {
  readonly accountId: string;
  readonly tier: Tier;
  readonly createdMs: number;
}

/** @throws Failure InvalidBody. */
export function checkTier(tier: string): void {
  if (TIER_NAMES.includes(tier)) return;
  throw new Failure('InvalidBody', `tier must be one of ${TIER_NAMES.join(', ')}`);
}

export const toAccount = (row: Selectable<ServiceTables['account']>): Account => ({
  accountId: row.account_id,
  name: row.name,
  tier: findTier(row.tier),
  payAsYouGo: Boolean(row.pay_as_you_go),
  suspended: Boolean(row.suspended),
  circuitBreaker: row.circuit_breaker ?? undefined,
  budget: row.budget ?? undefined,
  ceiling: row.ceiling ?? undefined,
  premiumMessages: row.premium_messages,
  grants: JSON.parse(row.grants_json) as string[],
  defaultWorkspace: row.default_workspace ?? undefined,
  createdMs: row.created_ms,
});

type AccountColumns = Pick<
  Selectable<ServiceTables['account']>,
  | 'name'
  | 'tier'
  | 'circuit_breaker'
  | 'budget'
  | 'ceiling'
  | 'premium_messages'
  | 'grants_json'
  | 'default_workspace'
> & { readonly pay_as_you_go: boolean; readonly suspended: boolean };

export const accountColumns = (settings: AccountSettings): AccountColumns => ({
  name: settings.name,
  tier: settings.tier,
  pay_as_you_go: settings.payAsYouGo,
  suspended: settings.suspended,
  circuit_breaker: settings.circuitBreaker ?? null,
  budget: settings.budget ?? null,
  ceiling: settings.ceiling ?? null,
  premium_messages: settings.premiumMessages,
  grants_json: JSON.stringify(settings.grants),
  default_workspace: settings.defaultWorkspace ?? null,
});
