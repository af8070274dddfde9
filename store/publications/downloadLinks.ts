// Creates links that download one file once: a random secret of 256 bits, stored as its hash. The link and
// its claim are one row, so that one of several concurrent claims succeeds even across crashes; the download
// count grows in the same transaction.
import { createHash } from 'node:crypto';
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';
import { randomHex } from '../base/random.ts';

/** SPEC.md "Limits". */
export const LINK_LIFE_MS = 60_000;
/** Limit of unused live links of one account. */
const LINKS_MAX = 10_000;

const SECRET = /^[0-9a-f]{64}$/;

export interface DownloadLink {
  readonly hash: string;
  readonly publicationId: string;
  readonly accountId: string;
  readonly expiresMs: number;
  readonly claimed: boolean;
}

interface LinkOrder {
  readonly publicationId: string;
  readonly typeId: string;
  readonly accountId: string;
  readonly nowMs: number;
}

/** Stores a new link and returns its secret. @throws Failure Busy at `LINKS_MAX`. */
export async function createLink(database: Database, order: LinkOrder): Promise<string> {
  const { accountId, nowMs, publicationId, typeId } = order;
  const secret = randomHex(32);
  await database.transaction().execute(async (inside) => {
    await inside.deleteFrom('download_link').where('expires_ms', '<=', nowMs).execute();
    const { count } = await inside
      .selectFrom('download_link')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('account_id', '=', accountId)
      .where('claimed_ms', 'is', null)
      .executeTakeFirstOrThrow();
    if (Number(count) >= LINKS_MAX) {
      const rule = `${LINKS_MAX} addresses of an account wait to be used at most (LINKS_MAX)`;
      throw new Failure('Busy', `${rule}: use them, or try again within a minute`);
    }
    const row = {
      link_hash: hashSecret(secret),
      publication_id: publicationId,
      type_id: typeId,
      account_id: accountId,
      expires_ms: nowMs + LINK_LIFE_MS,
      claimed_ms: null,
    };
    await inside.insertInto('download_link').values(row).execute();
  });
  return secret;
}

/** Finds the live link of a secret; undefined for an expired or unknown one. */
export async function findLink(
  database: Database,
  secret: string,
  nowMs: number,
): Promise<DownloadLink | undefined> {
  if (!SECRET.test(secret)) return undefined;
  const row = await database
    .selectFrom('download_link')
    .selectAll()
    .where('link_hash', '=', hashSecret(secret))
    .where('expires_ms', '>', nowMs)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    hash: row.link_hash,
    publicationId: row.publication_id,
    accountId: row.account_id,
    expiresMs: row.expires_ms,
    claimed: row.claimed_ms !== null,
  };
}

/** Claims the link and counts the download; false if it was claimed before. */
export const claimLink = (
  database: Database,
  { hash }: Pick<DownloadLink, 'hash'>,
  nowMs: number,
): Promise<boolean> =>
  database.transaction().execute(async (inside) => {
    const claimed = await inside
      .updateTable('download_link')
      .set({ claimed_ms: nowMs })
      .where('link_hash', '=', hash)
      .where('claimed_ms', 'is', null)
      .where('expires_ms', '>', nowMs)
      .returning('type_id')
      .executeTakeFirst();
    if (claimed === undefined) return false;
    await inside
      .updateTable('file_type')
      .set(({ eb }) => ({ downloads: eb('downloads', '+', 1) }))
      .where('type_id', '=', claimed.type_id)
      .execute();
    return true;
  });

/** Hashes without a key: a secret of 256 random bits can't be guessed from its hash. */
const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');
