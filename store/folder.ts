// The data folder: where everything is, who holds it, which version it has.
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Failure } from './failure.ts';

export interface Folder {
  readonly root: string;
  /** The catalog database. */
  readonly catalog: string;
  /** Root of the lake's Parquet files: `<workspace>/<dataset>/ducklake-<uuid>.parquet`. */
  readonly lake: string;
  /** Bodies as they came, until their job ends. */
  readonly spool: string;
  /** Unfinished files and DuckDB's spill; emptied at start. */
  readonly temporary: string;
  /** The data key, when it is not a setting. */
  readonly key: string;
  /** The token of the admin API, when it is not a setting. */
  readonly adminToken: string;
  readonly lock: string;
}

/** Makes the folder's parts, readable by this user alone. */
export function openFolder(root: string): Folder {
  const at = (name: string): string => join(resolve(root), name);
  const folder: Folder = {
    root: resolve(root),
    catalog: at('catalog.db'),
    lake: at('lake'),
    spool: at('spool'),
    temporary: at('tmp'),
    key: at('key'),
    adminToken: at('admin-token'),
    lock: at('lock.db'),
  };
  for (const path of [folder.root, folder.lake, folder.spool, folder.temporary]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  for (const path of [folder.root, dirname(folder.root)]) syncFolder(path);
  return folder;
}

/** The entries of a folder reach the disk; a parent that may not be read keeps its own pace. */
function syncFolder(path: string): void {
  try {
    const file = openSync(path, 'r');
    fsyncSync(file);
    closeSync(file);
  } catch (error) {
    if ((error as { code?: string }).code !== 'EACCES') throw error;
  }
}

/**
 * Holds the folder for this process until the returned function is called or the process ends,
 * however it ends: SQLite's file lock is the kernel's, so a kill leaves no stale lock behind.
 * @throws Failure Busy when another process holds it.
 */
export function lockFolder(folder: Folder): () => void {
  const database = new DatabaseSync(folder.lock, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch {
    database.close();
    throw new Failure('Busy', `another Tapedeck process holds the data folder ${folder.root}`);
  }
  return () => database.close();
}
