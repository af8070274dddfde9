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
  // A child of a killed server may still write there for a moment.
  remove: (path) => rm(path, { force: true, recursive: true, maxRetries: 3 }),
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

/** Folders whose entries this process has synced into their parents. */
const anchored = new Set<string>();

/** A folder that another process made, and did not live to sync, is synced all the same. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  for (let at = path; !anchored.has(at) && dirname(at) !== at; at = dirname(at)) {
    await synced(dirname(at), 'r');
  }
  for (let at = path; !anchored.has(at) && dirname(at) !== at; at = dirname(at)) anchored.add(at);
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
