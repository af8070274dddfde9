// Durable file operations: the seam under everything that must survive a power loss. The crash
// tests put a recorder here and replay every prefix of what it saw.
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Disk {
  /** Forces a file's bytes to the disk. */
  syncFile(path: string): Promise<void>;
  /** Forces a folder's entries to the disk. */
  syncFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes a folder and its missing parents, each synced into its parent. */
  makeFolder(path: string): Promise<void>;
  /** Paths of all files below a folder, relative to it; empty when there is no such folder. */
  list(folder: string): Promise<readonly string[]>;
}

export const localDisk: Disk = {
  syncFile: (path) => synced(path, 'r+'),
  syncFolder: (path) => synced(path, 'r'),
  rename,
  remove: (path) => rm(path, { force: true, recursive: true }),
  makeFolder,
  list: listFiles,
};

async function synced(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    await synced(parent, 'r');
    if (parent === dirname(first)) return;
  }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
