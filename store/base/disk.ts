// Durable file operations: the seam under everything that must survive a power loss. The crash
// tests put a recorder here and replay every prefix of what it saw.
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** With less on a disk the catalog itself may not be written any more. */
export const FREE_BYTES_MIN = 4 * 1024 ** 2;

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
  list: (folder) => listFiles(folder),
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

/** A folder that goes meanwhile has no files; `readdir`'s own recursion would fail the whole list. */
async function listFiles(root: string, below = ''): Promise<readonly string[]> {
  const folder = below === '' ? root : join(root, below);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) found.push(...(await listFiles(root, path)));
    else if (entry.isFile()) found.push(path);
  }
  return found;
}
