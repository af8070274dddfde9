// A folder of its own for one piece of work: what is left in it goes with the work, however it ends.
import { mkdir, rm } from 'node:fs/promises';
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
