// Files of the lake that are not in the catalog and that it cannot have written. They are moved to a folder
// named by the time of discovery and kept for a fixed time, so that a wrong catalog does not delete data.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isoTime, momentName } from '../base/clock.ts';
import type { Disk } from '../base/disk.ts';
import type { Folder } from '../catalog/folder.ts';

/** Retention time of these files. */
export const UNCLAIMED_DAYS = 30;
const DAY_MS = 86_400_000;
/** Name of a folder of moved files: `2026-01-31T120000.000Z`. */
const FOLDER_NAME = /^\d{4}-\d{2}-\d{2}T\d{6}\.\d{3}Z$/;

/** Whether the retention time of a folder is over; false if the name is no time. */
export const isExpired = (name: string, nowMs: number): boolean =>
  FOLDER_NAME.test(name) && name < isoTime(nowMs - UNCLAIMED_DAYS * DAY_MS).slice(0, 10);

/** Moves files of the lake, by their paths below its root, to a folder of this time. @returns that folder */
export async function moveAside(
  paths: readonly string[],
  { lake, unclaimed }: Folder,
  nowMs: number,
  disk: Disk,
): Promise<string> {
  const folder = join(unclaimed, momentName(nowMs));
  const changedFolders = new Set<string>();
  for (const path of paths) {
    const target = join(folder, path);
    await disk.makeFolder(dirname(target));
    await disk.rename(join(lake, path), target);
    changedFolders.add(dirname(target));
  }
  for (const at of changedFolders) await disk.syncFolder(at);
  return folder;
}

/** Removes files that were moved more than `UNCLAIMED_DAYS` ago. */
export async function removeExpired(
  { unclaimed }: Folder,
  nowMs: number,
  disk: Disk,
): Promise<void> {
  const names = await readdir(unclaimed).catch((error: { readonly code?: string }) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names) {
    if (isExpired(name, nowMs)) await disk.remove(join(unclaimed, name));
  }
}
