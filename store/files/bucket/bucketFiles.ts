// The files of a lake in a bucket: each is read from a cached copy on this disk.
import { join, relative as pathBelow } from 'node:path';
import type { AtCrashPoint } from '../../base/crashPoints.ts';
import type { FileDigest } from '../../base/fileDigest.ts';
import type { Disk } from '../../base/disk.ts';
import type { LakeFile } from '../fileProofs.ts';
import { type Files, type Hashing, type Inspection, localFiles } from '../files.ts';
import { callBucket, type Bucket, type BucketFaultListener } from './bucket.ts';
import { lakeKey } from './bucketPlace.ts';
import type { FileCache } from './fileCache.ts';

interface BucketParts {
  /** Root of the copies. */
  readonly root: string;
  readonly disk: Disk;
  readonly at: AtCrashPoint;
  readonly hashing: Hashing;
  readonly bucket: Bucket;
  readonly cache: FileCache;
  readonly onFault: BucketFaultListener;
}

export function bucketFiles(parts: BucketParts): Files {
  const { at, bucket, cache, hashing, root, onFault } = parts;
  const send = (path: string, relative: string, content: FileDigest): Promise<void> =>
    callBucket(onFault, 'send a file', bucket.put(lakeKey(relative), path, content));
  const local = localFiles(root, diskWithBucketRemoval(parts), at, hashing, send);
  const { proofs } = hashing;
  const listeners: ((relative: readonly string[]) => void)[] = [];
  return {
    open: async (files, compare = false) => {
      const pinned = local.pin(files.map(({ path }) => path));
      let release: (() => void) | undefined;
      const end = (): void => {
        release?.();
        pinned.release();
      };
      try {
        release = await cache.pin(files.map(({ path }) => path));
        const damage = await refetchDamaged(parts, files, await proofs.findDamage(files, compare));
        return { paths: pinned.paths, damage, release: end };
      } catch (error) {
        end();
        throw error;
      }
    },
    pin: (relative) => local.pin(relative),
    openLocal: async (relative) => {
      const release = await cache.pin([relative]);
      return { path: join(root, relative), release };
    },
    inspect: (file) => inspect(file, local, parts),
    compareAgain: async (files) => refetchDamaged(parts, files, await local.compareAgain(files)),
    repair: async (temporary, relative, content) => {
      await send(temporary, relative, content);
      await local.repair(temporary, relative, content);
      await cache.add(relative);
    },
    publish: async (temporary, relative) => {
      const published = await local.publish(temporary, relative);
      await cache.add(relative);
      return published;
    },
    remove: (relative) => {
      for (const listener of listeners) listener(relative);
      return local.remove(relative);
    },
    onRemoved: (listener) => void listeners.push(listener),
    syncRemovals: async () => undefined,
    localPath: (relative) => local.localPath(relative),
    has: async (relative) =>
      (await callBucket(onFault, 'look for a file', bucket.head(lakeKey(relative)))) !== undefined,
  };
}

/** Fetches damaged copies again. @returns the remaining damage */
async function refetchDamaged(
  { cache, hashing: { proofs } }: BucketParts,
  files: readonly LakeFile[],
  damage: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  if (damage.size === 0) return damage;
  const damaged = files.filter(({ path }) => damage.has(path));
  for (const { path } of damaged) await cache.refetch(path);
  return proofs.findDamage(damaged, true);
}

/** Removes files from the bucket first: a failed removal is retried while the catalog has the file. */
const diskWithBucketRemoval = ({ bucket, cache, disk, root, onFault }: BucketParts): Disk => ({
  ...disk,
  remove: async (path) => {
    const relative = pathBelow(root, path);
    await callBucket(onFault, 'remove a file', bucket.remove(lakeKey(relative)));
    cache.forget(relative);
    await disk.remove(path);
  },
});

/** Inspects the object in the bucket without fetching it, and the copy if there is one. */
async function inspect(
  file: LakeFile,
  local: Files,
  { bucket, cache, onFault }: BucketParts,
): Promise<Inspection> {
  const object = await callBucket(onFault, 'inspect a file', bucket.head(lakeKey(file.path)));
  if (object === undefined) return { kind: 'damaged', what: `is missing in ${bucket.name}` };
  if (object.bytes !== file.bytes) {
    const what = `has ${object.bytes} bytes instead of ${file.bytes} in ${bucket.name}`;
    return { kind: 'damaged', what };
  }
  const sha256 = file.proof?.sha256 ?? object.sha256;
  if (object.sha256 !== undefined && sha256 !== object.sha256) {
    return { kind: 'damaged', what: `is another one in ${bucket.name}: its SHA-256 differs` };
  }
  if (sha256 !== undefined && !cache.has(file.path)) {
    return { kind: 'right', proof: { sha256, seen: file.proof?.seen ?? null } };
  }
  const release = await cache.pin([file.path]);
  try {
    const inspected = await local.inspect(file);
    if (inspected.kind === 'right') return inspected;
    await cache.refetch(file.path);
    return await local.inspect(file);
  } finally {
    release();
  }
}
