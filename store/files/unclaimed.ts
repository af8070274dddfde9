// Files of the lake that the catalog does not know and can not have written: put aside for a named
// time, by the moment at which they were found, so that a wrong catalog costs nobody's data.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoTime, momentName } from '../base/clock.ts';
import type { Disk } from '../base/disk.ts';
import type { Folder } from '../catalog/folder.ts';

/** They are kept for so long, then removed. */
export const UNCLAIMED_DAYS = 30;
const DAY_MS = 86_400_000;
/** `2026-01-31T120000.000Z`: one for each time that files are put aside. */
const NAMED = /^\d{4}-\d{2}-\d{2}T\d{6}\.\d{3}Z$/;

/** Whether files of a moment were kept long enough; false for a name that is none. */
export const isOver = (name: string, nowMs: number): boolean =>
  NAMED.test(name) && name < isoTime(nowMs - UNCLAIMED_DAYS * DAY_MS).slice(0, 10);

/** Moves files of the lake, by their paths below its root, into a folder of this moment; that folder. */
export async function putAside(
  paths: readonly string[],
  { lake, unclaimed }: Folder,
  nowMs: number,
  disk: Disk,
): Promise<string> {
  const folder = join(unclaimed, momentName(nowMs));
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
  const names = await readdir(unclaimed).catch((error: { readonly code?: string }) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    if (isOver(name, nowMs)) await disk.remove(join(unclaimed, name));
  }
}
