// Places published files: in a folder, or in a bucket of which the folder is a cache.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FileDigest, digestFile } from '../base/fileDigest.ts';
import type { Disk } from '../base/disk.ts';
import { callBucket, type Bucket, type BucketFaultListener } from '../files/bucket/bucket.ts';
import { fetchInto } from '../files/bucket/fetchInto.ts';
import type { Folder } from '../catalog/folder.ts';

/** Path below the bucket's prefix. */
const BUCKET_FOLDER = 'published/';
/** Concurrent uploads of missing files at start. */
const UPLOAD_CONCURRENCY = 4;

export interface PublishedFile extends FileDigest {
  readonly publicationId: string;
}

export interface PublishedFiles {
  pathOf(publicationId: string): string;
  /** Uploads a file before its commit, so that it survives the loss of the local disk. */
  upload(file: PublishedFile): Promise<void>;
  /** Fetches the local copy if it is missing or has another length; `anew`: in any case. */
  fetchLocal(file: PublishedFile, anew?: boolean): Promise<unknown>;
  /** Removes a file; a missing one is no error. */
  remove(publicationId: string): Promise<void>;
  /** Uploads files from before the bucket was configured or from a restored folder; returns how many. */
  uploadMissing(live: readonly PublishedFile[]): Promise<number>;
}

async function isWhole(path: string, { bytes, sha256 }: FileDigest): Promise<boolean> {
  const content = await digestFile(path);
  return content.bytes === bytes && content.sha256 === sha256;
}

type LocalFolders = Pick<Folder, 'published' | 'temporary'>;

export const localPublished = ({ published }: LocalFolders, disk: Disk): PublishedFiles => ({
  pathOf: (publicationId) => join(published, publicationId),
  upload: async () => undefined,
  fetchLocal: async () => undefined,
  remove: (publicationId) => disk.remove(join(published, publicationId)),
  uploadMissing: async () => 0,
});

export function bucketPublished(
  folder: LocalFolders,
  disk: Disk,
  bucket: Bucket,
  events: BucketFaultListener,
): PublishedFiles {
  const local = localPublished(folder, disk);
  const { pathOf } = local;
  const fetches = new Map<string, Promise<unknown>>();
  const keep = ({ publicationId, ...content }: PublishedFile): Promise<void> => {
    const sent = bucket.put(`${BUCKET_FOLDER}${publicationId}`, pathOf(publicationId), content);
    return callBucket(events, 'send a published file', sent);
  };
  const fetch = (file: PublishedFile): Promise<boolean> => {
    const { publicationId } = file;
    const get = (part: string): Promise<boolean> =>
      callBucket(
        events,
        'fetch a published file',
        bucket.get(`${BUCKET_FOLDER}${publicationId}`, part),
      );
    // A damaged copy in the bucket must not replace the local file.
    const isRight = (part: string): Promise<boolean> => isWhole(part, file);
    const { temporary } = folder;
    return fetchInto(pathOf(publicationId), { disk, temporary, fetch: get, isRight });
  };
  return {
    pathOf,
    upload: keep,
    fetchLocal: (file, anew = false) => {
      const { bytes, publicationId } = file;
      const isLocal = statSync(pathOf(publicationId), { throwIfNoEntry: false })?.size === bytes;
      if (isLocal && !anew) return Promise.resolve();
      const pending = fetches.get(publicationId);
      if (pending !== undefined) return pending;
      const work = fetch(file).finally(() => fetches.delete(publicationId));
      fetches.set(publicationId, work);
      return work;
    },
    remove: async (publicationId) => {
      const removal = bucket.remove(`${BUCKET_FOLDER}${publicationId}`);
      await callBucket(events, 'remove a published file', removal);
      await local.remove(publicationId);
    },
    uploadMissing: async (live) => {
      const listed = await callBucket(events, 'list published files', bucket.list(BUCKET_FOLDER));
      const sizes = new Map(
        listed.map(({ bytes, path }) => [path.slice(BUCKET_FOLDER.length), bytes]),
      );
      const missing = live.filter(({ bytes, publicationId }) => sizes.get(publicationId) !== bytes);
      return sendIntact(missing, pathOf, keep);
    },
  };
}

/** Uploads those files that exist locally and match their hash; returns how many. */
async function sendIntact(
  files: readonly PublishedFile[],
  pathOf: PublishedFiles['pathOf'],
  keep: PublishedFiles['upload'],
): Promise<number> {
  let sent = 0;
  const send = async (file: PublishedFile): Promise<void> => {
    const path = pathOf(file.publicationId);
    // A damaged local file must not become the copy that repairs it.
    if (!existsSync(path) || !(await isWhole(path, file))) return;
    await keep(file);
    sent += 1;
  };
  for (let at = 0; at < files.length; at += UPLOAD_CONCURRENCY) {
    await Promise.all(files.slice(at, at + UPLOAD_CONCURRENCY).map(send));
  }
  return sent;
}
