// Files of the lake that the catalog does not know and can not have written: put aside for a named
// time, by the day on which they were found, so that a wrong catalog costs nobody's data.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoTime } from './clock.ts';
import type { Disk } from './disk.ts';
import type { Folder } from './folder.ts';

/** They are kept for so long, then removed. */
export const UNCLAIMED_DAYS = 30;
const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Moves files of the lake, by their paths below its root, into the folder of today; that folder. */
export async function putAside(
  paths: readonly string[],
  { lake, unclaimed }: Folder,
  nowMs: number,
  disk: Disk,
): Promise<string> {
  const folder = join(unclaimed, isoTime(nowMs).slice(0, 10));
  const touched = new Set<string>();
  for (const path of paths) {
    const target = join(folder, path);
    await disk.makeFolder(dirname(target));
    await disk.rename(join(lake, path), target);
    touched.add(dirname(target));
  }
  for (const at of touched) await disk.syncFolder(at);
  return folder;
}

/** Removes what was found more than `UNCLAIMED_DAYS` before. */
export async function endUnclaimed(
  { unclaimed }: Folder,
  nowMs: number,
  disk: Disk,
): Promise<void> {
  const oldest = isoTime(nowMs - UNCLAIMED_DAYS * DAY_MS).slice(0, 10);
  const names = await readdir(unclaimed).catch((error: { readonly code?: string }) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    if (DAY.test(name) && name < oldest) await disk.remove(join(unclaimed, name));
  }
}
