// Temporary folders that are removed when their work ends, also if it fails.
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { newUuid } from './random.ts';

/** Runs `work` with a new temporary folder below `temporary`. */
export async function withWorkFolder<T>(
  temporary: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(temporary, newUuid());
  await mkdir(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same below a folder of the owner, which is removed together with its last temporary folder. */
export async function withOwnerFolder<T>(
  owner: string,
  temporary: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(temporary, owner);
  try {
    return await withWorkFolder(folder, work);
  } finally {
    // Fails if another temporary folder is left, or if that has removed the folder already.
    await rmdir(folder).catch(() => undefined);
  }
}
