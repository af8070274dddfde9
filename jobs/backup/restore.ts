// Verifies a backup, and restores it into a data folder: copied, never linked, each file compared with its
// hash. The new folder is complete only when all of it is on the disk.
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { lockFile, RESTORING } from '../../store/catalog/folder.ts';
import { ASLEEP_FILE, markAsleep } from '../../store/catalog/restoreGuard.ts';
import { writeSecretFile } from '../../store/catalog/secrets/secretFile.ts';
import {
  fileSize,
  copyFile,
  forEachConcurrently,
  makeFolders,
  toFolderFailure,
} from './backupFiles.ts';
import { describeDamage, findFault, LOCK, type Manifest, readManifest } from './backupManifest.ts';
import { resolveApart } from './backupTarget.ts';

interface Verified {
  readonly manifest: Manifest;
  /** Sentences, each naming a file; empty when the backup is intact. */
  readonly faults: readonly string[];
}

/**
 * Reads every file of a backup.
 * @throws Failure when there is none, its manifest is damaged, or it is being replaced.
 */
export async function verifyBackup(path: string): Promise<Verified> {
  const folder = resolve(path);
  return withLockedManifest(folder, 'nothing was verified', async (manifest) => {
    return { manifest, faults: await findFaults(folder, manifest, 'whole') };
  });
}

const NOT_RESTORED = 'nothing was restored';

/**
 * Restores a backup into a new or empty folder.
 * @param isAwake schedules and deliveries go on as soon as it is served
 * @throws Failure, naming the file when the backup is damaged; nothing is left of the data folder.
 */
export async function restoreBackup(
  path: string,
  data: string,
  disk: Disk,
  isAwake = false,
): Promise<Manifest> {
  const folder = resolve(path);
  return withLockedManifest(folder, NOT_RESTORED, async (manifest) => {
    const target = await resolveApart(data, folder);
    const fresh = await prepareFolder(target);
    const faults = await findFaults(folder, manifest, 'length');
    try {
      if (faults.length > 0) throw incompleteFailure(folder, faults);
      await copyOut(folder, manifest, target, disk, isAwake);
      return manifest;
    } catch (error) {
      await removeParts(target, await readdir(target));
      if (fresh) await rmdir(target);
      throw toFolderFailure(error, target, NOT_RESTORED);
    }
  });
}

/** Locks the backup, so that it is not replaced meanwhile. */
async function withLockedManifest<T>(
  folder: string,
  what: string,
  work: (manifest: Manifest) => Promise<T>,
): Promise<T> {
  let unlock: (() => void) | undefined;
  try {
    if ((await fileSize(join(folder, LOCK))) !== undefined) unlock = acquireLock(folder);
    const manifest = await readManifest(folder);
    if (manifest === undefined) {
      throw new Failure('InvalidParameter', `${folder} holds no backup: ${what}`);
    }
    return await work(manifest);
  } catch (error) {
    throw toFolderFailure(error, folder, what);
  } finally {
    unlock?.();
  }
}

/** @throws Failure Busy while a backup into the folder is running. */
function acquireLock(folder: string): (() => void) | undefined {
  let unlock: (() => void) | undefined;
  try {
    unlock = lockFile(join(folder, LOCK));
  } catch {
    // A backup that this user can only read: its writer must not run at the same time.
    return undefined;
  }
  if (unlock !== undefined) return unlock;
  throw new Failure('Busy', `a backup into ${folder} is running: wait for its end`);
}

async function findFaults(
  folder: string,
  manifest: Manifest,
  read: 'whole' | 'length',
): Promise<readonly string[]> {
  const faults: string[] = [];
  await forEachConcurrently(manifest.files, async (file) => {
    const fault = await findFault(folder, file, read);
    if (fault !== undefined) faults.push(fault);
  });
  return faults;
}

/** Faults named in one message; the rest is counted. */
const FAULTS_MAX = 5;

function incompleteFailure(folder: string, faults: readonly string[]): Failure {
  const more = faults.length - FAULTS_MAX;
  const rest = more > 0 ? `, and ${more} more files` : '';
  const list = `${faults.slice(0, FAULTS_MAX).join(', ')}${rest}`;
  return new Failure('Conflict', `the backup ${folder} is incomplete: ${list}; ${NOT_RESTORED}`);
}

/** Files and folders that a restore creates. */
const PARTS = new Set([
  RESTORING,
  'lake',
  'published',
  'spool',
  'key',
  'key.former',
  'admin-token',
  'catalog.db',
  ASLEEP_FILE,
]);

async function removeParts(target: string, names: readonly string[]): Promise<void> {
  for (const name of names.filter((one) => PARTS.has(one))) {
    await rm(join(target, name), { recursive: true, force: true });
  }
}

/** Empties a folder of an interrupted restore; true when the folder was created. */
async function prepareFolder(target: string): Promise<boolean> {
  const fresh = await makeFolders(target);
  const names = await readdir(target);
  const cutOff = names.includes(RESTORING) && names.every((name) => PARTS.has(name));
  if (names.length > 0 && !cutOff) {
    throw new Failure('Conflict', `${target} is not empty: ${NOT_RESTORED}`);
  }
  await removeParts(target, names);
  return fresh !== undefined;
}

/** Shown by a program that serves the folder without the key. */
const RESTORED = 'restored from a backup: nothing runs automatically until `tapedeck wake`';
const NO_KEY = 'restored from a backup without its key: set TAPEDECK_ENCRYPTION_KEY';

async function copyOut(
  folder: string,
  { files, state, key }: Manifest,
  target: string,
  disk: Disk,
  isAwake: boolean,
): Promise<void> {
  const place = join(target, RESTORING);
  await mkdir(place, { mode: 0o700 });
  const folders = new Set<string>();
  await forEachConcurrently(files, async (file) => {
    const name = file.path.startsWith(`${state}/`) ? file.path.slice(state.length + 1) : file.path;
    const content = await copyFile(join(folder, file.path), join(place, name), disk);
    const fault = describeDamage(file, content);
    if (fault !== undefined) throw incompleteFailure(folder, [fault]);
    for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.add(at);
  });
  // Otherwise a new key would be created, and no token of the backup would open.
  if (!key) writeSecretFile(join(place, 'key'), NO_KEY);
  if (!isAwake) markAsleep(place, RESTORED);
  await forEachConcurrently([...folders], (name) => disk.syncFolder(join(place, name)));
  for (const name of await readdir(place)) {
    await disk.rename(join(place, name), join(target, name));
  }
  await disk.syncFolder(target);
  await rmdir(place);
  await disk.syncFolder(target);
}
