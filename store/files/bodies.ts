// Stores the bodies of jobs from acknowledgement to the end of the job, so that another server can take over.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../base/disk.ts';

export interface Bodies {
  /** Stores a body before it is acknowledged. @throws the reason why it can't be stored */
  store(path: string): Promise<void>;
  /** Fetches a body to this disk, if it exists. @throws the reason of `signal` */
  ensureLocal(path: string, signal: AbortSignal): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes bodies without a job, at a start. */
  removeUnused(jobPaths: ReadonlySet<string>): Promise<void>;
}

/** Stores acknowledged bodies only on this disk. */
export const localBodies = (disk: Disk, folder: string): Bodies => ({
  store: async () => undefined,
  ensureLocal: async () => undefined,
  remove: (path) => disk.remove(path),
  removeUnused: async (jobPaths) => {
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (!jobPaths.has(path)) await disk.remove(path);
    }
  },
});
