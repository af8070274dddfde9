// Files of a backup and a restore: linked or copied, read once, hashed while they are read.
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CHUNK_BYTES, type FileDigest, createDigestStream } from '../../store/base/fileDigest.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure, isDiskFull, reasonOf } from '../../store/base/failure.ts';

/** Copies a file, under another name until it is complete and synced; mode 0600. */
export async function copyFile(
  source: string,
  target: string,
  disk: Disk,
  signal?: AbortSignal,
): Promise<FileDigest> {
  const part = `${target}.part`;
  const { counted, content } = createDigestStream();
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
const CONCURRENCY = 8;

/**
 * Runs work for each item, several concurrently; after a failure none is started, and it waits for those that
 * run.
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let failed = false;
  const runNext = async (): Promise<void> => {
    for (const item of left) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: CONCURRENCY }, runNext);
  const ended = await Promise.allSettled(workers);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** Hard-links a file; false where both places are not on one file system that supports it. */
export async function linkFile(source: string, target: string): Promise<boolean> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rm(target, { force: true });
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (NO_LINKS.has(errorCode(error))) return false;
    throw error;
  }
}

/** Another file system; no support for links; a kernel that guards links; too many links of one file. */
const NO_LINKS = new Set(['EXDEV', 'EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * Creates a folder and its missing parents, for this user alone, and returns the uppermost created one.
 * Node's own recursive option never ends where nothing can be created, as in /proc.
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const uppermost = await makeFolders(dirname(path));
  await mkdir(path, { mode: 0o700 });
  return uppermost ?? path;
}

/** Size of a file; undefined when there is none. */
export async function fileSize(path: string): Promise<number | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? stats.size : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

export const errorCode = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Turns an error of a folder into a failure for the operator; a bug is returned unchanged. */
export function toFolderFailure(error: unknown, folder: string, what: string): unknown {
  if (error instanceof Failure) return error;
  if (isDiskFull(error)) return new Failure('DiskFull', `the disk of ${folder} is full: ${what}`);
  const code = errorCode(error);
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
  // Messages of SQLite and the operating system are passed on.
  if (code !== '') return new Failure('Conflict', `${reasonOf(error)}: ${what}`);
  return error;
}
