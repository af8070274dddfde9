// Durable file operations: the interface used by everything that must survive a power loss. The crash
// tests replace it by a recorder and replay every prefix of the recorded operations.
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** With less free space the catalog itself may not be writable. */
export const FREE_BYTES_MIN = 4 * 1024 ** 2;

export interface Disk {
  /** Forces a file's bytes to the disk. */
  syncFile(path: string): Promise<void>;
  /** Forces a folder's entries to the disk. */
  syncFolder(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Creates a folder and its missing parents, and syncs each into its parent. */
  makeFolder(path: string): Promise<void>;
  /** Lists the paths of all files below a folder, relative to it; empty if the folder does not exist. */
  list(folder: string): Promise<readonly string[]>;
}

export const localDisk: Disk = {
  syncFile: (path) => syncPath(path, 'r+'),
  syncFolder: (path) => syncPath(path, 'r'),
  rename,
  // A child of a killed server may still be writing there for a moment.
  remove: (path) => rm(path, { force: true, recursive: true, maxRetries: 3 }),
  makeFolder,
  list: (folder) => listFiles(folder),
};

async function syncPath(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Folders whose entries this process has synced into their parents. */
const syncedFolders = new Set<string>();

/** Syncs a folder even if another process created it, which may have died before its sync. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  for (let at = path; !syncedFolders.has(at) && dirname(at) !== at; at = dirname(at)) {
    await syncPath(dirname(at), 'r');
  }
  for (let at = path; !syncedFolders.has(at) && dirname(at) !== at; at = dirname(at))
    syncedFolders.add(at);
}

/** A folder removed in the meantime counts as empty; `readdir`'s own recursion would fail the whole list. */
async function listFiles(root: string, below = ''): Promise<readonly string[]> {
  const folder = below === '' ? root : join(root, below);
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) paths.push(...(await listFiles(root, path)));
    else if (entry.isFile()) paths.push(path);
  }
  return paths;
}
