// The lake's files: immutable once published, addressed by a path relative to the lake's root.
// `open` pins local paths; files of an object store are copied to a local cache.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Disk } from '../base/disk.ts';
import type { FileDigest, HashFile } from '../base/fileDigest.ts';
import { Failure } from '../base/failure.ts';
import { type FileProofs, fileIdentity, type LakeFile } from './fileProofs.ts';
import type { Proof } from './proofTable.ts';

interface Pinned {
  readonly paths: readonly string[];
  /** The damage of files by their path in the lake; correct files are not included. */
  readonly damage: ReadonlyMap<string, string>;
  /** Ends the pin, and runs a removal that waited for it. */
  release(): void;
}

/** The result of an inspection: the damage, or the file's new proof. */
export type Inspection =
  | { readonly kind: 'damaged'; readonly what: string }
  | { readonly kind: 'right'; readonly proof: Omit<Proof, 'fileId'> };

interface LocalFile {
  readonly path: string;
  release(): void;
}

export interface Files {
  /**
   * Pins lake files and returns their local paths: no file is removed before `release`.
   * @param compare compares their bytes with the hashes: for callers that store their content permanently
   * @throws Outdated if one of them is already scheduled for removal.
   */
  open(files: readonly LakeFile[], compare?: boolean): Promise<Pinned>;
  /** Pins files synchronously without checking their bytes: for callers that compare them. */
  pin(relative: readonly string[]): Omit<Pinned, 'damage'>;
  /** Provides a pinned file as a local one until it is released: for callers that process many in turn. */
  openLocal(relative: string): Promise<LocalFile>;
  /** Inspects a pinned file at its storage location. */
  inspect(file: LakeFile): Promise<Inspection>;
  /** Replaces a damaged file by a synced temporary file with the correct bytes. */
  repair(temporary: string, relative: string, content: FileDigest): Promise<void>;
  /** Compares the bytes of open files after a read error. @returns their damage */
  compareAgain(files: readonly LakeFile[]): Promise<ReadonlyMap<string, string>>;
  /** Publishes a finished temporary file durably. @returns its proof */
  publish(temporary: string, relative: string): Promise<Omit<Proof, 'fileId'>>;
  /** Removes files immediately, or when their last pin is released. */
  remove(relative: readonly string[]): Promise<void>;
  /** Registers a listener that is called before removals; undefined if no other machine has copies. */
  readonly onRemoved?: (listener: (relative: readonly string[]) => void) => void;
  /** Makes removals durable; only then may the files be forgotten. */
  syncRemovals(relative: readonly string[]): Promise<void>;
  /** The local path of an open lake file, or of a folder of them. */
  localPath(relative: string): string;
  /** Whether a file exists, even if it is already removed for new readers. */
  has(relative: string): Promise<boolean>;
}

/** Hashes files and checks their bytes. */
export interface Hashing {
  readonly proofs: FileProofs;
  readonly hash: HashFile;
}

/** The planned version was removed before its files were opened: a new plan succeeds. */
export class VersionOutdated extends Failure {
  constructor() {
    super('Busy', 'the version was removed during the request: please try again');
  }
}

/** Limit of remembered removals: no plan is older than so many. */
const REMOVED_MAX = 10_000;

interface FileUse {
  /** Number of pins by path. */
  readonly pins: Map<string, number>;
  /** Paths that were removed, or will be with their last pin. */
  readonly removed: Set<string>;
}

/** Stores a complete file elsewhere before it is published locally. */
type Upload = (temporary: string, relative: string, content: FileDigest) => Promise<void>;

export function localFiles(
  root: string,
  disk: Disk,
  at: AtCrashPoint,
  hashing: Hashing,
  send: Upload = async () => undefined,
): Files {
  const { hash, proofs } = hashing;
  const use: FileUse = { pins: new Map(), removed: new Set() };
  return {
    open: async (files, compare = false) => {
      const relative = files.map(({ path }) => path);
      const pinned = pin(use, relative, root, disk);
      try {
        return { ...pinned, damage: await proofs.findDamage(files, compare) };
      } catch (error) {
        pinned.release();
        throw error;
      }
    },
    pin: (relative) => pin(use, relative, root, disk),
    openLocal: async (relative) => ({ path: join(root, relative), release: () => undefined }),
    inspect: async (file) => {
      const what = await proofs.compare(file);
      if (what !== undefined) return { kind: 'damaged', what };
      const path = join(root, file.path);
      const seen = fileIdentity(path) ?? null;
      // A file from before hashes were stored is considered correct.
      const { sha256 } = file.proof ?? (await hash(path, file.bytes));
      return { kind: 'right', proof: { sha256, seen } };
    },
    repair: async (temporary, relative) => {
      await disk.makeFolder(dirname(join(root, relative)));
      await disk.rename(temporary, join(root, relative));
    },
    compareAgain: (files) => proofs.compareAgain(files),
    publish: async (temporary, relative) => {
      const target = join(root, relative);
      const { size } = await stat(temporary);
      const { sha256 } = await hash(temporary, size);
      await send(temporary, relative, { bytes: size, sha256 });
      await publish(disk, at, temporary, target);
      return { sha256, seen: fileIdentity(target) ?? null };
    },
    remove: (relative) => remove(use, relative, root, disk),
    syncRemovals: async (relative) => {
      const folders = new Set(relative.map((path) => dirname(join(root, path))));
      for (const folder of folders) if (existsSync(folder)) await disk.syncFolder(folder);
    },
    localPath: (relative) => join(root, relative),
    has: async (relative) => existsSync(join(root, relative)),
  };
}

async function publish(
  disk: Disk,
  at: AtCrashPoint,
  temporary: string,
  target: string,
): Promise<void> {
  await disk.syncFile(temporary);
  at('file-synced');
  await disk.makeFolder(dirname(target));
  await disk.rename(temporary, target);
  at('file-renamed');
  await disk.syncFolder(dirname(target));
  at('folder-synced');
}

async function remove(
  { pins, removed }: FileUse,
  relative: readonly string[],
  root: string,
  disk: Disk,
): Promise<void> {
  for (const path of relative) removed.add(path);
  for (const path of removed) {
    if (removed.size <= REMOVED_MAX) break;
    if (!pins.has(path)) removed.delete(path);
  }
  for (const path of relative) if (!pins.has(path)) await disk.remove(join(root, path));
}

function pin(
  { pins, removed }: FileUse,
  relative: readonly string[],
  root: string,
  disk: Disk,
): Omit<Pinned, 'damage'> {
  if (relative.some((path) => removed.has(path))) throw new VersionOutdated();
  for (const path of relative) pins.set(path, (pins.get(path) ?? 0) + 1);
  let isPinned = true;
  return {
    paths: relative.map((path) => join(root, path)),
    release: () => {
      if (!isPinned) return;
      isPinned = false;
      for (const path of relative) {
        const left = (pins.get(path) ?? 1) - 1;
        if (left > 0) pins.set(path, left);
        else {
          pins.delete(path);
          // A failed removal is repeated at the next start: no commit names the file.
          if (removed.has(path)) disk.remove(join(root, path)).catch(() => undefined);
        }
      }
    },
  };
}
