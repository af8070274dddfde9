// A new data key: every sealed text and every look-up hash under it, all at once or not at all. The
// new key's file stands beside the old one before the transaction, and takes its place after it.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { Accounts } from '../accounts/accounts.ts';
import { loadCallers } from '../accounts/callers.ts';
import { Failure } from '../base/failure.ts';
import type { Database } from '../catalog/database.ts';
import { resealCredentials } from './dataSources.ts';
import { writeSecretFile } from '../catalog/secrets/secretFile.ts';
import {
  doesOpen,
  type LiveSecrets,
  liveSecrets,
  openSecrets,
  type Secrets,
} from '../catalog/secrets/secrets.ts';
import { resealRules } from './rules.ts';
import { resealWebhooks } from './webhooks.ts';

/** Row of the folder whose value is sealed under the key that the catalog was last rotated to. */
const CHECK = 'key_check';
const CHECK_TEXT = 'tapedeck';

export interface Rotated {
  readonly tokens: number;
  readonly credentials: number;
  readonly webhooks: number;
  readonly rules: number;
}

const nextOf = (path: string): string => `${path}.next`;

/** The key before a rotation of a running server, until its next start. */
export const formerOf = (path: string): string => `${path}.former`;

/**
 * @param path of the key's file; its server must not run
 * @param oldHex, freshHex keys that no file holds; empty for the file's
 */
export async function rotateKey(
  database: Database,
  path: string,
  oldHex: string,
  freshHex: string,
): Promise<Rotated> {
  const old = openSecrets(oldHex, path);
  if (freshHex === '') rmSync(nextOf(path), { force: true });
  const fresh = openSecrets(freshHex, nextOf(path));
  const rotated = await database.transaction().execute(async (transaction) => {
    const told = await resealAll(transaction, old, fresh);
    await writeCheck(transaction, fresh);
    return told;
  });
  if (freshHex === '') renameSync(nextOf(path), path);
  return rotated;
}

interface LiveKey {
  readonly database: Database;
  /** Of the key's file. */
  readonly path: string;
  readonly secrets: LiveSecrets;
  readonly accounts: Accounts;
}

/** Files whose key is being rotated. */
const rotating = new Set<string>();

/**
 * The same while the server runs, which serves on. What was sealed under the old key before and is written
 * after it, and what memory holds, still opens; the next start seals that too, and forgets the old key.
 * @throws Failure Conflict beside another rotation.
 */
export async function rotateLive(live: LiveKey): Promise<Rotated> {
  const { path } = live;
  if (rotating.has(path)) throw new Failure('Conflict', 'the key is being rotated already');
  rotating.add(path);
  try {
    return await rotated(live);
  } finally {
    rotating.delete(path);
  }
}

async function rotated({ accounts, database, path, secrets }: LiveKey): Promise<Rotated> {
  rmSync(nextOf(path), { force: true });
  writeSecretFile(formerOf(path), readFileSync(path, 'utf8').trim());
  const fresh = openSecrets('', nextOf(path));
  const [told, callers] = await database.transaction().execute(async (transaction) => {
    const counts = await resealAll(transaction, secrets, fresh);
    await writeCheck(transaction, fresh);
    return [counts, await loadCallers(transaction, fresh)] as const;
  });
  // Both at once: a token is looked up by its hash under the key.
  secrets.become(fresh);
  accounts.adopt(callers);
  renameSync(nextOf(path), path);
  await resealLate(database, secrets, fresh);
  await accounts.reload();
  return told;
}

/** What was sealed under a former key and written after its rotation. */
const resealLate = (database: Database, either: Secrets, fresh: Secrets): Promise<unknown> =>
  database.transaction().execute((transaction) => resealAll(transaction, either, fresh));

const resealAll = async (
  transaction: Database,
  old: Secrets,
  fresh: Secrets,
): Promise<Rotated> => ({
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

/** Ends a rotation that was cut off: forward when the catalog has the new key, back when not. */
export async function settleKey(database: Database, path: string): Promise<void> {
  const next = nextOf(path);
  if (existsSync(next)) {
    const row = await database
      .selectFrom('folder')
      .select('value')
      .where('key', '=', CHECK)
      .executeTakeFirst();
    if (row !== undefined && opens(openSecrets('', next), row.value)) renameSync(next, path);
    else rmSync(next);
  }
  if (!existsSync(formerOf(path))) return;
  const fresh = openSecrets('', path);
  await resealLate(database, liveSecrets(fresh, openSecrets('', formerOf(path))), fresh);
  rmSync(formerOf(path));
}

/**
 * Whether a catalog was sealed under a key.
 * @param hex empty: the key's file, or one of a rotation that was cut off
 * @throws Failure Conflict where it was not: nothing that is sealed in it could be read
 */
export async function checkKey(database: Database, hex: string, path: string): Promise<void> {
  const token = await database
    .selectFrom('token')
    .select(['hash', 'kind', 'stored'])
    .orderBy('token_id')
    .executeTakeFirst();
  if (token === undefined) return;
  const files = [path, nextOf(path), formerOf(path)].filter((file) => existsSync(file));
  const keys = hex === '' ? files.map((file) => openSecrets('', file)) : [openSecrets(hex, path)];
  const { hash, kind, stored } = token;
  const fits = (key: Secrets): boolean =>
    kind === 'secret' ? doesOpen(key, stored) : key.hash(stored) === hash;
  if (keys.some(fits)) return;
  const name = hex === '' ? `the key file ${path}` : 'TAPEDECK_ENCRYPTION_KEY';
  const state = files.length === 0 && hex === '' ? 'is not there' : 'is not the key of the catalog';
  const rule =
    'set TAPEDECK_ENCRYPTION_KEY to the key that the server has, or leave it out for its key file';
  throw new Failure('Conflict', `${name} ${state}: nothing was moved; ${rule}`);
}

const opens = (secrets: Secrets, sealed: string): boolean =>
  doesOpen(secrets, sealed) && secrets.unseal(sealed) === CHECK_TEXT;

/** Hashes of tokens that were rotated away can't be made anew: such tokens become unknown ones. */
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
