// Every token with whom it stands for, as one look-up in memory.
import { type Account, accountOf } from './accountRows.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { Tier } from './tiers.ts';
import { type Token, type TokenKind, tokenOf } from './tokens.ts';

/** Who asks: an account through one of its tokens. */
export interface Caller {
  readonly accountId: string;
  readonly tokenId: string;
  readonly kind: TokenKind;
  readonly tier: Tier;
  readonly account: Account;
  readonly token: Token;
  /** Of a test token: what its records' values are scrambled by. */
  readonly scrambleSeed?: string;
  /** The operator acts by this token: whatever is asked costs nothing and waits for no budget. */
  readonly isOperator?: true;
}

interface KnownToken {
  readonly caller: Caller;
  /** The token was rotated away. */
  readonly retired: boolean;
  readonly signingSecret: string | undefined;
}

export interface Callers {
  /** By id, oldest first. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** By the hash of the token's text. */
  readonly byHash: ReadonlyMap<string, KnownToken>;
  /** By the token's id. */
  readonly byId: ReadonlyMap<string, KnownToken>;
}

export async function loadCallers(database: Database, secrets: Secrets): Promise<Callers> {
  const rows = await database.selectFrom('account').selectAll().orderBy('created_ms').execute();
  const accounts = new Map(rows.map((row) => [row.account_id, accountOf(row)]));
  const byHash = new Map<string, KnownToken>();
  const byId = new Map<string, KnownToken>();
  for (const row of await database.selectFrom('token').selectAll().execute()) {
    const account = accounts.get(row.account_id);
    if (account === undefined) throw new Failure('SystemError', 'a token has no account');
    const token = tokenOf(row);
    const { accountId, tokenId, kind } = token;
    const who = { accountId, tokenId, kind, tier: account.tier, account, token };
    // Of the account: both of its test tokens see the same records.
    const caller = token.test
      ? { ...who, scrambleSeed: secrets.hash(`scramble ${accountId}`) }
      : who;
    const sealed = row.signing_secret;
    const signingSecret = sealed === null ? undefined : secrets.unseal(sealed);
    const known = { caller, retired: false, signingSecret };
    byHash.set(row.hash, known);
    byId.set(tokenId, known);
  }
  for (const { hash, token_id } of await database
    .selectFrom('retired_token')
    .selectAll()
    .execute()) {
    const known = byId.get(token_id);
    if (known !== undefined) byHash.set(hash, { ...known, retired: true });
  }
  return { accounts, byHash, byId };
}

/** Who acts by the token now. @throws Failure InvalidKey, DisabledKey, Inactive. */
export function activeCaller(known: KnownToken | undefined): Caller {
  if (known === undefined) throw new Failure('InvalidKey');
  const { caller } = known;
  if (known.retired || caller.token.disabled) throw new Failure('DisabledKey');
  if (caller.account.suspended) throw new Failure('Inactive');
  return caller;
}
