// `tapedeck rotate-key`: encrypts all secrets with a new data key.
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { findCatalog } from '../../app/lake/lakePlaces.ts';
import { Failure } from '../../store/base/failure.ts';
import { isLocked, lockFolder, openFolder } from '../../store/catalog/folder.ts';
import { type RotationCounts, rotateKey, finishRotation } from '../../store/work/keyRotation.ts';
import { migrate } from '../../store/catalog/migrate.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withAdmin } from '../connect/adminApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

export interface RotateOptions {
  readonly json?: boolean;
}

/** Rotates through a running server, unless its key is a setting, which only a restart can change. */
export async function rotate(
  options: RotateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { encryptionKey } = settings;
  const isServed =
    settings.server !== '' || (encryptionKey === '' && isLocked(openFolder(settings.data)));
  const rotated = isServed
    ? await withAdmin(settings, (call) => call('POST', '/rotate-key'))
    : await rotateStopped(settings, terminal);
  const { credentials, rules, tokens, webhooks } = rotated as RotationCounts;
  const counts = `${tokens} tokens, ${credentials} credentials, ${webhooks} webhooks, ${rules} rules`;
  printTo(terminal)(
    options.json === true ? JSON.stringify(rotated) : `sealed under the new key: ${counts}`,
  );
}

async function rotateStopped(
  { data, database: named, encryptionKey }: Settings,
  terminal: Terminal,
): Promise<RotationCounts> {
  const fresh = encryptionKey === '' ? '' : await keyFrom(terminal.stdin);
  const folder = openFolder(data);
  const unlock = lockFolder(folder);
  const database = (await findCatalog(named, folder)).open();
  try {
    await migrate(database);
    if (encryptionKey === '') await finishRotation(database, folder.key);
    return await rotateKey(database, folder.key, encryptionKey, fresh);
  } finally {
    await database.destroy();
    unlock();
  }
}

async function keyFrom(stdin: Readable): Promise<string> {
  const hex = (await text(stdin)).trim();
  if (/^[0-9a-f]{64}$/i.test(hex)) return hex;
  throw new Failure('InvalidParameter', 'the new key on standard input must be 64 hex digits');
}
