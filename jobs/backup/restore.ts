// A backup is looked through, and becomes a data folder again: copied, never linked, each file held
// against its hash on the way. The new folder counts as one only when all of it is on the disk.
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { holdFile, RESTORING } from '../../store/catalog/folder.ts';
import { ASLEEP, putAsleep } from '../../store/catalog/asleep.ts';
import { writeSecretFile } from '../../store/catalog/secrets/secretFile.ts';
import { bytesOf, copyFile, eachOf, makeFolders, toldOf } from './backupFiles.ts';
import { damageOf, faultOf, LOCK, type Manifest, readManifest } from './backupManifest.ts';
import { apart } from './backupTarget.ts';

interface Verified {
  readonly manifest: Manifest;
  /** Sentences, each naming a file; none when all is as it was. */
  readonly faults: readonly string[];
}

/**
 * Reads every file of a backup.
 * @throws Failure when there is none, its manifest is damaged, or it is just being replaced.
 */
export async function verifyBackup(path: string): Promise<Verified> {
  const folder = resolve(path);
  return held(folder, 'nothing was verified', async (manifest) => {
    return { manifest, faults: await faultsOf(folder, manifest, 'whole') };
  });
}

const NOTHING = 'nothing was restored';

/**
 * Makes a data folder of a backup, in a folder that is new or empty.
 * @param awake it goes on with schedules and deliveries as soon as it is served
 * @throws Failure, naming the file when the backup is damaged; nothing is left of the data folder.
 */
export async function restoreBackup(
  path: string,
  data: string,
  disk: Disk,
  awake = false,
): Promise<Manifest> {
  const folder = resolve(path);
  return held(folder, NOTHING, async (manifest) => {
    const target = await apart(data, folder);
    const fresh = await emptyFolder(target);
    const faults = await faultsOf(folder, manifest, 'length');
    try {
      if (faults.length > 0) throw refused(folder, faults);
      await copyOut(folder, manifest, target, disk, awake);
      return manifest;
    } catch (error) {
      await removeParts(target, await readdir(target));
      if (fresh) await rmdir(target);
      throw toldOf(error, target, NOTHING);
    }
  });
}

/** With the backup's lock, so that no other backup takes its place meanwhile. */
async function held<T>(
  folder: string,
  what: string,
  work: (manifest: Manifest) => Promise<T>,
): Promise<T> {
  let unlock: (() => void) | undefined;
  try {
    if ((await bytesOf(join(folder, LOCK))) !== undefined) unlock = lockOf(folder);
    const manifest = await readManifest(folder);
    if (manifest === undefined) {
      throw new Failure('InvalidParameter', `${folder} holds no backup: ${what}`);
    }
    return await work(manifest);
  } catch (error) {
    throw toldOf(error, folder, what);
  } finally {
    unlock?.();
  }
}

/** @throws Failure Busy while a backup into the folder is running. */
function lockOf(folder: string): (() => void) | undefined {
  let unlock: (() => void) | undefined;
  try {
    unlock = holdFile(join(folder, LOCK));
  } catch {
    // A backup that this user can only read: whoever writes it is asked to do so at another time.
    return undefined;
  }
  if (unlock !== undefined) return unlock;
  throw new Failure('Busy', `a backup into ${folder} is running: wait for its end`);
}

async function faultsOf(
  folder: string,
  manifest: Manifest,
  read: 'whole' | 'length',
): Promise<readonly string[]> {
  const faults: string[] = [];
  await eachOf(manifest.files, async (file) => {
    const fault = await faultOf(folder, file, read);
    if (fault !== undefined) faults.push(fault);
  });
  return faults;
}

/** Faults told in one sentence; the rest is counted. */
const FAULTS_MAX = 5;

function refused(folder: string, faults: readonly string[]): Failure {
  const more = faults.length - FAULTS_MAX;
  const rest = more > 0 ? `, and ${more} more files` : '';
  const told = `${faults.slice(0, FAULTS_MAX).join(', ')}${rest}`;
  return new Failure('Conflict', `the backup ${folder} is not whole: ${told}; ${NOTHING}`);
}

/** What a restore makes in the folder. */
const PARTS = new Set([
  RESTORING,
  'lake',
  'published',
  'spool',
  'key',
  'key.former',
  'admin-token',
  'catalog.db',
  ASLEEP,
]);

async function removeParts(target: string, names: readonly string[]): Promise<void> {
  for (const name of names.filter((one) => PARTS.has(one))) {
    await rm(join(target, name), { recursive: true, force: true });
  }
}

/** True when the folder was made; what a restore that was cut off left in it goes. */
async function emptyFolder(target: string): Promise<boolean> {
  const fresh = await makeFolders(target);
  const names = await readdir(target);
  const cutOff = names.includes(RESTORING) && names.every((name) => PARTS.has(name));
  if (names.length > 0 && !cutOff) {
    throw new Failure('Conflict', `${target} is not empty: ${NOTHING}`);
  }
  await removeParts(target, names);
  return fresh !== undefined;
}

/** Told by the program that serves the folder without the key. */
const RESTORED = 'restored from a backup: nothing is done by itself until `tapedeck wake`';
const NO_KEY = 'restored from a backup without its key: set TAPEDECK_ENCRYPTION_KEY';

async function copyOut(
  folder: string,
  { files, state, key }: Manifest,
  target: string,
  disk: Disk,
  awake: boolean,
): Promise<void> {
  const place = join(target, RESTORING);
  await mkdir(place, { mode: 0o700 });
  const folders = new Set<string>();
  await eachOf(files, async (file) => {
    const name = file.path.startsWith(`${state}/`) ? file.path.slice(state.length + 1) : file.path;
    const found = await copyFile(join(folder, file.path), join(place, name), disk);
    const fault = damageOf(file, found);
    if (fault !== undefined) throw refused(folder, [fault]);
    for (let at = dirname(name); at !== '.'; at = dirname(at)) folders.add(at);
  });
  // A new key would be made otherwise, and no token of the backup would open.
  if (!key) writeSecretFile(join(place, 'key'), NO_KEY);
  if (!awake) putAsleep(place, RESTORED);
  await eachOf([...folders], (name) => disk.syncFolder(join(place, name)));
  for (const name of await readdir(place)) {
    await disk.rename(join(place, name), join(target, name));
  }
  await disk.syncFolder(target);
  await rmdir(place);
  await disk.syncFolder(target);
}
