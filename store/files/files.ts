// The lake's files: immutable once published, addressed by a path relative to the lake's root.
// `open` pins local paths; a store behind a network would copy to a local cache there.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AtCrashPoint } from '../base/crashPoints.ts';
import type { Disk } from '../base/disk.ts';
import type { Content, HashFile } from '../base/contents.ts';
import { Failure } from '../base/failure.ts';
import { type FileProofs, identityOf, type LakeFile } from './fileProofs.ts';
import type { Proof } from './proofTable.ts';

interface Pinned {
  readonly paths: readonly string[];
  /** What is wrong with files, by their path in the lake: only of those that are damaged. */
  readonly damage: ReadonlyMap<string, string>;
  /** Ends the pin; a removal that waited for it then happens. */
  release(): void;
}

/** A file as it is: damaged, or what it is known by from now on. */
export type Inspected =
  | { readonly kind: 'damaged'; readonly what: string }
  | { readonly kind: 'right'; readonly proof: Omit<Proof, 'fileId'> };

interface Lent {
  readonly path: string;
  release(): void;
}

export interface Files {
  /**
   * Local paths of lake files, pinned: none goes before `release`.
   * @param compare their bytes with what was written: for who makes what they hold permanent
   * @throws Outdated when one of them was to be removed already.
   */
  open(files: readonly LakeFile[], compare?: boolean): Promise<Pinned>;
  /** The same at once, and whatever their bytes are: for who compares them itself. */
  pin(relative: readonly string[]): Omit<Pinned, 'damage'>;
  /** A pinned file as a local one, until it is released: for who goes through many, one after the other. */
  borrow(relative: string): Promise<Lent>;
  /** Looks at a pinned file where it is kept. */
  inspect(file: LakeFile): Promise<Inspected>;
  /** Moves a synced temporary file, with the right bytes, to the place of one that is damaged. */
  mend(temporary: string, relative: string, content: Content): Promise<void>;
  /** After an error in a read of open files: their bytes are compared; what is wrong with them. */
  examine(files: readonly LakeFile[]): Promise<ReadonlyMap<string, string>>;
  /** Moves a finished temporary file to its place and makes it durable; what its bytes are. */
  publish(temporary: string, relative: string): Promise<Omit<Proof, 'fileId'>>;
  /** Removes files: at once, or when the last one that pins them releases them. */
  remove(relative: readonly string[]): Promise<void>;
  /** Told before they are; undefined where no other machine has copies of them. */
  readonly onRemoved?: (listener: (relative: readonly string[]) => void) => void;
  /** Removed files stay so after a loss of power: only then may they be forgotten. */
  settle(relative: readonly string[]): Promise<void>;
  /** Where a lake file is on this machine, or a folder of them, while it is open. */
  placeOf(relative: string): string;
  /** Whether a file is there, though it may be removed already for new readers. */
  has(relative: string): Promise<boolean>;
}

/** How the bytes of files are known. */
export interface Hashing {
  readonly proofs: FileProofs;
  readonly hash: HashFile;
}

/** The version that was planned with ended before its files were opened: a new plan will do. */
export class Outdated extends Failure {
  constructor() {
    super('Busy', 'the version ended while it was asked for: please try again');
  }
}

/** Removed paths that are remembered: a plan is not older than so many removals. */
const REMOVED_MAX = 10_000;

interface Held {
  /** How many have a path open. */
  readonly pins: Map<string, number>;
  /** Paths that were removed, or go with their last pin. */
  readonly removed: Set<string>;
}

/** What happens to a file that is whole, before it comes to its place. */
type Sending = (temporary: string, relative: string, content: Content) => Promise<void>;

export function localFiles(
  root: string,
  disk: Disk,
  at: AtCrashPoint,
  hashing: Hashing,
  send: Sending = async () => undefined,
): Files {
  const { hash, proofs } = hashing;
  const held: Held = { pins: new Map(), removed: new Set() };
  return {
    open: async (files, compare = false) => {
      const relative = files.map(({ path }) => path);
      const pinned = pin(held, relative, root, disk);
      try {
        return { ...pinned, damage: await proofs.damageOf(files, compare) };
      } catch (error) {
        pinned.release();
        throw error;
      }
    },
    pin: (relative) => pin(held, relative, root, disk),
    borrow: async (relative) => ({ path: join(root, relative), release: () => undefined }),
    inspect: async (file) => {
      const what = await proofs.compare(file);
      if (what !== undefined) return { kind: 'damaged', what };
      const path = join(root, file.path);
      const seen = identityOf(path) ?? null;
      // Of a time before there were hashes: what it is now is what it was.
      const { sha256 } = file.proof ?? (await hash(path, file.bytes));
      return { kind: 'right', proof: { sha256, seen } };
    },
    mend: async (temporary, relative) => {
      await disk.makeFolder(dirname(join(root, relative)));
      await disk.rename(temporary, join(root, relative));
    },
    examine: (files) => proofs.compareAgain(files),
    publish: async (temporary, relative) => {
      const target = join(root, relative);
      const { size } = await stat(temporary);
      const { sha256 } = await hash(temporary, size);
      await send(temporary, relative, { bytes: size, sha256 });
      await publish(disk, at, temporary, target);
      return { sha256, seen: identityOf(target) ?? null };
    },
    remove: (relative) => remove(held, relative, root, disk),
    settle: async (relative) => {
      const folders = new Set(relative.map((path) => dirname(join(root, path))));
      for (const folder of folders) if (existsSync(folder)) await disk.syncFolder(folder);
    },
    placeOf: (relative) => join(root, relative),
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
  { pins, removed }: Held,
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
  { pins, removed }: Held,
  relative: readonly string[],
  root: string,
  disk: Disk,
): Omit<Pinned, 'damage'> {
  if (relative.some((path) => removed.has(path))) throw new Outdated();
  for (const path of relative) pins.set(path, (pins.get(path) ?? 0) + 1);
  let holds = true;
  return {
    paths: relative.map((path) => join(root, path)),
    release: () => {
      if (!holds) return;
      holds = false;
      for (const path of relative) {
        const left = (pins.get(path) ?? 1) - 1;
        if (left > 0) pins.set(path, left);
        else {
          pins.delete(path);
          // What can't be removed now is swept at the next start: no commit names it.
          if (removed.has(path)) disk.remove(join(root, path)).catch(() => undefined);
        }
      }
    },
  };
}
