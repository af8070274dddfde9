// The data folder: the paths of its parts, and its lock.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FREE_BYTES, ensureReserve, releaseReserve } from './reserve.ts';
import { diskFull, Failure, isDiskFull, reasonOf } from '../base/failure.ts';
import { restrictToOwner } from './folderModes.ts';

export interface Folder {
  readonly root: string;
  /** The catalog database. */
  readonly catalog: string;
  /** Root of the lake's Parquet files: `<workspace>/<dataset>/ducklake-<uuid>.parquet`. */
  readonly lake: string;
  /** Received bodies, until their job ends. */
  readonly spool: string;
  /** Undelivered parts of running exports. */
  readonly exports: string;
  /** Files that owners published, each under a unique name. */
  readonly published: string;
  /** Files of the lake that are not in the catalog, by day. */
  readonly unclaimed: string;
  /** Incomplete files and DuckDB's spill; emptied at start. */
  readonly temporary: string;
  /** File of the data key, if it is not a setting. */
  readonly key: string;
  /** File of the admin token, if it is not a setting. */
  readonly adminToken: string;
  /** File of the first account's tokens, until their owner removes it. */
  readonly firstTokens: string;
  readonly lock: string;
  /** Paths that other users could read before the folder was opened, for the log. */
  readonly restrictedPaths: readonly string[];
}

/** Working folder of a restore: a data folder that contains it is not served. */
export const RESTORING = 'restoring';

/**
 * Creates the folder's parts, readable by this user only; restricts the modes of existing ones.
 * @throws Failure Conflict if a restore into the folder has not ended, or other users can read it.
 */
export function openFolder(root: string): Folder {
  if (existsSync(join(root, RESTORING))) {
    throw new Failure('Conflict', `a restore into ${resolve(root)} has not ended: run it again`);
  }
  const at = (name: string): string => join(resolve(root), name);
  const folder = {
    root: resolve(root),
    catalog: at('catalog.db'),
    lake: at('lake'),
    spool: at('spool'),
    exports: at('exports'),
    published: at('published'),
    unclaimed: at('unclaimed'),
    temporary: at('tmp'),
    key: at('key'),
    adminToken: at('admin-token'),
    firstTokens: at('first-tokens'),
    lock: at('lock.db'),
  };
  const folders = [folder.root, folder.lake, folder.spool, folder.exports, folder.temporary];
  const restricted = withWriteCheck(folder.root, () => {
    for (const path of folders) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      accessSync(path, constants.R_OK | constants.W_OK);
    }
    const secrets = [folder.key, folder.adminToken].filter((path) => existsSync(path));
    return [...folders, ...secrets].flatMap(restrictToOwner);
  });
  for (const path of [folder.root, dirname(folder.root)]) syncFolder(path);
  return { ...folder, restrictedPaths: restricted };
}

/** Runs work that writes the folder. @throws Failure Conflict with advice if the folder can't be written */
function withWriteCheck<T>(root: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(resolve(root));
    const { code } = error as { readonly code?: string };
    const rule = 'make it a folder that this user may write, or name another in TAPEDECK_DATA';
    const reason = `the data folder ${root} can not be written (${code ?? reasonOf(error)}): ${rule}`;
    throw new Failure('Conflict', reason);
  }
}

/** Syncs the entries of a folder, except a parent that this user may not read. */
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
 * Locks the folder for this process until the returned function is called or the process ends in any
 * way. On a full disk it uses the space of the reserve.
 * @throws Failure Busy if another process has locked it.
 */
export function lockFolder(folder: Folder): () => void {
  const { lock, root } = folder;
  const unlock = withWriteCheck(root, () => {
    try {
      return lockFile(lock);
    } catch (error) {
      if (!isDiskFull(error) || !releaseReserve(root)) throw error;
      return lockFile(lock);
    }
  });
  if (unlock !== undefined) {
    releaseReserve(root);
    ensureReserve(root, FREE_BYTES.running);
    return () => {
      ensureReserve(root, FREE_BYTES.ended);
      unlock();
    };
  }
  throw new Failure('Busy', `another Tapedeck process holds the data folder ${folder.root}`);
}

/** Whether a process has locked the folder. */
export function isLocked(folder: Folder): boolean {
  try {
    lockFolder(folder)();
    return false;
  } catch (error) {
    if (error instanceof Failure && error.type === 'Busy') return true;
    throw error;
  }
}

const SQLITE_BUSY = 5;

/**
 * Locks a file, which is created if missing; undefined if another process has locked it. SQLite uses the
 * kernel's file lock, so a killed process leaves no stale lock.
 * @throws SQLite's error if the file can't be opened or written.
 */
export function lockFile(path: string): (() => void) | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  return () => database.close();
}
