// `tapedeck dataset share`: shares a dataset with other accounts, and sets the terms.
import { Failure } from '../../store/base/failure.ts';
import type { Access, Share } from '../../store/lake/datasets/datasets.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { requireFolder } from '../connect/folderAccess.ts';
import type { Terminal } from '../connect/terminal.ts';
import { withWorkspace } from '../connect/workspaceApi.ts';
import { WHOLE_NUMBER_RULE } from '../../store/base/valueRules.ts';

export interface ShareOptions {
  readonly workspace?: string;
  readonly json?: boolean;
  readonly weight?: string;
  readonly tier?: string;
  readonly delay?: string;
  readonly stop?: boolean;
}

/** Shares it, changes the terms, or stops; without an account only shows with whom it is shared. */
export async function shareDataset(
  name: string,
  account: string | undefined,
  options: ShareOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  requireFolder(settings);
  const share = account === undefined ? undefined : buildShare(account, options);
  await withWorkspace(settings, options.workspace, terminal, async (call) => {
    const path = `/datasets/${encodeURIComponent(name)}`;
    const { access } = (await call('GET', path)) as { readonly access: Access };
    const before = access.accounts ?? [];
    const others = before.filter(({ accountId }) => accountId !== account);
    if (options.stop === true && others.length === before.length) {
      throw new Failure(
        'NotFound',
        `${name} is not shared with ${account ?? 'nobody: name an account'}`,
      );
    }
    const accounts =
      share === undefined ? before : options.stop === true ? others : [...others, share];
    if (share !== undefined) await call('PATCH', path, { access: { ...access, accounts } });
    tableAnswer(accounts, ['accountId', 'weight', 'tier', 'delayMinutes'], options, terminal);
  });
}

function buildShare(accountId: string, { delay, tier, weight }: ShareOptions): Share {
  return {
    accountId,
    ...(weight === undefined ? {} : { weight: parseCount('--weight', weight) }),
    ...(tier === undefined ? {} : { tier }),
    ...(delay === undefined ? {} : { delayMinutes: parseCount('--delay', delay) }),
  };
}

function parseCount(option: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Failure('InvalidParameter', `${option} ${WHOLE_NUMBER_RULE}`);
}
