// How a command reaches the data folder: opened whole when no server holds it, or, beside a
// running server, through that server's own API.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenShown } from '../../store/accounts/accounts.ts';
import { systemClock } from '../../store/base/clock.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Folder, lockFolder, openFolder } from '../../store/catalog/folder.ts';
import { openSecrets } from '../../store/catalog/secrets.ts';
import type { Settings } from '../../store/base/settings.ts';
import type { Core } from '../../app/core.ts';

/** A server that holds the folder, as its file in the folder tells. */
interface RunningServer {
  readonly base: string;
}

const serverFile = (root: string): string => join(root, 'server.json');

export const tellServer = (root: string, server: RunningServer): Promise<void> =>
  writeFile(serverFile(root), `${JSON.stringify(server)}\n`, { mode: 0o600 });

export type Reached =
  | { readonly kind: 'core'; readonly core: Core }
  | { readonly kind: 'server'; readonly server: RunningServer; readonly folder: Folder };

/**
 * Commands make no demo and listen nowhere. The server's modules are loaded only where no server runs:
 * they are most of the time that a short command takes.
 */
export async function reachFolder(settings: Settings): Promise<Reached> {
  const folder = openFolder(settings.data);
  try {
    lockFolder(folder)();
    const { openCore } = await import('../../app/core.ts');
    const quiet = { ...settings, demo: false, logLevel: 'error' };
    return { kind: 'core', core: await openCore(quiet) };
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'Busy') throw error;
    const text = await readFile(serverFile(settings.data), 'utf8');
    return { kind: 'server', server: JSON.parse(text) as RunningServer, folder };
  }
}

/** Tokens beside a running server: SQLite lets a second process read. */
export async function readTokens(
  folder: Folder,
  settings: Settings,
): Promise<readonly TokenShown[]> {
  const { Accounts } = await import('../../store/accounts/accounts.ts');
  const { openDatabase } = await import('../../store/catalog/database.ts');
  const database = openDatabase(folder.catalog);
  try {
    const secrets = openSecrets(settings.encryptionKey, folder.key);
    return await (await Accounts.open(database, secrets, systemClock)).tokens();
  } finally {
    await database.destroy();
  }
}

/** @throws Failure Busy: the command changes what only the running server may change. */
export async function needCore(settings: Settings): Promise<Core> {
  const reached = await reachFolder(settings);
  if (reached.kind === 'core') return reached.core;
  throw new Failure(
    'Busy',
    `a server holds the data folder (${reached.server.base}): stop it first`,
  );
}
