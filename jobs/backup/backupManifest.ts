// `backup.json`: the files of a backup, and the size and hash of each. A backup is what its manifest names;
// replacing the manifest replaces the previous backup.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { type FileDigest, digestFile } from '../../store/base/fileDigest.ts';
import { fileSize, errorCode } from './backupFiles.ts';
import { describeLength } from '../../store/files/fileProofs.ts';

export interface BackupFile extends FileDigest {
  /** Relative to the backup: below `lake/`, `published/`, `spool/`, or the state folder. */
  readonly path: string;
}

export interface Manifest {
  readonly format: number;
  /** ISO 8601, UTC: the moment that it captures. */
  readonly made: string;
  /** Version of the program that wrote it. */
  readonly program: string;
  /** Id of the lake: a folder contains backups of one lake only. */
  readonly lake: string;
  readonly snapshot: number;
  /** Folder of the catalog and the secrets in the backup: each backup has its own. */
  readonly state: string;
  /** Whether the data key is included; without it, only TAPEDECK_ENCRYPTION_KEY opens the tokens. */
  readonly key: boolean;
  readonly count: number;
  readonly bytes: number;
  readonly files: readonly BackupFile[];
}

export const MANIFEST = 'backup.json';
/** Locked while a backup is made or read; it also marks a folder of backups. */
export const LOCK = 'backup.lock';
export const STATE = /^state-[0-9a-f]{16}$/;
/** Error codes of paths at which no file can be: a folder without a backup has no other. */
const NO_FILE: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
]);
const FORMAT = 1;
const SAFE_PATH = /^(lake|published|spool|state-[0-9a-f]{16})(\/(?!\.\.?(\/|$))[^/\0]+)+$/;

export const newManifest = (parts: Omit<Manifest, 'format' | 'count' | 'bytes'>): Manifest => ({
  ...parts,
  format: FORMAT,
  count: parts.files.length,
  bytes: parts.files.reduce((sum, { bytes }) => sum + bytes, 0),
});

/** Replaces the manifest durably in one step: every file that it names must be synced before. */
export async function writeManifest(folder: string, manifest: Manifest, disk: Disk): Promise<void> {
  const fresh = join(folder, `${MANIFEST}.new`);
  const text = JSON.stringify({ ...manifest, sha256: hashManifest(manifest) }, undefined, 1);
  await writeFile(fresh, `${text}\n`, { mode: 0o600 });
  await disk.syncFile(fresh);
  await disk.rename(fresh, join(folder, MANIFEST));
  await disk.syncFolder(folder);
}

const hashManifest = (manifest: Manifest): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

/**
 * Reads the manifest of a backup; undefined when the folder has none.
 * @throws Failure Conflict when it is damaged, or written by a newer program.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, MANIFEST);
  let text = '';
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (NO_FILE.has(errorCode(error))) return undefined;
    throw error;
  }
  const { sha256, ...manifest } = parseManifest(text, path) as Manifest & {
    readonly sha256?: string;
  };
  if (typeof manifest.format === 'number' && manifest.format > FORMAT) {
    const message = `${path} has format ${manifest.format}, this program knows ${FORMAT}`;
    throw new Failure('Conflict', `${message}: use a newer one`);
  }
  if (sha256 !== hashManifest(manifest)) throw damagedFailure(path);
  // Its own hash matches, but anyone can compute one: no path may lead out of the folder.
  const paths = manifest.files.map((file) => file.path);
  if (!STATE.test(manifest.state) || !paths.every((one) => SAFE_PATH.test(one))) {
    throw damagedFailure(path);
  }
  return manifest;
}

function parseManifest(text: string, path: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw damagedFailure(path);
}

const damagedFailure = (path: string): Failure => new Failure('Conflict', `${path} is damaged`);

/** Describes the damage of a file of the backup; undefined when it is intact. */
export async function findFault(
  folder: string,
  file: BackupFile,
  read: 'whole' | 'length',
): Promise<string | undefined> {
  const path = join(folder, file.path);
  const bytes = await fileSize(path);
  if (bytes === undefined) return `${file.path} is missing`;
  if (bytes !== file.bytes) return `${file.path} ${describeLength(bytes, file.bytes)}`;
  return read === 'whole' ? describeDamage(file, await digestFile(path)) : undefined;
}

export const describeDamage = (file: BackupFile, content: FileDigest): string | undefined =>
  content.sha256 === file.sha256 ? undefined : `${file.path} is damaged: its SHA-256 differs`;
