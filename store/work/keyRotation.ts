// A new data key: every sealed text and every look-up hash under it, all at once or not at all. The
// new key's file stands beside the old one before the transaction, and takes its place after it.
import { existsSync, renameSync, rmSync } from 'node:fs';
import type { Database } from '../catalog/database.ts';
import { resealCredentials } from './dataSources.ts';
import { openSecrets, type Secrets } from '../catalog/secrets.ts';
import { resealRules } from './rules.ts';
import { resealWebhooks } from './webhooks.ts';

/** Row of the folder whose value is sealed under the key that the catalog was last rotated to. */
const CHECK = 'key_check';
const CHECK_TEXT = 'tapedeck';

interface Rotated {
  readonly tokens: number;
  readonly credentials: number;
  readonly webhooks: number;
  readonly rules: number;
}

const nextOf = (path: string): string => `${path}.next`;

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
    const told = {
      tokens: await resealTokens(transaction, old, fresh),
      credentials: await resealCredentials(transaction, old, fresh),
      webhooks: await resealWebhooks(transaction, old, fresh),
      rules: await resealRules(transaction, old, fresh),
    };
    await transaction.deleteFrom('folder').where('key', '=', CHECK).execute();
    const row = { key: CHECK, value: fresh.seal(CHECK_TEXT) };
    await transaction.insertInto('folder').values(row).execute();
    return told;
  });
  if (freshHex === '') renameSync(nextOf(path), path);
  return rotated;
}

/** Ends a rotation that was cut off: forward when the catalog has the new key, back when not. */
export async function settleKey(database: Database, path: string): Promise<void> {
  const next = nextOf(path);
  if (!existsSync(next)) return;
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', CHECK)
    .executeTakeFirst();
  if (row !== undefined && opens(openSecrets('', next), row.value)) renameSync(next, path);
  else rmSync(next);
}

function opens(secrets: Secrets, sealed: string): boolean {
  try {
    return secrets.unseal(sealed) === CHECK_TEXT;
  } catch {
    return false;
  }
}

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
