// Caches copies of lake files for remote execution. Each copy is fetched from the bucket and verified against
// the size and hash that the bucket reports, before it is read.
import { mkdir, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { contentOf } from '../base/contents.ts';
import { localDisk } from '../base/disk.ts';
import type { Bucket } from '../files/bucket/bucket.ts';
import { inLake } from '../files/bucket/bucketPlace.ts';
import { FileCache } from '../files/bucket/fileCache.ts';

export interface Copies {
  /** Folder of the copies, ending with a separator. */
  readonly lake: string;
  /**
   * Fetches these files and pins them until the returned function is called.
   * @throws Error when the bucket lacks one of them, or its size or hash differs
   */
  readonly hold: (paths: readonly string[]) => Promise<() => void>;
  /** Evicts copies of removed files. */
  readonly gone: Pick<FileCache, 'clear' | 'drop'>;
}

/** @param folder is emptied first: copies of an earlier run are not verified */
export async function copiesIn(
  folder: string,
  bucket: Bucket,
  bytesMax: number,
  onFault: (reason: unknown) => void,
): Promise<Copies> {
  await rm(folder, { recursive: true, force: true });
  const [root, temporary] = [join(folder, 'lake'), join(folder, 'fetching')];
  for (const path of [root, temporary]) await mkdir(path, { recursive: true });
  const fetch = async (path: string, target: string): Promise<boolean> => {
    if (!(await bucket.get(inLake(path), target))) return false;
    const stored = await bucket.look(inLake(path));
    const fetched = await contentOf(target);
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
    const release = await cache.hold(paths);
    if (paths.every((path) => cache.has(path))) return release;
    release();
    throw new Error('a file is missing in the bucket, or differs from its size or hash there');
  };
  return { lake: `${root}${sep}`, hold, gone: cache };
}
