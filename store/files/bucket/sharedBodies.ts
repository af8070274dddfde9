// Stores the bodies of jobs in the bucket until their jobs have ended, so that another machine can run a load
// that was acknowledged on this one.
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { digestFile } from '../../base/fileDigest.ts';
import type { Disk } from '../../base/disk.ts';
import { type Bodies, localBodies } from '../bodies.ts';
import { callBucket, type Bucket, type BucketFaultListener } from './bucket.ts';
import { isDiskFull } from '../../base/failure.ts';
import { fetchInto } from './fetchInto.ts';

const SPOOL = 'spool/';
/** Delay of retries while the store is unavailable, for as long as a job may wait. */
const RETRY_DELAY_MS = 5_000;

interface SharedParts {
  readonly bucket: Bucket;
  readonly disk: Disk;
  readonly folder: { readonly spool: string; readonly temporary: string };
  readonly onFault: BucketFaultListener;
}

const bodyKey = (path: string): string => `${SPOOL}${basename(path)}`;

export function sharedBodies({ bucket, disk, folder, onFault }: SharedParts): Bodies {
  const local = localBodies(disk, folder.spool);
  const removeShared = async (key: string): Promise<void> => {
    // If it fails, it is removed at the next start.
    await bucket
      .remove(key)
      .catch((error: unknown) => onFault('a body could not be removed', error));
  };
  const fetchBody = (path: string): Promise<boolean> =>
    fetchInto(path, {
      disk,
      temporary: folder.temporary,
      fetch: (part) => bucket.get(bodyKey(path), part),
    });
  return {
    store: async (path) => {
      const what = 'a body could not be kept';
      await callBucket(onFault, what, bucket.put(bodyKey(path), path, await digestFile(path)));
    },
    ensureLocal: async (path, signal) => {
      while (!existsSync(path)) {
        try {
          // The job reports a body that does not exist.
          await fetchBody(path);
          return;
        } catch (error) {
          if (isDiskFull(error)) throw error;
          onFault('a body could not be fetched', error);
          await sleep(RETRY_DELAY_MS, undefined, { signal });
        }
      }
    },
    remove: async (path) => {
      await local.remove(path);
      await removeShared(bodyKey(path));
    },
    removeUnused: async (jobPaths) => {
      await local.removeUnused(jobPaths);
      const keys = new Set([...jobPaths].map(bodyKey));
      for (const { path } of await callBucket(
        onFault,
        'bodies could not be listed',
        bucket.list(SPOOL),
      )) {
        if (!keys.has(path)) await removeShared(path);
      }
    },
  };
}
