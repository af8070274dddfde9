// The folder that takes backups: what it may be, who writes in it, and what is left in it.
import { constants } from 'node:fs';
import { access, lstat, readdir, realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { holdFile } from '../../store/catalog/folder.ts';
import { codeOf, makeFolders } from './backupFiles.ts';
import { LOCK, type Manifest, MANIFEST, readManifest, STATE } from './backupManifest.ts';

export interface BackupTarget {
  readonly folder: string;
  /** The backup that is in it; undefined when there is none, or none that can be read. */
  readonly previous: Manifest | undefined;
  /**
   * Removes what the manifest that is there now does not name; without one, all that a backup wrote.
   * @throws Failure Conflict when it is damaged: what it named may still help a person, and stays.
   */
  clean(): Promise<void>;
  release(): void;
}

/**
 * Opens a folder for a backup of `data`, and makes it when there is none.
 * @throws Failure InvalidParameter, Conflict or Busy: it may not take one, and why.
 */
export async function openTarget(path: string, data: string, disk: Disk): Promise<BackupTarget> {
  if (!isAbsolute(path)) {
    throw new Failure('InvalidParameter', 'target must be an absolute path');
  }
  const folder = await apart(path, data);
  const fresh = await makeFolders(folder);
  const names = await readdir(folder);
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  const marked = names.includes(LOCK);
  const previous = await previousOf(folder, marked);
  if (names.length > 0 && !marked && previous === undefined) {
    const told = `${folder} is not empty and holds no backup: name another folder`;
    throw new Failure('Conflict', told);
  }
  const unlock = holdFile(join(folder, LOCK));
  if (unlock === undefined) {
    throw new Failure('Busy', `another backup into ${folder} is running`);
  }
  if (fresh !== undefined) await syncParents(folder, dirname(fresh), disk);
  return {
    folder,
    // Read again: it may have been replaced before the lock was ours.
    previous: await previousOf(folder, true),
    clean: () => clean(folder, disk, fresh !== undefined),
    release: unlock,
  };
}

/** A manifest that can't be read makes the next backup whole, where the folder is known as ours. */
async function previousOf(folder: string, marked: boolean): Promise<Manifest | undefined> {
  try {
    return await readManifest(folder);
  } catch (error) {
    if (marked && error instanceof Failure && error.detail?.endsWith('damaged') === true) {
      return undefined;
    }
    throw error;
  }
}

/**
 * The real path of a folder that need not be there yet.
 * @throws Failure InvalidParameter when it is in the other one, or the other one in it.
 */
export async function apart(path: string, other: string): Promise<string> {
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
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error;
    const dangling = await lstat(path).catch(() => undefined);
    if (dangling !== undefined) throw new Failure('InvalidParameter', `${path} leads nowhere`);
    return join(await realPath(dirname(path)), path.slice(dirname(path).length));
  }
}

/** New folders reach the disk; a parent that may not be read keeps its own pace. */
async function syncParents(folder: string, top: string, disk: Disk): Promise<void> {
  for (let at = dirname(folder); ; at = dirname(at)) {
    await disk.syncFolder(at).catch((error: unknown) => {
      if (codeOf(error) !== 'EACCES') throw error;
    });
    if (at === top || at === dirname(at)) return;
  }
}

/** Of a backup, besides those of its states. */
const FOLDERS: ReadonlySet<string> = new Set(['lake', 'published', 'spool']);

async function clean(folder: string, disk: Disk, ours: boolean): Promise<void> {
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
  // A first backup that came to nothing leaves nothing.
  await rm(join(folder, LOCK), { force: true });
  if (ours) await rmdir(folder);
}

/** Removes a folder's empty folders, and the folder when nothing is left in it. */
async function removeEmpty(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmpty(join(folder, entry.name));
  }
  if ((await readdir(folder)).length === 0) await rmdir(folder);
}
