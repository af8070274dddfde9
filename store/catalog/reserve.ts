// Reserves disk space, so that a server that stopped on a full disk can start again: locks and journals
// of the catalog need some. The reserve is removed only when there is no other space.
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDiskFull } from '../base/failure.ts';
import { randomKey } from '../base/random.ts';

/** More than the lock and the journal of a start need: 64 kB of free space were enough for both. */
const RESERVE_BYTES = 4 * 1024 ** 2;
/** With less free space the reserve is removed: twice what a start needed. */
const NEEDED_BYTES = 128 * 1024;

/** Free space that the reserve leaves while a server runs, and after it has stopped. */
export const FREE_BYTES = { running: 2 * RESERVE_BYTES, ended: 64 * 1024 } as const;

const reservePath = (root: string): string => join(root, 'reserve');

function freeBytes(root: string): number {
  const { bavail, bsize } = statfsSync(root);
  return bavail * bsize;
}

/** Removes the reserve at a start if the disk is full. @returns whether it was removed */
export function releaseReserve(root: string): boolean {
  const path = reservePath(root);
  if (!existsSync(path) || freeBytes(root) >= NEEDED_BYTES) return false;
  rmSync(path);
  return true;
}

/**
 * Creates the reserve again if it is missing.
 * @param freeBytesMin bytes to leave free
 */
export function ensureReserve(root: string, freeBytesMin: number): void {
  const path = reservePath(root);
  // The whole folder may have been removed in the meantime.
  if (existsSync(path) || !existsSync(root)) return;
  const bytes = Math.min(RESERVE_BYTES, freeBytes(root) - freeBytesMin);
  if (bytes < 2 * NEEDED_BYTES) return;
  try {
    // Zeros would take no space on a compressed disk.
    writeFileSync(path, randomKey(bytes), { mode: 0o600 });
  } catch (error) {
    rmSync(path, { force: true });
    // Another process used the space in the meantime.
    if (!isDiskFull(error)) throw error;
  }
}
