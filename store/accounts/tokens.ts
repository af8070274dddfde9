// A token: whose it is, what it reaches, from where it may be used. Its text is not part of it.
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

/** What the owner of a token may set (INTERFACE.md 3.1 "Token settings"). */
export interface TokenSettings {
  readonly name: string;
  readonly disabled: boolean;
  /** Messages in a month, premium ones too; undefined: as many as the account has. */
  readonly messageLimit: number | undefined;
  /** Undefined: what its kind reaches, nothing when publishable, the whole account when secret. */
  readonly grants: readonly Grant[] | undefined;
  /** Datasets of workspace CORE; its premium ones. */
  readonly core: boolean;
  readonly premium: boolean;
  /** Addresses and CIDR ranges it may be used from; none: from anywhere. */
  readonly addresses: readonly string[];
  /** Referrer patterns (INTERFACE.md 5); none: from any page. */
  readonly referrers: readonly string[];
  /** A signature is taken once, except that of a GET. */
  readonly refuseReplays: boolean;
  /** A signature covers the whole query; the token alone, as the original's clients sign, is refused. */
  readonly fullSignatures: boolean;
}

export interface Token extends TokenSettings {
  readonly tokenId: string;
  readonly accountId: string;
  readonly kind: TokenKind;
  /** Only for the test environment (SPEC.md "Authentication" 3). */
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

/** Whether a token may do what concerns no single dataset. */
export const managesAccount = (token: Token): boolean =>
  token.kind === 'secret' && token.grants === undefined;

type TokenRow = Selectable<ServiceTables['token']>;

export const tokenOf = (row: TokenRow): Token => ({
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
