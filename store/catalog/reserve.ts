// Keeps some room of the disk, so that a server that ended on a full disk starts again: locks and journals
// of the catalog need some. It is removed only where there is no other room.
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull } from '../base/failure.ts';
import { randomKey } from '../base/random.ts';

/** More than the lock and the journal of a start take: with 64 kB free both went well. */
const RESERVE_BYTES = 4 * 1024 ** 2;
/** With less the reserve is removed: twice what a start needed. */
const NEEDED_BYTES = 128 * 1024;

/** What stays free beside it while a server runs, and when it has ended. */
export const FREE_BESIDE = { running: 2 * RESERVE_BYTES, ended: 64 * 1024 } as const;

const reserveOf = (root: string): string => join(root, 'reserve');

function freeBytes(root: string): number {
  const { bavail, bsize } = statfsSync(root);
  return bavail * bsize;
}

/** At a start: removes the reserve where the disk is full. @returns whether it did */
export function releaseReserve(root: string): boolean {
  const path = reserveOf(root);
  if (!existsSync(path) || freeBytes(root) >= NEEDED_BYTES) return false;
  rmSync(path);
  return true;
}

/**
 * Makes the reserve again where it is gone.
 * @param left bytes that stay free beside it
 */
export function keepReserve(root: string, left: number): void {
  const path = reserveOf(root);
  // Somebody may have removed the whole folder meanwhile.
  if (existsSync(path) || !existsSync(root)) return;
  const bytes = Math.min(RESERVE_BYTES, freeBytes(root) - left);
  if (bytes < 2 * NEEDED_BYTES) return;
  try {
    // Zeros would take no room on a disk that compresses.
    writeFileSync(path, randomKey(bytes), { mode: 0o600 });
  } catch (error) {
    rmSync(path, { force: true });
    // Somebody else took the room meanwhile.
    if (!isDiskFull(error)) throw error;
  }
}
