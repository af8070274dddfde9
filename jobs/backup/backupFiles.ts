// Files on their way into a backup and out of it: linked or copied, read once, hashed as they go.
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CHUNK_BYTES, type Content, counting } from '../../store/base/contents.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure, isDiskFull, reasonOf } from '../../store/base/failure.ts';

/** Copies a file: under another name until it is whole and on the disk; mode 0600. */
export async function copyFile(
  source: string,
  target: string,
  disk: Disk,
  signal?: AbortSignal,
): Promise<Content> {
  const part = `${target}.part`;
  const { counted, content } = counting();
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const read = createReadStream(source, { highWaterMark: CHUNK_BYTES });
  await pipeline(
    read,
    counted,
    createWriteStream(part, { mode: 0o600 }),
    signal === undefined ? {} : { signal },
  );
  await disk.syncFile(part);
  await disk.rename(part, target);
  return content();
}

/** A disk syncs several files in about the time of one. */
const FILES_AT_ONCE = 8;

/** Does some work for each item, several at once; after a failure none is begun, and all have ended. */
export async function eachOf<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let failed = false;
  const take = async (): Promise<void> => {
    for (const item of left) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: FILES_AT_ONCE }, take);
  const ended = await Promise.allSettled(workers);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/**
 * A second name for a file, where both places are on one file system that has such; false when
 * they are not.
 */
export async function linkFile(source: string, target: string): Promise<boolean> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rm(target, { force: true });
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (NO_LINKS.has(codeOf(error))) return false;
    throw error;
  }
}

/** Another file system; none that links; a kernel that guards links; too many of one file. */
const NO_LINKS = new Set(['EXDEV', 'EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * Makes a folder and its missing parents, for this user alone; the uppermost that was made. Node's
 * own recursive way never ends where nothing can be made, as in /proc.
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const made = await makeFolders(dirname(path));
  await mkdir(path, { mode: 0o700 });
  return made ?? path;
}

/** Bytes of a file; undefined when there is none. */
export async function bytesOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** What went wrong with a folder, as the operator is told it; a bug as it was. */
export function toldOf(error: unknown, folder: string, what: string): unknown {
  if (error instanceof Failure) return error;
  if (isDiskFull(error)) return new Failure('DiskFull', `the disk of ${folder} is full: ${what}`);
  const code = codeOf(error);
  if (code === 'ABORT_ERR' || (error as Error).name === 'AbortError') {
    return new Failure('Conflict', `stopped by its caller: ${what}`);
  }
  const place = (error as { path?: string }).path ?? folder;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new Failure('InvalidParameter', `no permission for ${place}: ${what}`);
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new Failure('InvalidParameter', `${place} is no folder: ${what}`);
  }
  // SQLite and the operating system speak for themselves.
  if (code !== '') return new Failure('Conflict', `${reasonOf(error)}: ${what}`);
  return error;
}
