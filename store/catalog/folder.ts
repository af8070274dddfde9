// The data folder: where everything is, who holds it, which version it has.
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
import { FREE_BESIDE, keepReserve, releaseReserve } from './reserve.ts';
import { diskFull, Failure, isDiskFull, reasonOf } from '../base/failure.ts';
import { closeToOthers } from './folderModes.ts';

export interface Folder {
  readonly root: string;
  /** The catalog database. */
  readonly catalog: string;
  /** Root of the lake's Parquet files: `<workspace>/<dataset>/ducklake-<uuid>.parquet`. */
  readonly lake: string;
  /** Bodies as they came, until their job ends. */
  readonly spool: string;
  /** What exports that have not ended have made and not yet delivered. */
  readonly exports: string;
  /** Files that owners published: each has a name of its own. */
  readonly published: string;
  /** Files that were found in the lake and that the catalog does not know, by day. */
  readonly unclaimed: string;
  /** Unfinished files and DuckDB's spill; emptied at start. */
  readonly temporary: string;
  /** The data key, when it is not a setting. */
  readonly key: string;
  /** The token of the admin API, when it is not a setting. */
  readonly adminToken: string;
  /** The tokens of the first account, until their owner removes the file. */
  readonly firstTokens: string;
  readonly lock: string;
  /** Paths that others could read until it was opened, to be told. */
  readonly closed: readonly string[];
}

/** Where a restore works until it is whole: a folder that has it is not served. */
export const RESTORING = 'restoring';

/**
 * Makes the folder's parts, readable by this user alone; closes those that are there and are not.
 * @throws Failure Conflict when a restore into the folder did not end, or others may read it.
 */
export function openFolder(root: string): Folder {
  if (existsSync(join(root, RESTORING))) {
    const told = `a restore into ${resolve(root)} has not ended: run it again`;
    throw new Failure('Conflict', told);
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
  const closed = writing(folder.root, () => {
    for (const path of folders) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      accessSync(path, constants.R_OK | constants.W_OK);
    }
    const secrets = [folder.key, folder.adminToken].filter((path) => existsSync(path));
    return [...folders, ...secrets].flatMap(closeToOthers);
  });
  for (const path of [folder.root, dirname(folder.root)]) syncFolder(path);
  return { ...folder, closed };
}

/** @throws Failure Conflict naming the folder and what to do, when it can not be written. */
function writing<T>(root: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(resolve(root));
    const { code } = error as { readonly code?: string };
    const rule = 'make it a folder that this user may write, or name another in TAPEDECK_DATA';
    const told = `the data folder ${root} can not be written (${code ?? reasonOf(error)}): ${rule}`;
    throw new Failure('Conflict', told);
  }
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
 * however it ends; in the room of the reserve where its disk has no other.
 * @throws Failure Busy when another process holds it.
 */
export function lockFolder(folder: Folder): () => void {
  const { lock, root } = folder;
  const unlock = writing(root, () => {
    try {
      return holdFile(lock);
    } catch (error) {
      if (!isDiskFull(error) || !releaseReserve(root)) throw error;
      return holdFile(lock);
    }
  });
  if (unlock !== undefined) {
    releaseReserve(root);
    keepReserve(root, FREE_BESIDE.running);
    return () => {
      keepReserve(root, FREE_BESIDE.ended);
      unlock();
    };
  }
  throw new Failure('Busy', `another Tapedeck process holds the data folder ${folder.root}`);
}

/** A process holds the folder. */
export function isHeld(folder: Folder): boolean {
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
 * Holds a lock file, made when there is none; undefined when someone else holds it. SQLite's file
 * lock is the kernel's, so a kill leaves no stale lock behind.
 * @throws SQLite's error when the file can not be opened or written.
 */
export function holdFile(path: string): (() => void) | undefined {
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
