// Where published files are: in a folder; with a bucket, there too, and the folder has copies of them.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Content, contentOf } from '../base/contents.ts';
import type { Disk } from '../base/disk.ts';
import { newUuid } from '../base/random.ts';
import { asked, type Bucket, type ToldOfBucket } from '../bucket/bucket.ts';
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
  bring(file: PublishedFile, anew?: boolean): Promise<void>;
  /** Gone already is gone. */
  remove(publicationId: string): Promise<void>;
  /** Files of before there was a bucket, and those of a folder that came back; how many were sent. */
  settle(live: readonly PublishedFile[]): Promise<number>;
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
  const bringing = new Map<string, Promise<void>>();
  const keep = ({ publicationId, ...content }: PublishedFile): Promise<void> => {
    const sent = bucket.put(`${FAR}${publicationId}`, pathOf(publicationId), content);
    return asked(told, 'send a published file', sent);
  };
  const fetch = async ({ publicationId, bytes, sha256 }: PublishedFile): Promise<void> => {
    const part = join(folder.temporary, newUuid());
    try {
      const there = bucket.get(`${FAR}${publicationId}`, part);
      if (!(await asked(told, 'fetch a published file', there))) return;
      const found = await contentOf(part);
      // Damage there is no reason to lose what is here.
      if (found.bytes !== bytes || found.sha256 !== sha256) return;
      await disk.syncFile(part);
      await disk.makeFolder(folder.published);
      await disk.rename(part, pathOf(publicationId));
    } finally {
      await disk.remove(part);
    }
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
      const missing = live.filter(
        ({ bytes, publicationId }) =>
          sizes.get(publicationId) !== bytes && existsSync(pathOf(publicationId)),
      );
      for (let at = 0; at < missing.length; at += SENT_AT_ONCE) {
        await Promise.all(missing.slice(at, at + SENT_AT_ONCE).map(keep));
      }
      return missing.length;
    },
  };
}
