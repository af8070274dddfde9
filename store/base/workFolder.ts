// A folder of its own for one piece of work: what is left in it goes with the work, however it ends.
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { newUuid } from './random.ts';

/** Runs `work` with a new folder below `temporary`. */
export async function inWorkFolder<T>(
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

/** The same below a folder that works of one owner have together, and that the last of them takes along. */
export async function inFolderOf<T>(
  owner: string,
  temporary: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(temporary, owner);
  try {
    return await inWorkFolder(folder, work);
  } finally {
    // Another one works there, or it has gone with that already.
    await rmdir(folder).catch(() => undefined);
  }
}
