// Caches copies of lake files for remote execution. Each copy is fetched from the bucket and verified against
// the size and hash that the bucket reports, before it is read.
import { mkdir, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { digestFile } from '../base/fileDigest.ts';
import { localDisk } from '../base/disk.ts';
import type { Bucket } from '../files/bucket/bucket.ts';
import { lakeKey } from '../files/bucket/bucketPlace.ts';
import { FileCache } from '../files/bucket/fileCache.ts';

export interface FileCopies {
  /** Folder of the copies, ending with a separator. */
  readonly lake: string;
  /**
   * Fetches these files and pins them until the returned function is called.
   * @throws Error when the bucket lacks one of them, or its size or hash differs
   */
  readonly hold: (paths: readonly string[]) => Promise<() => void>;
  /** Evicts copies of removed files. */
  readonly cache: Pick<FileCache, 'clear' | 'remove'>;
}

/** @param folder is emptied first: copies of an earlier run are not verified */
export async function openFileCopies(
  folder: string,
  bucket: Bucket,
  bytesMax: number,
  onFault: (reason: unknown) => void,
): Promise<FileCopies> {
  await rm(folder, { recursive: true, force: true });
  const [root, temporary] = [join(folder, 'lake'), join(folder, 'fetching')];
  for (const path of [root, temporary]) await mkdir(path, { recursive: true });
  const fetch = async (path: string, target: string): Promise<boolean> => {
    if (!(await bucket.get(lakeKey(path), target))) return false;
    const stored = await bucket.head(lakeKey(path));
    const fetched = await digestFile(target);
    if (stored === undefined || stored.bytes !== fetched.bytes) return false;
    return stored.sha256 === undefined || stored.sha256 === fetched.sha256;
  };
  const cache = await FileCache.open({
    root,
    temporary,
    disk: localDisk,
    bytesMax,
    fetch,
    onFault,
  });
  const hold = async (paths: readonly string[]): Promise<() => void> => {
    const release = await cache.pin(paths);
    if (paths.every((path) => cache.has(path))) return release;
    release();
    throw new Error('a file is missing in the bucket, or differs from its size or hash there');
  };
  return { lake: `${root}${sep}`, hold, cache: cache };
}
