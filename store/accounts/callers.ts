// Maps every token to its caller, in memory.
import { type Account, toAccount } from './accountRows.ts';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import type { Tier } from './tiers.ts';
import { type Token, type TokenKind, toToken } from './tokens.ts';

/** The caller of a request: an account, through one of its tokens. */
export interface Caller {
  readonly accountId: string;
  readonly tokenId: string;
  readonly kind: TokenKind;
  readonly tier: Tier;
  readonly account: Account;
  readonly token: Token;
  /** Seed that scrambles the values of a test token's records. */
  readonly scrambleSeed?: string;
  /** The token is the operator's: its calls are free and not subject to a budget. */
  readonly isOperator?: true;
}

interface IndexedToken {
  readonly caller: Caller;
  /** The token was replaced by a rotation. */
  readonly retired: boolean;
  readonly signingSecret: string | undefined;
}

export interface Callers {
  /** By id, oldest first. */
  readonly accounts: ReadonlyMap<string, Account>;
  /** By the hash of the token's text. */
  readonly byHash: ReadonlyMap<string, IndexedToken>;
  /** By the token's id. */
  readonly byId: ReadonlyMap<string, IndexedToken>;
}

export async function loadCallers(database: Database, secrets: Secrets): Promise<Callers> {
  const rows = await database.selectFrom('account').selectAll().orderBy('created_ms').execute();
  const accounts = new Map(rows.map((row) => [row.account_id, toAccount(row)]));
  const byHash = new Map<string, IndexedToken>();
  const byId = new Map<string, IndexedToken>();
  for (const row of await database.selectFrom('token').selectAll().execute()) {
    const account = accounts.get(row.account_id);
    if (account === undefined) throw new Failure('SystemError', 'a token has no account');
    const token = toToken(row);
    const { accountId, tokenId, kind } = token;
    const who = { accountId, tokenId, kind, tier: account.tier, account, token };
    // The seed depends on the account: both of its test tokens return the same values.
    const caller = token.test
      ? { ...who, scrambleSeed: secrets.hash(`scramble ${accountId}`) }
      : who;
    const sealed = row.signing_secret;
    const signingSecret = sealed === null ? undefined : secrets.unseal(sealed);
    const indexed = { caller, retired: false, signingSecret };
    byHash.set(row.hash, indexed);
    byId.set(tokenId, indexed);
  }
  for (const { hash, token_id } of await database
    .selectFrom('retired_token')
    .selectAll()
    .execute()) {
    const indexed = byId.get(token_id);
    if (indexed !== undefined) byHash.set(hash, { ...indexed, retired: true });
  }
  return { accounts, byHash, byId };
}

/** Checks that the token may act now. @throws Failure InvalidKey, DisabledKey, Inactive. */
export function activeCaller(indexed: IndexedToken | undefined): Caller {
  if (indexed === undefined) throw new Failure('InvalidKey');
  const { caller } = indexed;
  if (indexed.retired || caller.token.disabled) throw new Failure('DisabledKey');
  if (caller.account.suspended) throw new Failure('Inactive');
  return caller;
}
