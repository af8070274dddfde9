// A data folder on a disk that can be filled: a small memory disk that the folder moves to, and back.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderSize } from './trend.ts';

const MEGABYTE = 1024 ** 2;
/** Space besides the folder's content: enough for a start and for upkeep, and quick to fill. */
const SPARE_MB = 64;
/** Left free on a full disk: less than any load needs. */
const LEFT_BYTES = 200_000;

export interface SmallDisk {
  /** The data folder on it. */
  readonly folder: string;
  /** The free space of the full disk. */
  readonly leftBytes: number;
  fill(): void;
  empty(): void;
  /** Moves the folder back to its place, and removes the disk. */
  leave(): void;
}

/** Moves a closed data folder to a memory disk; undefined where none may be mounted. */
export function moveToSmallDisk(folder: string): SmallDisk | undefined {
  const disk = mkdtempSync(join(tmpdir(), 'tapedeck-disk-'));
  const size = Math.ceil(folderSize(folder).bytes / MEGABYTE) + SPARE_MB;
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', disk];
    execFileSync('mount', options, { stdio: 'ignore' });
  } catch {
    rmSync(disk, { recursive: true });
    return undefined;
  }
  const moved = join(disk, 'data');
  const ballast = join(disk, 'ballast');
  cpSync(folder, moved, { recursive: true });
  return {
    folder: moved,
    leftBytes: LEFT_BYTES,
    fill: () => {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - LEFT_BYTES)));
    },
    empty: () => rmSync(ballast, { force: true }),
    leave: () => {
      rmSync(folder, { recursive: true, force: true });
      cpSync(moved, folder, { recursive: true });
      execFileSync('umount', [disk]);
      rmSync(disk, { recursive: true });
    },
  };
}
