// Checks the data folder from outside: whether it exists and is complete, who may read it, and free space.
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FREE_BYTES_MIN } from '../../store/base/disk.ts';
import { ASLEEP, isAsleep } from '../../store/catalog/restoreGuard.ts';
import { RESTORING } from '../../store/catalog/folder.ts';
import { megabytes } from '../print/bytesText.ts';
import { fault, type Finding, fine, notice, SERVE_CREATES_IT } from './finding.ts';

/** Parts that a server creates in its folder, and closes to other users. */
const PARTS = ['.', 'lake', 'spool', 'exports', 'tmp', 'key', 'admin-token'];
/** Rights of the group and of all other users. */
const OTHERS = 0o077;
/** Share of free space below which a disk counts as nearly full. */
const FREE_SHARE = 0.05;

/** @param hasCatalog whether the catalog is a file in the folder */
export function folderFinding(root: string, hasCatalog: boolean): Finding {
  const folderText = `the data folder ${resolve(root)}`;
  const has = (name: string): boolean => existsSync(join(root, name));
  if (!existsSync(root)) {
    return notice('folder', `${folderText} does not exist`, SERVE_CREATES_IT);
  }
  if (!statSync(root).isDirectory()) {
    return fault('folder', `${folderText} is no folder`, 'Set another one in TAPEDECK_DATA.');
  }
  if (has(RESTORING)) {
    const what = `a restore into ${resolve(root)} has not ended`;
    return fault('folder', what, 'Run `tapedeck restore` with the same backup again.');
  }
  if (hasCatalog && !has('catalog.db') && isFilled(join(root, 'lake'))) {
    const advice = 'Restore a backup, or run `tapedeck repair` to inspect its files.';
    return fault('folder', `${folderText} has files of a lake and no catalog`, advice);
  }
  if (hasCatalog && !has('catalog.db')) {
    return notice('folder', `${folderText} has no catalog yet`, SERVE_CREATES_IT);
  }
  if (isAsleep(root)) {
    const what = `${folderText} ${ASLEEP}`;
    return notice('folder', what, '`tapedeck wake` resumes them.');
  }
  return fine('folder', hasCatalog ? `${folderText} has its catalog` : `${folderText} exists`);
}

function isFilled(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => name !== 'catalog.json');
  } catch {
    // Another finding reports that it can't be read.
    return false;
  }
}

export function permissionFindings(root: string): readonly Finding[] {
  const at = (name: string): string => join(resolve(root), name);
  const paths = PARTS.map(at).filter((path) => existsSync(path));
  const used = [...paths, at('catalog.db')].filter((path) => existsSync(path));
  const closed = used.filter((path) => !isOurs(path));
  const open = paths.filter((path) => (statSync(path).mode & OTHERS) !== 0);
  const faults = closed.map((path) => {
    const advice = 'Run Tapedeck as the user who owns it, or `chown -R` the folder to this one.';
    return fault('permissions', `${path} can not be read and written by this user`, advice);
  });
  // Windows has no such rights.
  if (process.getuid === undefined) return faults;
  const notices = open.map((path) => {
    const rights = (statSync(path).mode & 0o777).toString(8);
    const advice = '`chmod go-rwx` it now, or let the next start of the server do so.';
    return isSecret(path)
      ? fault('permissions', `others may read the secret ${path} (mode ${rights})`, advice)
      : notice('permissions', `others may read ${path} (mode ${rights})`, advice);
  });
  const findings = [...faults, ...notices];
  return findings.length > 0 || paths.length === 0
    ? findings
    : [fine('permissions', 'this user alone may read and write the folder')];
}

const isSecret = (path: string): boolean => path.endsWith('key') || path.endsWith('admin-token');

function isOurs(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Checks the disk of the folder; of a missing folder, the disk on which it would be created. */
export async function diskFinding(root: string): Promise<Finding> {
  let path = resolve(root);
  while (!existsSync(path)) path = resolve(path, '..');
  const { bavail, blocks, bsize } = await statfs(path);
  const [free, size] = [bavail * bsize, blocks * bsize];
  const what = `the disk of ${path} has ${megabytes(free, 0)} of ${megabytes(size, 0)} free`;
  if (free < FREE_BYTES_MIN) {
    return fault('disk', what, 'Make room now: nothing is written below 4 MB.');
  }
  if (free < size * FREE_SHARE) {
    const advice = 'Make room, or keep less history: `PATCH` the `retention` of large datasets.';
    return notice('disk', what, advice);
  }
  return fine('disk', what);
}
