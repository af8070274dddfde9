// The lake's files: immutable once published, addressed by a path relative to the lake's root.
// `open` pins local paths; a store behind a network would copy to a local cache there.
import { dirname, join } from 'node:path';
import type { AtCrashPoint } from './crashPoints.ts';
import type { Disk } from './disk.ts';

interface Pinned {
  readonly paths: readonly string[];
  /** Ends the pin; a removal that waited for it may then happen. */
  release(): void;
}

export interface Files {
  /** Local paths of lake files, pinned: none is removed before `release`. */
  open(relative: readonly string[]): Promise<Pinned>;
  /** Moves a finished temporary file to its place and makes it durable. */
  publish(temporary: string, relative: string): Promise<void>;
  /** Removes files that nobody pins; the pinned ones stay and are returned. */
  remove(relative: readonly string[]): Promise<readonly string[]>;
  list(): Promise<readonly string[]>;
}

export function localFiles(root: string, disk: Disk, at: AtCrashPoint): Files {
  const pins = new Map<string, number>();
  return {
    open: async (relative) => pin(pins, relative, root),
    publish: (temporary, relative) => publish(disk, at, temporary, join(root, relative)),
    remove: async (relative) => {
      const free = relative.filter((path) => !pins.has(path));
      for (const path of free) await disk.remove(join(root, path));
      return relative.filter((path) => pins.has(path));
    },
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

function pin(pins: Map<string, number>, relative: readonly string[], root: string): Pinned {
  for (const path of relative) pins.set(path, (pins.get(path) ?? 0) + 1);
  let held = true;
  return {
    paths: relative.map((path) => join(root, path)),
    release: () => {
      if (!held) return;
      held = false;
      for (const path of relative) {
        const left = (pins.get(path) ?? 1) - 1;
        if (left === 0) pins.delete(path);
        else pins.set(path, left);
      }
    },
  };
}
