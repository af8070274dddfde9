// `tapedeck tokens`: what the first account may be reached by.
import type { TokenShown } from '../store/accounts.ts';
import type { Settings } from '../store/settings.ts';
import { needCore, reachFolder, readTokens } from './folderAccess.ts';

export async function listTokens(
  options: { readonly show?: boolean; readonly json?: boolean },
  settings: Settings,
): Promise<void> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    print(await readTokens(reached.folder, settings), options);
    return;
  }
  print(await reached.core.services.accounts.tokens(), options);
  await reached.core.close();
}

export async function createToken(
  options: { readonly kind: 'publishable' | 'secret'; readonly json?: boolean },
  settings: Settings,
): Promise<void> {
  const core = await needCore(settings);
  const made = await core.services.accounts.createToken(core.accountId, options.kind);
  print([made], { ...options, show: true });
  await core.close();
}

function print(
  tokens: readonly TokenShown[],
  options: { readonly show?: boolean; readonly json?: boolean },
): void {
  for (const { kind, token, disabled } of tokens) {
    const whole = options.show === true || kind === 'publishable';
    const text = whole ? token : `sk_…${token.slice(-4)}`;
    const line = options.json
      ? JSON.stringify({ kind, token: text, disabled })
      : `${kind.padEnd(12)} ${text}${disabled ? ' (disabled)' : ''}`;
    process.stdout.write(`${line}\n`);
  }
}
