// What only the first start of a data folder does: its demo, its account.
import type { Accounts, TokenShown } from '../store/accounts.ts';
import type { Database } from '../store/database.ts';
import type { Settings } from '../store/settings.ts';

/** Whether the demo is wanted is decided once, at the folder's first start. */
export async function demoOnce(
  database: Database,
  wanted: boolean,
  load: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const decided = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', 'demo')
    .executeTakeFirst();
  if (decided !== undefined) return [];
  const jobs = wanted ? await load() : [];
  const row = { key: 'demo', value: wanted ? 'on' : 'off' };
  await database.insertInto('folder').values(row).execute();
  return jobs;
}

/** One account with a publishable and a secret token, made at the first start. */
export async function firstAccount(
  accounts: Accounts,
  settings: Settings,
): Promise<{ readonly accountId: string; readonly madeTokens: readonly TokenShown[] }> {
  const { publishableToken: publishable, secretToken: secret } = settings;
  const made = await accounts.createFirst({ publishable, secret });
  if (made !== undefined) return { accountId: made.accountId, madeTokens: made.tokens };
  const [known] = await accounts.tokens();
  return { accountId: known?.accountId ?? '', madeTokens: [] };
}
