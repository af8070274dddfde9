// `tapedeck tokens`: what the first account may be reached by.
import type { TokenShown } from '../../store/accounts/accounts.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { reachFolder, readTokens } from '../reach/folderAccess.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

const OF_FOLDER = 'tokens are listed from the data folder, where their texts are';

export async function listTokens(
  options: { readonly show?: boolean; readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    if (reached.folder === undefined) throw new Failure('InvalidParameter', OF_FOLDER);
    print(await readTokens(reached.folder, settings), options, terminal);
    return;
  }
  print(await reached.core.services.accounts.tokens(), options, terminal);
  await reached.core.close();
}

function print(
  tokens: readonly TokenShown[],
  options: { readonly show?: boolean; readonly json?: boolean },
  terminal: Terminal,
): void {
  const say = sayTo(terminal);
  for (const { tokenId, kind, test, text: token, disabled } of tokens) {
    const whole = options.show === true || kind === 'publishable';
    const text = whole ? token : `${test ? 'T' : ''}sk_…${token.slice(-4)}`;
    const marks = `${test ? ', test environment' : ''}${disabled ? ', disabled' : ''}`;
    say(
      options.json
        ? JSON.stringify({ tokenId, kind, test, token: text, disabled })
        : `${kind.padEnd(12)} ${text}  (id ${tokenId}${marks})`,
    );
  }
}
