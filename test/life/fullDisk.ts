// A data folder on a disk that can be filled: a small memory disk that the folder moves to, and back.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderSize } from './trend.ts';

const MEGABYTE = 1024 ** 2;
/** Beside what the folder holds: enough for a start, for upkeep, and to be filled at once. */
const SPARE_MB = 64;
/** Left free on a full disk: less than any load takes. */
const LEFT_BYTES = 200_000;

export interface SmallDisk {
  /** The data folder on it. */
  readonly folder: string;
  /** What is free when it is full. */
  readonly leftBytes: number;
  fill(): void;
  empty(): void;
  /** Moves the folder back to where it came from, and takes the disk away. */
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
