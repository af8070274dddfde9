// A token: its account, its rights and the addresses it may be used from. Its text is not part of it.
import type { Selectable } from 'kysely';
import { randomHex } from '../base/random.ts';
import type { ServiceTables } from '../catalog/tables/service.ts';

export type TokenKind = 'publishable' | 'secret';
export type Right = 'read' | 'write' | 'delete';

/** Rights on datasets: `*`, `WORKSPACE.*` or `WORKSPACE.DATASET`, in any case. */
export interface Grant {
  readonly datasets: string;
  readonly rights: readonly Right[];
}

/** The settings of a token that its owner may change (INTERFACE.md 3.1 "Token settings"). */
export interface TokenSettings {
  readonly name: string;
  readonly disabled: boolean;
  /** Messages in a month, including premium ones; undefined: no limit but the account's. */
  readonly messageLimit: number | undefined;
  /** Undefined: a publishable token has no rights, a secret one has all rights on its account. */
  readonly grants: readonly Grant[] | undefined;
  /** Access to the datasets of workspace CORE, and to its premium datasets. */
  readonly core: boolean;
  readonly premium: boolean;
  /** Addresses and CIDR ranges it may be used from; empty: any address. */
  readonly addresses: readonly string[];
  /** Referrer patterns (INTERFACE.md 5); empty: any page. */
  readonly referrers: readonly string[];
  /** Accepts each signature once, except that of a GET. */
  readonly refuseReplays: boolean;
  /** Signatures must cover the whole query, not only the token as those of the original's clients do. */
  readonly fullSignatures: boolean;
}

export interface Token extends TokenSettings {
  readonly tokenId: string;
  readonly accountId: string;
  readonly kind: TokenKind;
  /** Valid only in the test environment (SPEC.md "Authentication" 3). */
  readonly test: boolean;
  readonly signed: boolean;
  readonly createdMs: number;
  readonly lastUsedMs: number | undefined;
}

export const PREFIXES: Readonly<Record<TokenKind, string>> = { publishable: 'pk_', secret: 'sk_' };

export const DEFAULT_SETTINGS: TokenSettings = {
  name: '',
  disabled: false,
  messageLimit: undefined,
  grants: undefined,
  core: true,
  premium: true,
  addresses: [],
  referrers: [],
  refuseReplays: false,
  fullSignatures: false,
};

export const READ_ALL: readonly Grant[] = [{ datasets: '*', rights: ['read'] }];

/** Whether a token has a right on a dataset of its own account. */
export function hasRight(token: Token, workspace: string, dataset: string, right: Right): boolean {
  if (token.grants === undefined) return token.kind === 'secret';
  const names = ['*', `${workspace}.*`, `${workspace}.${dataset}`].map((name) =>
    name.toUpperCase(),
  );
  return token.grants.some(
    ({ datasets, rights }) => rights.includes(right) && names.includes(datasets.toUpperCase()),
  );
}

/** Whether a token may do operations that are not limited to one dataset. */
export const managesAccount = (token: Token): boolean =>
  token.kind === 'secret' && token.grants === undefined;

type TokenRow = Selectable<ServiceTables['token']>;

export const toToken = (row: TokenRow): Token => ({
  tokenId: row.token_id,
  accountId: row.account_id,
  kind: row.kind as TokenKind,
  test: Boolean(row.test),
  name: row.name,
  disabled: Boolean(row.disabled),
  messageLimit: row.message_limit ?? undefined,
  grants: row.grants_json === null ? undefined : (JSON.parse(row.grants_json) as Grant[]),
  core: Boolean(row.core),
  premium: Boolean(row.premium),
  addresses: JSON.parse(row.addresses_json) as string[],
  referrers: JSON.parse(row.referrers_json) as string[],
  refuseReplays: Boolean(row.refuse_replays),
  fullSignatures: Boolean(row.full_signatures),
  signed: row.signing_secret !== null,
  createdMs: row.created_ms,
  lastUsedMs: row.last_used_ms ?? undefined,
});

type SettingColumns = Pick<
  TokenRow,
  'name' | 'message_limit' | 'grants_json' | 'addresses_json' | 'referrers_json'
> & {
  readonly disabled: boolean;
  readonly core: boolean;
  readonly premium: boolean;
  readonly refuse_replays: boolean;
  readonly full_signatures: boolean;
};

export const settingColumns = (settings: TokenSettings): SettingColumns => ({
  name: settings.name,
  disabled: settings.disabled,
  message_limit: settings.messageLimit ?? null,
  grants_json: settings.grants === undefined ? null : JSON.stringify(settings.grants),
  core: settings.core,
  premium: settings.premium,
  addresses_json: JSON.stringify(settings.addresses),
  referrers_json: JSON.stringify(settings.referrers),
  refuse_replays: settings.refuseReplays,
  full_signatures: settings.fullSignatures,
});

export const newTokenText = (kind: TokenKind, test: boolean): string =>
  `${test ? 'T' : ''}${PREFIXES[kind]}${randomHex(16)}`;
