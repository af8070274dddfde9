// Checks published files for damage, each in its turn: a damaged one is not served.
import { existsSync } from 'node:fs';
import { newUuid } from '../../store/base/random.ts';
import type { HashFile } from '../../store/base/fileDigest.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { DamagedPublications } from '../../store/publications/damagedPublications.ts';
import type { PublishedFile, PublishedFiles } from '../../store/publications/publishedFiles.ts';
import type { DamagedFile, FilesVerdict } from './filesVerdict.ts';

interface PublishedParts {
  readonly database: Database;
  readonly damagedPublications: DamagedPublications;
  readonly hash: HashFile;
  readonly publishedFiles: PublishedFiles;
}

/** Interval between two checks of a file: a week. */
export const CHECK_AFTER_MS = 7 * 86_400_000;
/** Files of one list. */
const LISTED_MAX = 1_000;

interface PublishedCheck {
  /** Checks the next one; returns its bytes, or undefined when none is due. */
  readonly look: (nowMs: number) => Promise<number | undefined>;
  readonly all: () => Promise<FilesVerdict>;
  readonly state: () => { readonly checkedFiles: number; readonly checkedBytes: number };
}

/**
 * Makes one round a week, from another start after each restart: so it reaches all files however short it
 * runs.
 */
export function makePublishedCheck(parts: PublishedParts): PublishedCheck {
  const start = newUuid();
  let [from, isRound, restsUntilMs] = [start, false, 0];
  let [checkedFiles, checkedBytes] = [0, 0];
  const check = async (file: PublishedFile): Promise<readonly DamagedFile[]> => {
    const what = await checkPublished(file, parts);
    checkedFiles += 1;
    checkedBytes += file.bytes;
    const { publicationId: path, sha256 } = file;
    return what === undefined ? [] : [{ folder: 'published', path, what, sha256 }];
  };
  return {
    look: async (nowMs) => {
      if (nowMs < restsUntilMs && restsUntilMs - nowMs <= CHECK_AFTER_MS) return undefined;
      let [file] = await publishedFrom(parts, from, 1);
      if (file === undefined && !isRound) {
        isRound = true;
        [file] = await publishedFrom(parts, '', 1);
      }
      if (file === undefined || (isRound && file.publicationId > start)) {
        [from, isRound, restsUntilMs] = [start, false, nowMs + CHECK_AFTER_MS];
        return undefined;
      }
      from = file.publicationId;
      await check(file);
      return file.bytes;
    },
    all: async () => {
      const damaged: DamagedFile[] = [];
      let [files, bytes, after] = [0, 0, ''];
      for (;;) {
        const listed = await publishedFrom(parts, after, LISTED_MAX);
        for (const file of listed) {
          damaged.push(...(await check(file)));
          bytes += file.bytes;
        }
        files += listed.length;
        const last = listed.at(-1);
        if (last === undefined) return { files, bytes, damaged };
        after = last.publicationId;
      }
    },
    state: () => ({ checkedFiles, checkedBytes }),
  };
}

/** Published files that are not ended, from an id on, by id. */
async function publishedFrom(
  { database }: Pick<PublishedParts, 'database'>,
  from: string,
  most: number,
): Promise<readonly PublishedFile[]> {
  const rows = await database
    .selectFrom('publication')
    .select(['publication_id', 'bytes', 'sha256'])
    .where('committed_ms', 'is not', null)
    .where('ended_ms', 'is', null)
    .where('publication_id', '>', from)
    .orderBy('publication_id')
    .limit(most)
    .execute();
  return rows.map(({ bytes, publication_id: publicationId, sha256 }) => ({
    publicationId,
    bytes,
    sha256,
  }));
}

/**
 * Describes the damage, a sentence without a subject; undefined when it is intact, or was ended meanwhile.
 */
async function checkPublished(
  file: PublishedFile,
  { damagedPublications: damaged, database, hash, publishedFiles }: PublishedParts,
): Promise<string | undefined> {
  const { publicationId } = file;
  const path = publishedFiles.pathOf(publicationId);
  await publishedFiles.fetchLocal(file);
  let what = await findFault(path, file, hash);
  if (what !== undefined) {
    // A damaged local copy is downloaded again.
    await publishedFiles.fetchLocal(file, true);
    what = await findFault(path, file, hash);
  }
  if (what === undefined) {
    damaged.markSound(publicationId);
    return undefined;
  }
  const row = await database
    .selectFrom('publication')
    .select('ended_ms')
    .where('publication_id', '=', publicationId)
    .executeTakeFirst();
  if (row === undefined || row.ended_ms !== null) return undefined;
  damaged.markDamaged(publicationId);
  return what;
}

async function findFault(
  path: string,
  { bytes, sha256 }: PublishedFile,
  hash: HashFile,
): Promise<string | undefined> {
  if (!existsSync(path)) return 'is gone';
  const content = await hash(path, bytes);
  if (content.bytes !== bytes) return `has ${content.bytes} bytes, not ${bytes}`;
  return content.sha256 === sha256 ? undefined : 'is not what was published: its hash differs';
}
