// Inserts accounts and tokens in the caller's transaction.
import { checkTier } from './accountRows.ts';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../catalog/database.ts';
import { randomHex } from '../base/random.ts';
import type { Secrets } from '../catalog/secrets/secrets.ts';
import {
  DEFAULT_SETTINGS,
  newTokenText,
  READ_ALL,
  settingColumns,
  type TokenKind,
  type TokenSettings,
} from './tokens.ts';

/** The transaction, and what seals and dates the new rows. */
export interface InsertContext {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

interface TokenSpec {
  readonly kind: TokenKind;
  readonly test: boolean;
  readonly settings: TokenSettings;
  /** The token's text; undefined or empty: a random one. */
  readonly text?: string;
}

/** Inserts an account with its two test tokens. @returns its id */
export async function insertAccount(
  context: InsertContext,
  name: string,
  tier: string,
): Promise<string> {
  checkTier(tier);
  const account_id = randomHex(8);
  const row = { account_id, name, tier, pay_as_you_go: true, created_ms: context.clock() };
  await context.database.insertInto('account').values(row).execute();
  await insertTestTokens(context, account_id);
  return account_id;
}

/** Inserts the two test tokens of an account (SPEC.md "Authentication" 3). */
export async function insertTestTokens(context: InsertContext, accountId: string): Promise<void> {
  for (const kind of ['publishable', 'secret'] as const) {
    const grants = kind === 'publishable' ? READ_ALL : undefined;
    const settings = { ...DEFAULT_SETTINGS, grants };
    await insertToken(context, accountId, { kind, test: true, settings });
  }
}

/** Inserts a token. @returns its id */
export async function insertToken(
  { clock, database, secrets }: InsertContext,
  accountId: string,
  { text: presetText = '', kind, settings, test }: TokenSpec,
): Promise<string> {
  const tokenId = randomHex(8);
  const text = presetText === '' ? newTokenText(kind, test) : presetText;
  const row = { token_id: tokenId, account_id: accountId, kind, test, created_ms: clock() };
  await database
    .insertInto('token')
    .values({ ...row, ...textColumns(secrets, text, kind), ...settingColumns(settings) })
    .execute();
  return tokenId;
}

/** The columns of a token's text: its hash, and the text, sealed if it is secret. */
export function textColumns(
  secrets: Secrets,
  text: string,
  kind: TokenKind,
): { readonly hash: string; readonly stored: string } {
  const stored = kind === 'secret' ? secrets.seal(text) : text;
  return { hash: secrets.hash(text), stored };
}
