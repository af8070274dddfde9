// `tapedeck tokens`: lists tokens.
import type { TokenWithText } from '../../store/accounts/accounts.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withAdmin } from '../connect/adminApi.ts';
import { reachFolder, readTokens } from '../connect/folderAccess.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

export interface ListTokensOptions {
  readonly account?: string;
  readonly show?: boolean;
  readonly json?: boolean;
}

/** A listed token: a secret one shows only its last characters, unless it is requested in full. */
interface Listed {
  readonly tokenId: string;
  readonly kind: string;
  readonly name: string;
  readonly test: boolean;
  readonly token: string;
  readonly disabled: boolean;
}

const OF_FOLDER =
  'tokens are listed from the data folder, which has their texts; use --account to query a server';

export async function listTokens(
  options: ListTokensOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const tokens =
    options.account === undefined
      ? (await readAll(settings)).map((token) => toListed(token, options.show === true))
      : await requestTokens(options.account, options, settings);
  const print = printTo(terminal);
  for (const { disabled, kind, name, test, token, tokenId } of tokens) {
    const listed = { tokenId, kind, name, test, token, disabled };
    print(options.json === true ? JSON.stringify(listed) : lineOf(listed));
  }
}

async function readAll(settings: Settings): Promise<readonly TokenWithText[]> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'server') {
    if (reached.folder === undefined) throw new Failure('InvalidParameter', OF_FOLDER);
    return readTokens(reached.folder, settings);
  }
  try {
    return await reached.core.services.accounts.tokens();
  } finally {
    await reached.core.close();
  }
}

async function requestTokens(
  accountId: string,
  { show }: ListTokensOptions,
  settings: Settings,
): Promise<readonly Listed[]> {
  if (show === true) {
    const rule = 'shows tokens of the data folder: it can not be used with --account';
    throw new Failure('InvalidParameter', `--show ${rule}`);
  }
  const path = `/accounts/${encodeURIComponent(accountId)}/tokens`;
  return withAdmin(settings, async (call) => (await call('GET', path)) as readonly Listed[]);
}

function toListed({ text, ...rest }: TokenWithText, isWhole: boolean): Listed {
  const { kind, test } = rest;
  const whole = isWhole || kind === 'publishable';
  return { ...rest, token: whole ? text : `${test ? 'T' : ''}sk_…${text.slice(-4)}` };
}

function lineOf({ disabled, kind, name, test, token, tokenId }: Listed): string {
  const marks = [
    `id ${tokenId}`,
    ...(name === '' ? [] : [name]),
    ...(test ? ['test environment'] : []),
    ...(disabled ? ['disabled'] : []),
  ];
  return `${kind.padEnd(12)} ${token}  (${marks.join(', ')})`;
}
