// Rotates the data key: reseals every sealed text and look-up hash in one transaction. The new key's file is
// written beside the old one before the transaction, and replaces it after it.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { Accounts } from '../accounts/accounts.ts';
import { loadCallers } from '../accounts/callers.ts';
import { Failure } from '../base/failure.ts';
import type { Database } from '../catalog/database.ts';
import { resealCredentials } from './dataSources.ts';
import { writeSecretFile } from '../catalog/secrets/secretFile.ts';
import {
  canUnseal,
  type LiveSecrets,
  createLiveSecrets,
  openSecrets,
  type Secrets,
} from '../catalog/secrets/secrets.ts';
import { resealRules } from './rules.ts';
import { resealWebhooks } from './webhooks.ts';

/** Row of the folder table, sealed under the key of the latest rotation. */
const CHECK = 'key_check';
const CHECK_TEXT = 'tapedeck';

export interface RotationCounts {
  readonly tokens: number;
  readonly credentials: number;
  readonly webhooks: number;
  readonly rules: number;
}

const nextKeyPath = (path: string): string => `${path}.next`;

/** Path of the former key after a rotation of a running server, until its next start. */
export const formerKeyPath = (path: string): string => `${path}.former`;

/**
 * Rotates the key of a stopped server.
 * @param path path of the key's file
 * @param oldHex, freshHex keys that are not in a file; empty to use the file
 */
export async function rotateKey(
  database: Database,
  path: string,
  oldHex: string,
  freshHex: string,
): Promise<RotationCounts> {
  const old = openSecrets(oldHex, path);
  if (freshHex === '') rmSync(nextKeyPath(path), { force: true });
  const fresh = openSecrets(freshHex, nextKeyPath(path));
  const rotated = await database.transaction().execute(async (transaction) => {
    const counts = await resealAll(transaction, old, fresh);
    await writeCheck(transaction, fresh);
    return counts;
  });
  if (freshHex === '') renameSync(nextKeyPath(path), path);
  return rotated;
}

interface LiveKey {
  readonly database: Database;
  /** Path of the key's file. */
  readonly path: string;
  readonly secrets: LiveSecrets;
  readonly accounts: Accounts;
}

/** Files whose key is being rotated. */
const rotating = new Set<string>();

/**
 * Rotates the key while the server runs. Texts that were sealed under the old key and are written later, or
 * are in memory, still open; the next start reseals them and removes the old key.
 * @throws Failure Conflict during another rotation.
 */
export async function rotateLive(live: LiveKey): Promise<RotationCounts> {
  const { path } = live;
  if (rotating.has(path)) throw new Failure('Conflict', 'the key is being rotated already');
  rotating.add(path);
  try {
    return await rotate(live);
  } finally {
    rotating.delete(path);
  }
}

async function rotate({ accounts, database, path, secrets }: LiveKey): Promise<RotationCounts> {
  rmSync(nextKeyPath(path), { force: true });
  writeSecretFile(formerKeyPath(path), readFileSync(path, 'utf8').trim());
  const fresh = openSecrets('', nextKeyPath(path));
  const [counts, callers] = await database.transaction().execute(async (transaction) => {
    const counts = await resealAll(transaction, secrets, fresh);
    await writeCheck(transaction, fresh);
    return [counts, await loadCallers(transaction, fresh)] as const;
  });
  // Both are replaced together: the hash under the key finds a token.
  secrets.rotateTo(fresh);
  accounts.adopt(callers);
  renameSync(nextKeyPath(path), path);
  await resealLate(database, secrets, fresh);
  await accounts.reload();
  return counts;
}

/** Reseals texts that were sealed under a former key and written after its rotation. */
const resealLate = (database: Database, either: Secrets, fresh: Secrets): Promise<unknown> =>
  database.transaction().execute((transaction) => resealAll(transaction, either, fresh));

const resealAll = async (
  transaction: Database,
  old: Secrets,
  fresh: Secrets,
): Promise<RotationCounts> => ({
  tokens: await resealTokens(transaction, old, fresh),
  credentials: await resealCredentials(transaction, old, fresh),
  webhooks: await resealWebhooks(transaction, old, fresh),
  rules: await resealRules(transaction, old, fresh),
});

async function writeCheck(transaction: Database, fresh: Secrets): Promise<void> {
  await transaction.deleteFrom('folder').where('key', '=', CHECK).execute();
  const row = { key: CHECK, value: fresh.seal(CHECK_TEXT) };
  await transaction.insertInto('folder').values(row).execute();
}

/** Finishes an interrupted rotation: completes it when the catalog has the new key, else undoes it. */
export async function finishRotation(database: Database, path: string): Promise<void> {
  const next = nextKeyPath(path);
  if (existsSync(next)) {
    const row = await database
      .selectFrom('folder')
      .select('value')
      .where('key', '=', CHECK)
      .executeTakeFirst();
    if (row !== undefined && opensCheck(openSecrets('', next), row.value)) renameSync(next, path);
    else rmSync(next);
  }
  if (!existsSync(formerKeyPath(path))) return;
  const fresh = openSecrets('', path);
  await resealLate(database, createLiveSecrets(fresh, openSecrets('', formerKeyPath(path))), fresh);
  rmSync(formerKeyPath(path));
}

/**
 * Checks that a catalog was sealed under a key.
 * @param hex empty for the key's file, or the file of an interrupted rotation
 * @throws Failure Conflict for a wrong key: no sealed text could be read
 */
export async function checkKey(database: Database, hex: string, path: string): Promise<void> {
  const token = await database
    .selectFrom('token')
    .select(['hash', 'kind', 'stored'])
    .orderBy('token_id')
    .executeTakeFirst();
  if (token === undefined) return;
  const files = [path, nextKeyPath(path), formerKeyPath(path)].filter((file) => existsSync(file));
  const keys = hex === '' ? files.map((file) => openSecrets('', file)) : [openSecrets(hex, path)];
  const { hash, kind, stored } = token;
  const fits = (key: Secrets): boolean =>
    kind === 'secret' ? canUnseal(key, stored) : key.hash(stored) === hash;
  if (keys.some(fits)) return;
  const name = hex === '' ? `the key file ${path}` : 'TAPEDECK_ENCRYPTION_KEY';
  const state = files.length === 0 && hex === '' ? 'is not there' : 'is not the key of the catalog';
  const rule =
    'set TAPEDECK_ENCRYPTION_KEY to the key that the server has, or leave it out for its key file';
  throw new Failure('Conflict', `${name} ${state}: nothing was moved; ${rule}`);
}

const opensCheck = (secrets: Secrets, sealed: string): boolean =>
  canUnseal(secrets, sealed) && secrets.unseal(sealed) === CHECK_TEXT;

/** Reseals tokens. Hashes of replaced tokens can't be recomputed: such tokens become unknown. */
async function resealTokens(transaction: Database, old: Secrets, fresh: Secrets): Promise<number> {
  const rows = await transaction
    .selectFrom('token')
    .select(['token_id', 'kind', 'stored', 'signing_secret'])
    .execute();
  for (const { kind, signing_secret, stored, token_id } of rows) {
    const text = kind === 'secret' ? old.unseal(stored) : stored;
    const signing = signing_secret === null ? null : fresh.seal(old.unseal(signing_secret));
    await transaction
      .updateTable('token')
      .set({
        hash: fresh.hash(text),
        stored: kind === 'secret' ? fresh.seal(text) : text,
        signing_secret: signing,
      })
      .where('token_id', '=', token_id)
      .execute();
  }
  await transaction.deleteFrom('retired_token').execute();
  return rows.length;
}
