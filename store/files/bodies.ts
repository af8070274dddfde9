// Bodies of jobs from their acknowledgement to their end: where whoever takes the server's place finds them.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../base/disk.ts';

export interface Bodies {
  /** Before anyone is told that it was taken. @throws what keeps it from being kept */
  keep(path: string): Promise<void>;
  /** It is on this disk, if it is anywhere. @throws the reason of `signal` */
  bring(path: string, signal: AbortSignal): Promise<void>;
  remove(path: string): Promise<void>;
  /** At a start: those that are no job's go. */
  sweep(wanted: ReadonlySet<string>): Promise<void>;
}

/** What was acknowledged is on this disk, and nowhere else. */
export const localBodies = (disk: Disk, folder: string): Bodies => ({
  keep: async () => undefined,
  bring: async () => undefined,
  remove: (path) => disk.remove(path),
  sweep: async (wanted) => {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (!wanted.has(path)) await disk.remove(path);
    }
  },
});
