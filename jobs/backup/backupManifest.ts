// `backup.json`: what a backup holds and how each file must look. A backup is what its manifest
// names; replacing the manifest is the moment at which the next one takes its place.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Content, contentOf } from '../../store/base/contents.ts';
import { bytesOf, codeOf } from './backupFiles.ts';

export interface BackupFile extends Content {
  /** Relative to the backup: below `lake/`, `published/`, `spool/`, or the folder of the state. */
  readonly path: string;
}

export interface Manifest {
  readonly format: number;
  /** ISO 8601, UTC: the moment that it holds. */
  readonly made: string;
  /** Version of the program that made it. */
  readonly program: string;
  /** Id of the lake: a folder holds backups of one only. */
  readonly lake: string;
  readonly snapshot: number;
  /** Folder in the backup of the catalog and the secrets: each backup has one of its own. */
  readonly state: string;
  /** Whether the data key is in it; without, only TAPEDECK_ENCRYPTION_KEY opens the tokens. */
  readonly key: boolean;
  readonly count: number;
  readonly bytes: number;
  readonly files: readonly BackupFile[];
}

export const MANIFEST = 'backup.json';
/** Held while a backup is made or read; it also marks the folder as one of backups. */
export const LOCK = 'backup.lock';
export const STATE = /^state-[0-9a-f]{16}$/;
/** Codes of paths at which no file can be: a folder without a backup has no other. */
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

/** Replaces the manifest in one step, durably: everything it names must be on the disk before. */
export async function writeManifest(folder: string, manifest: Manifest, disk: Disk): Promise<void> {
  const fresh = join(folder, `${MANIFEST}.new`);
  const text = JSON.stringify({ ...manifest, sha256: sealOf(manifest) }, undefined, 1);
  await writeFile(fresh, `${text}\n`, { mode: 0o600 });
  await disk.syncFile(fresh);
  await disk.rename(fresh, join(folder, MANIFEST));
  await disk.syncFolder(folder);
}

const sealOf = (manifest: Manifest): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

/**
 * The manifest of a backup; undefined when the folder has none.
 * @throws Failure Conflict when it is damaged, or of a newer program.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, MANIFEST);
  let text = '';
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (NO_FILE.has(codeOf(error))) return undefined;
    throw error;
  }
  const { sha256, ...manifest } = parsed(text, path) as Manifest & { readonly sha256?: string };
  if (typeof manifest.format === 'number' && manifest.format > FORMAT) {
    const told = `${path} has format ${manifest.format}, this program knows ${FORMAT}`;
    throw new Failure('Conflict', `${told}: use a newer one`);
  }
  if (sha256 !== sealOf(manifest)) throw damaged(path);
  // It holds its own seal, but anyone can make one: no path may lead out of the folder.
  const paths = manifest.files.map((file) => file.path);
  if (!STATE.test(manifest.state) || !paths.every((one) => SAFE_PATH.test(one))) {
    throw damaged(path);
  }
  return manifest;
}

function parsed(text: string, path: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw damaged(path);
}

const damaged = (path: string): Failure => new Failure('Conflict', `${path} is damaged`);

/** What is wrong with a file of the backup, as a sentence; undefined when it is as it was. */
export async function faultOf(
  folder: string,
  file: BackupFile,
  read: 'whole' | 'length',
): Promise<string | undefined> {
  const path = join(folder, file.path);
  const bytes = await bytesOf(path);
  if (bytes === undefined) return `${file.path} is missing`;
  if (bytes !== file.bytes) return `${file.path} has ${bytes} bytes instead of ${file.bytes}`;
  return read === 'whole' ? damageOf(file, await contentOf(path)) : undefined;
}

export const damageOf = (file: BackupFile, found: Content): string | undefined =>
  found.sha256 === file.sha256 ? undefined : `${file.path} is damaged: its SHA-256 differs`;
