// Work of a data folder's first start: its account, workspace CORE, its demo.
import type { Accounts, TokenWithText } from '../store/accounts/accounts.ts';
import type { Folder } from '../store/catalog/folder.ts';
import { writeSecretFile } from '../store/catalog/secrets/secretFile.ts';
import type { Database } from '../store/catalog/database.ts';
import type { Settings } from '../store/base/settings/settings.ts';
import { createWorkspace } from '../store/lake/datasetEdits.ts';
import type { Lake } from '../store/lake/lake.ts';
import { CORE } from '../store/lake/datasets/datasets.ts';

/** Result of the demo's setup. */
interface Demo {
  /** Jobs that were queued. */
  readonly jobs: readonly string[];
  /** Whether the folder has a demo. */
  readonly on: boolean;
}

/** Decides about the demo once, at the folder's first start. */
export async function setUpDemo(
  database: Database,
  isEnabled: boolean,
  load: () => Promise<readonly string[]>,
): Promise<Demo> {
  const decided = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', 'demo')
    .executeTakeFirst();
  if (decided !== undefined) return { jobs: [], on: decided.value === 'on' };
  const jobs = isEnabled ? await load() : [];
  const row = { key: 'demo', value: isEnabled ? 'on' : 'off' };
  await database.insertInto('folder').values(row).execute();
  return { jobs, on: isEnabled };
}

interface First {
  readonly accountId: string;
  readonly madeTokens: readonly TokenWithText[];
  /** One sentence for each setting without an effect. */
  readonly warnings: readonly string[];
}

/**
 * Creates one account with a publishable and a secret token at the first start. They are written to the file
 * `first-tokens`, by any command that opens the folder: output may end in a log. Tokens of settings are not
 * written there.
 */
export async function setUpAccount(
  accounts: Accounts,
  settings: Settings,
  { firstTokens }: Pick<Folder, 'firstTokens'>,
): Promise<First> {
  const { data, publishableToken: publishable, secretToken: secret } = settings;
  const created = await accounts.createFirst({ publishable, secret });
  if (created !== undefined) {
    const fresh = created.tokens.filter(({ text }) => text !== publishable && text !== secret);
    const lines = fresh.map(({ kind, text }) => `${kind} ${text}`);
    if (lines.length > 0) writeSecretFile(firstTokens, lines.join('\n'));
    return { accountId: created.accountId, madeTokens: created.tokens, warnings: [] };
  }
  const tokens = await accounts.tokens();
  const existingTokens = new Set(tokens.map(({ text }) => text));
  const settingTokens = { TAPEDECK_PUBLISHABLE_TOKEN: publishable, TAPEDECK_SECRET_TOKEN: secret };
  const idle = Object.entries(settingTokens).filter(
    ([, text]) => text !== '' && !existingTokens.has(text),
  );
  const warnings = idle.map(
    ([name]) =>
      `${name} is ignored: the data folder ${data} has tokens of its own ` +
      '(tapedeck tokens list --show lists them, tapedeck tokens create creates more)',
  );
  return { accountId: tokens[0]?.accountId ?? '', madeTokens: [], warnings };
}

/** Creates workspace CORE for the first account; folders of earlier versions get it at their next start. */
export async function setUpCore(lake: Lake, accounts: Accounts, nowMs: number): Promise<void> {
  const [first] = accounts.list();
  if (first === undefined || lake.directory.workspace(CORE) !== undefined) return;
  await createWorkspace(lake, CORE, first.accountId, nowMs);
}
