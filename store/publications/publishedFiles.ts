// Where published files are: in a folder; with a bucket, there too, and the folder has copies of them.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Content, contentOf } from '../base/contents.ts';
import type { Disk } from '../base/disk.ts';
import { asked, type Bucket, type ToldOfBucket } from '../files/bucket/bucket.ts';
import { fetchInto } from '../files/bucket/fetchInto.ts';
import type { Folder } from '../catalog/folder.ts';

/** Below the bucket's prefix. */
const FAR = 'published/';
/** Sent at once while a start looks which of them the bucket lacks. */
const SENT_AT_ONCE = 4;

export interface PublishedFile extends Content {
  readonly publicationId: string;
}

export interface PublishedFiles {
  pathOf(publicationId: string): string;
  /** Before a commit names it: from now on it outlives this disk, where there is a bucket. */
  keep(file: PublishedFile): Promise<void>;
  /** Has the copy again where it is gone or has another length; `anew`: whatever is there. */
  bring(file: PublishedFile, anew?: boolean): Promise<unknown>;
  /** Gone already is gone. */
  remove(publicationId: string): Promise<void>;
  /** Files of before there was a bucket, and those of a folder that came back; how many were sent. */
  settle(live: readonly PublishedFile[]): Promise<number>;
}

async function isWhole(path: string, { bytes, sha256 }: Content): Promise<boolean> {
  const found = await contentOf(path);
  return found.bytes === bytes && found.sha256 === sha256;
}

type Place = Pick<Folder, 'published' | 'temporary'>;

export const localPublished = ({ published }: Place, disk: Disk): PublishedFiles => ({
  pathOf: (publicationId) => join(published, publicationId),
  keep: async () => undefined,
  bring: async () => undefined,
  remove: (publicationId) => disk.remove(join(published, publicationId)),
  settle: async () => 0,
});

export function bucketPublished(
  folder: Place,
  disk: Disk,
  bucket: Bucket,
  told: ToldOfBucket,
): PublishedFiles {
  const local = localPublished(folder, disk);
  const { pathOf } = local;
  const bringing = new Map<string, Promise<unknown>>();
  const keep = ({ publicationId, ...content }: PublishedFile): Promise<void> => {
    const sent = bucket.put(`${FAR}${publicationId}`, pathOf(publicationId), content);
    return asked(told, 'send a published file', sent);
  };
  const fetch = (file: PublishedFile): Promise<boolean> => {
    const { publicationId } = file;
    const get = (part: string): Promise<boolean> =>
      asked(told, 'fetch a published file', bucket.get(`${FAR}${publicationId}`, part));
    // Damage there is no reason to lose what is here.
    const isRight = (part: string): Promise<boolean> => isWhole(part, file);
    const { temporary } = folder;
    return fetchInto(pathOf(publicationId), { disk, temporary, fetch: get, isRight });
  };
  return {
    pathOf,
    keep,
    bring: (file, anew = false) => {
      const { bytes, publicationId } = file;
      const isHere = statSync(pathOf(publicationId), { throwIfNoEntry: false })?.size === bytes;
      if (isHere && !anew) return Promise.resolve();
      const known = bringing.get(publicationId);
      if (known !== undefined) return known;
      const work = fetch(file).finally(() => bringing.delete(publicationId));
      bringing.set(publicationId, work);
      return work;
    },
    remove: async (publicationId) => {
      const gone = bucket.remove(`${FAR}${publicationId}`);
      await asked(told, 'remove a published file', gone);
      await local.remove(publicationId);
    },
    settle: async (live) => {
      const listed = await asked(told, 'list published files', bucket.list(FAR));
      const sizes = new Map(listed.map(({ bytes, path }) => [path.slice(FAR.length), bytes]));
      const missing = live.filter(({ bytes, publicationId }) => sizes.get(publicationId) !== bytes);
      return sendThose(missing, pathOf, keep);
    },
  };
}

/** Of these, those that are here, and are what was published; how many that were. */
async function sendThose(
  files: readonly PublishedFile[],
  pathOf: PublishedFiles['pathOf'],
  keep: PublishedFiles['keep'],
): Promise<number> {
  let sent = 0;
  const send = async (file: PublishedFile): Promise<void> => {
    const path = pathOf(file.publicationId);
    // Damage here must not become the copy that heals it.
    if (!existsSync(path) || !(await isWhole(path, file))) return;
    await keep(file);
    sent += 1;
  };
  for (let at = 0; at < files.length; at += SENT_AT_ONCE) {
    await Promise.all(files.slice(at, at + SENT_AT_ONCE).map(send));
  }
  return sent;
}
