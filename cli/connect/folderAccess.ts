// Connects a command to the data folder: opens it if no server uses it, else uses the API of the running
// server. Of several nodes it uses the serving one.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenWithText } from '../../store/accounts/accounts.ts';
import { systemClock } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Folder, isLocked, openFolder } from '../../store/catalog/folder.ts';
import { openSecrets } from '../../store/catalog/secrets/secrets.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Core } from '../../app/core.ts';
import { namedServer, readPem, type ServerEndpoint } from './serverEndpoint.ts';
import { servingNode } from './servingNode.ts';
import type { Stocks } from './terminal.ts';

/** The server that uses the folder, as written in its file in the folder. */
interface RunningServer {
  readonly base: string;
  /** Path of its certificate. */
  readonly certificate?: string;
  /** Fingerprint of its operator's token. */
  readonly operator?: string;
}

/** Returns the path of the file with the address of a folder's server. */
export const serverFile = (root: string): string => join(root, 'server.json');

export const writeServerFile = (root: string, server: RunningServer): Promise<void> =>
  writeFile(serverFile(root), `${JSON.stringify(server)}\n`, { mode: 0o600 });

export type Reached =
  | { readonly kind: 'core'; readonly core: Core }
  /** A server on this folder, or a remote one. */
  | {
      readonly kind: 'server';
      readonly server: ServerEndpoint;
      readonly folder: Folder | undefined;
      /** Fingerprint of its operator's token, if it is known. */
      readonly operator: string | undefined;
    };

/** Settings of a command, with the resources of its terminal. */
export type CommandSettings = Settings & { readonly stocks?: Stocks };

/**
 * Opens the folder or finds its server. Commands create no demo and do not listen. The server's modules are
 * imported only if no server runs: they take most of the time of a short command.
 */
export async function reachFolder(settings: CommandSettings): Promise<Reached> {
  const named = namedServer(settings);
  if (named !== undefined) {
    return { kind: 'server', server: named, folder: undefined, operator: undefined };
  }
  const folder = openFolder(settings.data);
  try {
    if (!isLocked(folder)) {
      const serving = await servingNode(settings);
      if (serving !== undefined) return { kind: 'server', folder, ...serving };
      const { openCore } = await import('../../app/core.ts');
      const quiet = { ...settings, demo: false, logLevel: 'error' };
      return { kind: 'core', core: await openCore(quiet, settings.stocks) };
    }
  } catch (error) {
    // Another process may have locked it meanwhile.
    if (!isLocked(folder)) throw error;
  }
  const text = await readFile(serverFile(settings.data), 'utf8');
  const { operator } = JSON.parse(text) as RunningServer;
  return { kind: 'server', server: parseServerFile(text), folder, operator };
}

/** Parses the server file of a folder. */
export function parseServerFile(text: string): ServerEndpoint {
  const { base, certificate } = JSON.parse(text) as RunningServer;
  return {
    base,
    ...(certificate === undefined ? {} : { ca: readPem(certificate), isPinned: true }),
  };
}

/**
 * Returns the secret token of a command's requests: the configured one, else the oldest of the first
 * account.
 * @throws Failure NoKey.
 */
export async function findSecret(folder: Folder | undefined, settings: Settings): Promise<string> {
  if (settings.token !== '') return settings.token;
  if (folder === undefined) {
    throw new Failure('NoKey', 'a named server needs a token: --token, or TAPEDECK_TOKEN');
  }
  return chooseSecret(await readTokens(folder, settings));
}

/** @throws Failure NoKey. */
export function chooseSecret(tokens: readonly TokenWithText[]): string {
  const secret = tokens.find(
    ({ accountId, disabled, kind, signed, test }) =>
      kind === 'secret' && !test && !disabled && !signed && accountId === tokens[0]?.accountId,
  );
  if (secret !== undefined) return secret.text;
  const how = 'tapedeck tokens create --kind secret creates one';
  throw new Failure('NoKey', `the first account has no secret token: ${how}`);
}

/** Reads the tokens while a server runs: a second process may read its catalog. */
export async function readTokens(
  folder: Folder,
  settings: Settings,
): Promise<readonly TokenWithText[]> {
  const { Accounts } = await import('../../store/accounts/accounts.ts');
  const { findCatalog } = await import('../../app/lake/lakePlaces.ts');
  const database = (await findCatalog(settings.database, folder)).openReadOnly();
  try {
    const secrets = openSecrets(settings.encryptionKey, folder.key);
    return await (await Accounts.open(database, secrets, systemClock)).tokens();
  } finally {
    await database.destroy();
  }
}

/** Refuses a missing folder, since its name may be mistyped. @throws Failure NotFound. */
export function requireFolder({ data, database, server }: Settings): void {
  const hasOne = database === undefined ? existsSync(join(data, 'catalog.db')) : existsSync(data);
  if (server !== '' || hasOne) return;
  const how = 'tapedeck serve creates one, and --server sets a remote server';
  throw new Failure('NotFound', `${noFolderSentence(data)}: ${how}`);
}

export const noFolderSentence = (folder: string): string => `there is no data folder ${folder}`;

/** The error of a command that needs a running server. */
export const noServerFailure = (): Failure =>
  new Failure('NotFound', 'no server runs on this data folder: tapedeck serve starts one');
