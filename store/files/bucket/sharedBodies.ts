// Bodies of jobs where several machines may serve: in the bucket until their jobs have ended, so that a load
// which was acknowledged on one machine is done on another one.
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { contentOf } from '../../base/contents.ts';
import type { Disk } from '../../base/disk.ts';
import { type Bodies, localBodies } from '../bodies.ts';
import { asked, type Bucket, type ToldOfBucket } from './bucket.ts';
import { isDiskFull } from '../../base/failure.ts';
import { fetchInto } from './fetchInto.ts';

const SPOOL = 'spool/';
/** A store that is away is asked again, for as long as a job may wait. */
const AGAIN_MS = 5_000;

interface SharedParts {
  readonly bucket: Bucket;
  readonly disk: Disk;
  readonly folder: { readonly spool: string; readonly temporary: string };
  readonly told: ToldOfBucket;
}

const keyOf = (path: string): string => `${SPOOL}${basename(path)}`;

export function sharedBodies({ bucket, disk, folder, told }: SharedParts): Bodies {
  const local = localBodies(disk, folder.spool);
  const removeShared = async (key: string): Promise<void> => {
    // One that stays is removed at the next start.
    await bucket.remove(key).catch((error: unknown) => told('a body could not be removed', error));
  };
  const fetched = (path: string): Promise<boolean> =>
    fetchInto(path, {
      disk,
      temporary: folder.temporary,
      fetch: (part) => bucket.get(keyOf(path), part),
    });
  return {
    keep: async (path) => {
      const what = 'a body could not be kept';
      await asked(told, what, bucket.put(keyOf(path), path, await contentOf(path)));
    },
    bring: async (path, signal) => {
      while (!existsSync(path)) {
        try {
          // One that is nowhere is told by its job.
          await fetched(path);
          return;
        } catch (error) {
          if (isDiskFull(error)) throw error;
          told('a body could not be fetched', error);
          await sleep(AGAIN_MS, undefined, { signal });
        }
      }
    },
    remove: async (path) => {
      await local.remove(path);
      await removeShared(keyOf(path));
    },
    sweep: async (wanted) => {
      await local.sweep(wanted);
      const keys = new Set([...wanted].map(keyOf));
      for (const { path } of await asked(told, 'bodies could not be listed', bucket.list(SPOOL))) {
        if (!keys.has(path)) await removeShared(path);
      }
    },
  };
}
