// `tapedeck tokens`: what the first account may be reached by.
import type { TokenShown } from '../../store/accounts/accounts.ts';
import type { Settings } from '../../store/base/settings.ts';
import { reachFolder, readTokens } from '../reach/folderAccess.ts';

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

function print(
  tokens: readonly TokenShown[],
  options: { readonly show?: boolean; readonly json?: boolean },
): void {
  for (const { tokenId, kind, test, text: token, disabled } of tokens) {
    const whole = options.show === true || kind === 'publishable';
    const text = whole ? token : `${test ? 'T' : ''}sk_…${token.slice(-4)}`;
    const marks = `${test ? ', test environment' : ''}${disabled ? ', disabled' : ''}`;
    const line = options.json
      ? JSON.stringify({ tokenId, kind, test, token: text, disabled })
      : `${kind.padEnd(12)} ${text}  (id ${tokenId}${marks})`;
    process.stdout.write(`${line}\n`);
  }
}
