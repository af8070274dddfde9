// Copies of the lake's files for processes that are lent: fetched from the bucket, and compared with what it
// says of them before anything reads them.
import { mkdir, rm } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { contentOf } from '../base/contents.ts';
import { localDisk } from '../base/disk.ts';
import type { Bucket } from '../files/bucket/bucket.ts';
import { inLake } from '../files/bucket/bucketPlace.ts';
import { FileCache } from '../files/bucket/fileCache.ts';

export interface Copies {
  /** Where they are, with a separator at its end. */
  readonly lake: string;
  /**
   * Has copies of these files, whole, until the returned function is called.
   * @throws Error where the bucket has one of them no more, or not as it says
   */
  readonly hold: (paths: readonly string[]) => Promise<() => void>;
  /** Copies of files that are no more. */
  readonly gone: Pick<FileCache, 'clear' | 'drop'>;
}

/** @param folder becomes empty first: copies of another time are not known */
export async function copiesIn(
  folder: string,
  bucket: Bucket,
  bytesMax: number,
  onFault: (reason: unknown) => void,
): Promise<Copies> {
  await rm(folder, { recursive: true, force: true });
  const [root, temporary] = [join(folder, 'lake'), join(folder, 'fetching')];
  for (const one of [root, temporary]) await mkdir(one, { recursive: true });
  const fetch = async (path: string, target: string): Promise<boolean> => {
    if (!(await bucket.get(inLake(path), target))) return false;
    const said = await bucket.look(inLake(path));
    const found = await contentOf(target);
    if (said === undefined || said.bytes !== found.bytes) return false;
    return said.sha256 === undefined || said.sha256 === found.sha256;
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
    throw new Error('a file is not in the bucket as it is said to be');
  };
  return { lake: `${root}${sep}`, hold, gone: cache };
}
