// `tapedeck rotate-key`: another data key for everything that is kept sealed.
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { openDatabase } from '../../store/catalog/database.ts';
import { Failure } from '../../store/base/failure.ts';
import { lockFolder, openFolder } from '../../store/catalog/folder.ts';
import { rotateKey, settleKey } from '../../store/work/keyRotation.ts';
import { migrate } from '../../store/catalog/migrate.ts';
import type { Settings } from '../../store/base/settings.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

export interface RotateOptions {
  readonly json?: boolean;
}

/** The server must not run: it holds the old key. */
export async function rotate(
  { json }: RotateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { encryptionKey } = settings;
  const fresh = encryptionKey === '' ? '' : await keyFrom(terminal.stdin);
  const folder = openFolder(settings.data);
  const unlock = lockFolder(folder);
  const database = openDatabase(folder.catalog);
  try {
    await migrate(database);
    if (encryptionKey === '') await settleKey(database, folder.key);
    const rotated = await rotateKey(database, folder.key, encryptionKey, fresh);
    const { credentials, tokens, webhooks } = rotated;
    const counts = `${tokens} tokens, ${credentials} credentials, ${webhooks} webhooks`;
    sayTo(terminal)(
      json === true ? JSON.stringify(rotated) : `sealed under the new key: ${counts}`,
    );
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
