// Accounts and tokens as they are made, in the transaction of whoever makes them.
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

/** Where they are made, and what seals and dates them. */
export interface Making {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

interface TokenOrder {
  readonly kind: TokenKind;
  readonly test: boolean;
  readonly settings: TokenSettings;
  /** The text to take; undefined or empty: a new one. */
  readonly given?: string;
}

/** With its two test tokens; its id. */
export async function insertAccount(making: Making, name: string, tier: string): Promise<string> {
  checkTier(tier);
  const account_id = randomHex(8);
  const row = { account_id, name, tier, pay_as_you_go: true, created_ms: making.clock() };
  await making.database.insertInto('account').values(row).execute();
  await insertTestTokens(making, account_id);
  return account_id;
}

/** Two for each account (SPEC.md "Authentication" 3). */
export async function insertTestTokens(making: Making, accountId: string): Promise<void> {
  for (const kind of ['publishable', 'secret'] as const) {
    const grants = kind === 'publishable' ? READ_ALL : undefined;
    const settings = { ...DEFAULT_SETTINGS, grants };
    await insertToken(making, accountId, { kind, test: true, settings });
  }
}

/** Its id. */
export async function insertToken(
  { clock, database, secrets }: Making,
  accountId: string,
  { given = '', kind, settings, test }: TokenOrder,
): Promise<string> {
  const tokenId = randomHex(8);
  const text = given === '' ? newTokenText(kind, test) : given;
  const row = { token_id: tokenId, account_id: accountId, kind, test, created_ms: clock() };
  await database
    .insertInto('token')
    .values({ ...row, ...textColumns(secrets, text, kind), ...settingColumns(settings) })
    .execute();
  return tokenId;
}

/** A token's text as it is stored. */
export function textColumns(
  secrets: Secrets,
  text: string,
  kind: TokenKind,
): { readonly hash: string; readonly stored: string } {
  const stored = kind === 'secret' ? secrets.seal(text) : text;
  return { hash: secrets.hash(text), stored };
}
