// How a command reaches the data folder: opened whole when no server holds it, or, beside a
// running server, through that server's own API. Of several nodes the one that serves is asked.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenShown } from '../../store/accounts/accounts.ts';
import { systemClock } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Folder, isHeld, openFolder } from '../../store/catalog/folder.ts';
import { openSecrets } from '../../store/catalog/secrets/secrets.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Core } from '../../app/core.ts';
import { namedServer, pemOf, type ServerDoor } from './serverDoor.ts';
import { servingNode } from './servingNode.ts';
import type { Stocks } from './terminal.ts';

/** A server that holds the folder, as its file in the folder tells. */
interface RunningServer {
  readonly base: string;
  /** Path of the certificate that it shows. */
  readonly certificate?: string;
  /** Fingerprint of its operator's token. */
  readonly operator?: string;
}

/** Where the server of a folder tells how it is reached. */
export const serverFile = (root: string): string => join(root, 'server.json');

export const tellServer = (root: string, server: RunningServer): Promise<void> =>
  writeFile(serverFile(root), `${JSON.stringify(server)}\n`, { mode: 0o600 });

export type Reached =
  | { readonly kind: 'core'; readonly core: Core }
  /** Beside the folder, or far away. */
  | {
      readonly kind: 'server';
      readonly server: ServerDoor;
      readonly folder: Folder | undefined;
      /** Fingerprint of its operator's token, where a folder tells it. */
      readonly operator: string | undefined;
    };

/** As a command reads them, with what its terminal has. */
export type CommandSettings = Settings & { readonly stocks?: Stocks };

/**
 * Commands make no demo and listen nowhere. The server's modules are loaded only where no server runs:
 * they are most of the time that a short command takes.
 */
export async function reachFolder(settings: CommandSettings): Promise<Reached> {
  const named = namedServer(settings);
  if (named !== undefined) {
    return { kind: 'server', server: named, folder: undefined, operator: undefined };
  }
  const folder = openFolder(settings.data);
  try {
    if (!isHeld(folder)) {
      const serving = await servingNode(settings);
      if (serving !== undefined) return { kind: 'server', folder, ...serving };
      const { openCore } = await import('../../app/core.ts');
      const quiet = { ...settings, demo: false, logLevel: 'error' };
      return { kind: 'core', core: await openCore(quiet, settings.stocks) };
    }
  } catch (error) {
    // Another one may have taken it meanwhile.
    if (!isHeld(folder)) throw error;
  }
  const text = await readFile(serverFile(settings.data), 'utf8');
  const { operator } = JSON.parse(text) as RunningServer;
  return { kind: 'server', server: doorIn(text), folder, operator };
}

/** The server that its file in a folder tells of. */
export function doorIn(text: string): ServerDoor {
  const { base, certificate } = JSON.parse(text) as RunningServer;
  return { base, ...(certificate === undefined ? {} : { ca: pemOf(certificate), isPinned: true }) };
}

/**
 * The secret token by which a command speaks to a server: the one that was given, else the oldest of the
 * first account.
 * @throws Failure NoKey.
 */
export async function secretFor(folder: Folder | undefined, settings: Settings): Promise<string> {
  if (settings.token !== '') return settings.token;
  if (folder === undefined) {
    throw new Failure('NoKey', 'a server that is named needs a token: --token, or TAPEDECK_TOKEN');
  }
  return secretAmong(await readTokens(folder, settings));
}

/** @throws Failure NoKey. */
export function secretAmong(tokens: readonly TokenShown[]): string {
  const secret = tokens.find(
    ({ accountId, disabled, kind, signed, test }) =>
      kind === 'secret' && !test && !disabled && !signed && accountId === tokens[0]?.accountId,
  );
  if (secret !== undefined) return secret.text;
  const how = 'tapedeck tokens create --kind secret makes one';
  throw new Failure('NoKey', `the first account has no secret token: ${how}`);
}

/** Tokens beside a running server: a second process may read its catalog. */
export async function readTokens(
  folder: Folder,
  settings: Settings,
): Promise<readonly TokenShown[]> {
  const { Accounts } = await import('../../store/accounts/accounts.ts');
  const { catalogOf } = await import('../../app/lake/lakePlaces.ts');
  const database = (await catalogOf(settings.database, folder)).openReading();
  try {
    const secrets = openSecrets(settings.encryptionKey, folder.key);
    return await (await Accounts.open(database, secrets, systemClock)).tokens();
  } finally {
    await database.destroy();
  }
}

/** A name that was mistyped is no folder to be made. @throws Failure NotFound. */
export function refuseNoFolder({ data, database, server }: Settings): void {
  const hasOne = database === undefined ? existsSync(join(data, 'catalog.db')) : existsSync(data);
  if (server !== '' || hasOne) return;
  const how = 'tapedeck serve makes one, and --server names a server elsewhere';
  throw new Failure('NotFound', `there is no data folder ${data}: ${how}`);
}
