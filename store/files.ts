// The lake's files: immutable once published, addressed by a path relative to the lake's root.
// `open` pins local paths; a store behind a network would copy to a local cache there.
import { dirname, join } from 'node:path';
import type { AtCrashPoint } from './crashPoints.ts';
import type { Disk } from './disk.ts';
import { Failure } from './failure.ts';

interface Pinned {
  readonly paths: readonly string[];
  /** Ends the pin; a removal that waited for it then happens. */
  release(): void;
}

export interface Files {
  /**
   * Local paths of lake files, pinned: none goes before `release`.
   * @throws Outdated when one of them was to be removed already.
   */
  open(relative: readonly string[]): Promise<Pinned>;
  /** Moves a finished temporary file to its place and makes it durable. */
  publish(temporary: string, relative: string): Promise<void>;
  /** Removes files: at once, or when the last one that pins them releases them. */
  remove(relative: readonly string[]): Promise<void>;
  list(): Promise<readonly string[]>;
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

export function localFiles(root: string, disk: Disk, at: AtCrashPoint): Files {
  const held: Held = { pins: new Map(), removed: new Set() };
  return {
    open: async (relative) => pin(held, relative, root, disk),
    publish: (temporary, relative) => publish(disk, at, temporary, join(root, relative)),
    remove: (relative) => remove(held, relative, root, disk),
    list: () => disk.list(root),
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
): Pinned {
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
