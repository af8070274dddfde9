// The target folder of backups: checks, its lock, and removal of leftovers.
import { constants } from 'node:fs';
import { access, lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { lockFile } from '../../store/catalog/folder.ts';
import { errorCode, makeFolders } from './backupFiles.ts';
import { LOCK, type Manifest, MANIFEST, readManifest, STATE } from './backupManifest.ts';

export interface BackupTarget {
  readonly folder: string;
  /** The backup in the folder; undefined when there is none, or none that can be read. */
  readonly previous: Manifest | undefined;
  /**
   * Removes files that the current manifest does not name; without one, all that a backup wrote.
   * @throws Failure Conflict when the manifest is damaged: its files may still help a person, and stay.
   */
  clean(): Promise<void>;
  release(): void;
}

/**
 * Opens a folder for a backup of `data`; creates it if it does not exist.
 * @throws Failure InvalidParameter, Conflict or Busy: why it can't be used.
 */
export async function openTarget(path: string, data: string, disk: Disk): Promise<BackupTarget> {
  if (!isAbsolute(path)) {
    throw new Failure('InvalidParameter', 'target must be an absolute path');
  }
  const folder = await resolveApart(path, data);
  const createdRoot = await makeFolders(folder);
  const names = await readdir(folder);
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  const isMarked = names.includes(LOCK);
  const previous = await readPrevious(folder, isMarked);
  if (names.length > 0 && !isMarked && previous === undefined) {
    const message = `${folder} is not empty and holds no backup: name another folder`;
    throw new Failure('Conflict', message);
  }
  const unlock = lockFile(join(folder, LOCK));
  if (unlock === undefined) {
    throw new Failure('Busy', `another backup into ${folder} is running`);
  }
  if (createdRoot !== undefined) await syncParents(folder, dirname(createdRoot), disk);
  return {
    folder,
    // Read again: it may have been replaced before the lock was acquired.
    previous: await readPrevious(folder, true),
    clean: () => clean(folder, disk, createdRoot !== undefined),
    release: unlock,
  };
}

/** An unreadable manifest leads to a full backup, if the folder is marked as one of backups. */
async function readPrevious(folder: string, isMarked: boolean): Promise<Manifest | undefined> {
  try {
    return await readManifest(folder);
  } catch (error) {
    if (isMarked && error instanceof Failure && error.detail?.endsWith('damaged') === true) {
      return undefined;
    }
    throw error;
  }
}

/**
 * The real path of a folder that need not exist.
 * @throws Failure InvalidParameter when one of the two is inside the other.
 */
export async function resolveApart(path: string, other: string): Promise<string> {
  const [one, two] = [await realPath(resolve(path)), await realPath(resolve(other))];
  const within = (inner: string, outer: string): boolean => {
    const way = relative(outer, inner);
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
  };
  if (within(one, two)) throw new Failure('InvalidParameter', `${one} is inside ${two}`);
  if (within(two, one)) throw new Failure('InvalidParameter', `${two} is inside ${one}`);
  return one;
}

async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    const dangling = await lstat(path).catch(() => undefined);
    if (dangling !== undefined)
      throw new Failure('InvalidParameter', `${path} is a link without a target`);
    return join(await realPath(dirname(path)), path.slice(dirname(path).length));
  }
}

/** Syncs the parents of new folders; a parent that can't be read is left to the operating system. */
async function syncParents(folder: string, top: string, disk: Disk): Promise<void> {
  for (let at = dirname(folder); ; at = dirname(at)) {
    await disk.syncFolder(at).catch((error: unknown) => {
      if (errorCode(error) !== 'EACCES') throw error;
    });
    if (at === top || at === dirname(at)) return;
  }
}

/** Folders of a backup, besides its state folders. */
const FOLDERS: ReadonlySet<string> = new Set(['lake', 'published', 'spool']);

async function clean(folder: string, disk: Disk, isOurs: boolean): Promise<void> {
  const manifest = await readManifest(folder);
  const named = new Set(manifest?.files.map(({ path }) => path));
  const places = (await readdir(folder)).filter((name) => FOLDERS.has(name) || STATE.test(name));
  for (const place of places) {
    for (const path of await disk.list(join(folder, place))) {
      if (!named.has(`${place}/${path}`)) await disk.remove(join(folder, place, path));
    }
    await removeEmpty(join(folder, place));
  }
  await disk.remove(join(folder, `${MANIFEST}.new`));
  if (manifest !== undefined) return;
  // A failed first backup leaves nothing behind.
  await rm(join(folder, LOCK), { force: true });
  if (isOurs) await rmdir(folder);
}

/** Removes a folder's empty folders, and the folder itself when it is empty. */
async function removeEmpty(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  }
  if ((await readdir(folder)).length === 0) await rmdir(folder);
}
