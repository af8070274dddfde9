// Files of the lake for a server: each is verified before it is read.
import type { Logger } from 'pino';
import { type FileCheck, makeFileCheck } from '../../jobs/upkeep/fileCheck.ts';
import { type Clock, monotonicMs } from '../../store/base/clock.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { Disk } from '../../store/base/disk.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { FileProofs, type LakeFile } from '../../store/files/fileProofs.ts';
import { type Files, type Hashing, localFiles } from '../../store/files/files.ts';
import { type Bodies, localBodies } from '../../store/files/bodies.ts';
import { sharedBodies } from '../../store/files/bucket/sharedBodies.ts';
import {
  callBucket,
  type Bucket,
  type BucketFaultListener,
} from '../../store/files/bucket/bucket.ts';
import { bucketFiles } from '../../store/files/bucket/bucketFiles.ts';
import { lakeKey } from '../../store/files/bucket/bucketPlace.ts';
import { FileCache } from '../../store/files/bucket/fileCache.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import { createFileHasher } from '../../store/base/fileDigest.ts';
import { type Comparison, saveComparison } from '../../store/files/proofTable.ts';
import {
  type DamagedPublications,
  createDamagedPublications,
} from '../../store/publications/damagedPublications.ts';
import {
  bucketPublished,
  localPublished,
  type PublishedFiles,
} from '../../store/publications/publishedFiles.ts';
import type { LakePlaces } from './lakePlaces.ts';
import type { Settings } from '../../store/base/settings/settings.ts';

/** The lake's folder, with the parts needed to open it. */
export interface LakeFolder {
  readonly database: Database;
  readonly folder: Folder;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly at: AtCrashPoint;
  readonly log: Logger;
}

type FilesFolder = Pick<LakeFolder, 'at' | 'disk' | 'log'> & {
  readonly folder: Pick<Folder, 'lake' | 'temporary'>;
};

interface LakeFiles {
  readonly files: Files;
  /** Local copies of a bucket's files. */
  readonly fileCache: FileCache | undefined;
  readonly proofs: FileProofs;
  readonly fileCheck: FileCheck;
  readonly damagedPublications: DamagedPublications;
  readonly publishedFiles: PublishedFiles;
  readonly bodies: Bodies;
}

/** @param pool hashes large files */
export async function openLakeFiles(
  storing: LakeFolder,
  pool: DuckDbPool,
  { bucket: bucketed, fileCheckBytesPerSecond: bytesPerSecond, standby }: Settings,
  { bucket }: LakePlaces,
): Promise<LakeFiles> {
  const { clock, database, folder, log } = storing;
  const { lake: root } = folder;
  const hash = createFileHasher(pool);
  const onCompared = ({ path }: LakeFile, comparison: Comparison): void => {
    const { damage } = comparison;
    if (damage !== null) log.error({ file: `lake/${path}` }, `a file of the lake ${damage}`);
    // The next comparison finds it again.
    saveComparison(database, comparison, clock()).catch((error: unknown) =>
      log.error({ reason: reasonOf(error) }, 'the result of a file check could not be stored'),
    );
  };
  const proofs = new FileProofs({ root, hash, monotonic: monotonicMs, onCompared });
  const { cache, files } = await openFileStore(
    storing,
    { hash, proofs },
    bucket,
    bucketed?.cacheBytes,
  );
  const damagedPublications = createDamagedPublications((publicationId) =>
    log.error({ file: `published/${publicationId}` }, 'a published file is not what was published'),
  );
  const publishedFiles = publishedIn(storing, bucket);
  const keeping = { database, files, hash, publishedFiles, damagedPublications };
  const fileCheck = makeFileCheck({ ...keeping, clock, bytesPerSecond });
  const bodies = bodiesIn(storing, standby ? bucket : undefined);
  return {
    files,
    fileCache: cache,
    proofs,
    fileCheck,
    damagedPublications,
    publishedFiles,
    bodies,
  };
}

function bodiesIn({ disk, folder, log }: LakeFolder, bucket: Bucket | undefined): Bodies {
  if (bucket === undefined) return localBodies(disk, folder.spool);
  return sharedBodies({ bucket, disk, folder, onFault: failureLogger(log) });
}

function publishedIn(
  { disk, folder, log }: LakeFolder,
  bucket: Bucket | undefined,
): PublishedFiles {
  if (bucket === undefined) return localPublished(folder, disk);
  return bucketPublished(folder, disk, bucket, failureLogger(log));
}

const failureLogger =
  (log: Logger): BucketFaultListener =>
  (what, reason) =>
    log.error({ what, reason: reasonOf(reason) }, 'the bucket of the files failed');

/** Opens files in the folder, or in a bucket with a local cache of at most `bytesMax`. */
export async function openFileStore(
  { at, disk, folder: { lake: root, temporary }, log }: FilesFolder,
  hashing: Hashing,
  bucket: Bucket | undefined,
  bytesMax = 0,
): Promise<{ readonly files: Files; readonly cache: FileCache | undefined }> {
  if (bucket === undefined) return { files: localFiles(root, disk, at, hashing), cache: undefined };
  const logFailure = failureLogger(log);
  const fetch = (path: string, target: string): Promise<boolean> =>
    callBucket(logFailure, 'fetch a file', bucket.get(lakeKey(path), target));
  const onFault = (reason: unknown): void => logFailure('remove a copy', reason);
  const cache = await FileCache.open({ root, temporary, disk, bytesMax, fetch, onFault });
  return {
    files: bucketFiles({ root, disk, at, hashing, bucket, cache, onFault: logFailure }),
    cache,
  };
}
