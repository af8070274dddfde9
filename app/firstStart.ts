// What only the first start of a data folder does: its account, workspace CORE, its demo.
import type { Accounts, TokenShown } from '../store/accounts/accounts.ts';
import type { Folder } from '../store/catalog/folder.ts';
import { writeSecretFile } from '../store/catalog/secrets/secretFile.ts';
import type { Database } from '../store/catalog/database.ts';
import type { Settings } from '../store/base/settings/settings.ts';
import { createWorkspace } from '../store/lake/datasetEdits.ts';
import type { Lake } from '../store/lake/lake.ts';
import { CORE } from '../store/lake/datasets/datasets.ts';

/** What of the demo a start brings about. */
interface Demo {
  /** That it hands in. */
  readonly jobs: readonly string[];
  /** Whether the folder has one. */
  readonly on: boolean;
}

/** Whether the demo is wanted is decided once, at the folder's first start. */
export async function demoOnce(
  database: Database,
  wanted: boolean,
  load: () => Promise<readonly string[]>,
): Promise<Demo> {
  const decided = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', 'demo')
    .executeTakeFirst();
  if (decided !== undefined) return { jobs: [], on: decided.value === 'on' };
  const jobs = wanted ? await load() : [];
  const row = { key: 'demo', value: wanted ? 'on' : 'off' };
  await database.insertInto('folder').values(row).execute();
  return { jobs, on: wanted };
}

interface First {
  readonly accountId: string;
  readonly madeTokens: readonly TokenShown[];
  /** One sentence for each setting that changes nothing here. */
  readonly warnings: readonly string[];
}

/**
 * One account with a publishable and a secret token, created at the first start. The file `first-tokens` has
 * them, whichever command opens the folder: output may end in a log. Tokens of settings are not stored there.
 */
export async function firstAccount(
  accounts: Accounts,
  settings: Settings,
  { firstTokens }: Pick<Folder, 'firstTokens'>,
): Promise<First> {
  const { data, publishableToken: publishable, secretToken: secret } = settings;
  const made = await accounts.createFirst({ publishable, secret });
  if (made !== undefined) {
    const fresh = made.tokens.filter(({ text }) => text !== publishable && text !== secret);
    const lines = fresh.map(({ kind, text }) => `${kind} ${text}`);
    if (lines.length > 0) writeSecretFile(firstTokens, lines.join('\n'));
    return { accountId: made.accountId, madeTokens: made.tokens, warnings: [] };
  }
  const tokens = await accounts.tokens();
  const known = new Set(tokens.map(({ text }) => text));
  const given = { TAPEDECK_PUBLISHABLE_TOKEN: publishable, TAPEDECK_SECRET_TOKEN: secret };
  const idle = Object.entries(given).filter(([, text]) => text !== '' && !known.has(text));
  const warnings = idle.map(
    ([name]) =>
      `${name} is ignored: the data folder ${data} has tokens of its own ` +
      '(tapedeck tokens list --show tells them, tapedeck tokens create makes more)',
  );
  return { accountId: tokens[0]?.accountId ?? '', madeTokens: [], warnings };
}

/** Workspace CORE is the first account's from the first start on; folders of before get it at the next. */
export async function coreOnce(lake: Lake, accounts: Accounts, nowMs: number): Promise<void> {
  const [first] = accounts.list();
  if (first === undefined || lake.directory.workspace(CORE) !== undefined) return;
  await createWorkspace(lake, CORE, first.accountId, nowMs);
}
