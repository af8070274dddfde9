// The files of a lake in a bucket: each is read from a cached copy on this disk.
import { join, relative as pathBelow } from 'node:path';
import type { AtCrashPoint } from '../../base/crashPoints.ts';
import type { Content } from '../../base/contents.ts';
import type { Disk } from '../../base/disk.ts';
import type { LakeFile } from '../fileProofs.ts';
import { type Files, type Hashing, type Inspected, localFiles } from '../files.ts';
import { asked, type Bucket, type ToldOfBucket } from './bucket.ts';
import { inLake } from './bucketPlace.ts';
import type { FileCache } from './fileCache.ts';

interface BucketParts {
  /** Root of the copies. */
  readonly root: string;
  readonly disk: Disk;
  readonly at: AtCrashPoint;
  readonly hashing: Hashing;
  readonly bucket: Bucket;
  readonly cache: FileCache;
  readonly told: ToldOfBucket;
}

export function bucketFiles(parts: BucketParts): Files {
  const { at, bucket, cache, hashing, root, told } = parts;
  const send = (path: string, relative: string, content: Content): Promise<void> =>
    asked(told, 'send a file', bucket.put(inLake(relative), path, content));
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
        release = await cache.hold(files.map(({ path }) => path));
        const damage = await refetchDamaged(parts, files, await proofs.damageOf(files, compare));
        return { paths: pinned.paths, damage, release: end };
      } catch (error) {
        end();
        throw error;
      }
    },
    pin: (relative) => local.pin(relative),
    borrow: async (relative) => {
      const release = await cache.hold([relative]);
      return { path: join(root, relative), release };
    },
    inspect: (file) => inspect(file, local, parts),
    examine: async (files) => refetchDamaged(parts, files, await local.examine(files)),
    mend: async (temporary, relative, content) => {
      await send(temporary, relative, content);
      await local.mend(temporary, relative, content);
      await cache.added(relative);
    },
    publish: async (temporary, relative) => {
      const published = await local.publish(temporary, relative);
      await cache.added(relative);
      return published;
    },
    remove: (relative) => {
      for (const listener of listeners) listener(relative);
      return local.remove(relative);
    },
    onRemoved: (listener) => void listeners.push(listener),
    settle: async () => undefined,
    placeOf: (relative) => local.placeOf(relative),
    has: async (relative) =>
      (await asked(told, 'look for a file', bucket.look(inLake(relative)))) !== undefined,
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
  for (const { path } of damaged) await cache.again(path);
  return proofs.damageOf(damaged, true);
}

/** Removes files from the bucket first: a failed removal is retried while the catalog has the file. */
const diskWithBucketRemoval = ({ bucket, cache, disk, root, told }: BucketParts): Disk => ({
  ...disk,
  remove: async (path) => {
    const relative = pathBelow(root, path);
    await asked(told, 'remove a file', bucket.remove(inLake(relative)));
    cache.dropped(relative);
    await disk.remove(path);
  },
});

/** Inspects the object in the bucket without fetching it, and the copy if there is one. */
async function inspect(
  file: LakeFile,
  local: Files,
  { bucket, cache, told }: BucketParts,
): Promise<Inspected> {
  const object = await asked(told, 'inspect a file', bucket.look(inLake(file.path)));
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
  const release = await cache.hold([file.path]);
  try {
    const inspected = await local.inspect(file);
    if (inspected.kind === 'right') return inspected;
    await cache.again(file.path);
    return await local.inspect(file);
  } finally {
    release();
  }
}
