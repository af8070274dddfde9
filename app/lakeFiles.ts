// The files of the lake as a server has them: read only while they are what was written.
import type { Logger } from 'pino';
import { type FileCheck, makeFileCheck } from '../jobs/upkeep/fileCheck.ts';
import { type Clock, monotonicMs } from '../store/base/clock.ts';
import type { AtCrashPoint } from '../store/base/crashPoints.ts';
import type { Database } from '../store/catalog/database.ts';
import type { Disk } from '../store/base/disk.ts';
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import { reasonOf } from '../store/base/failure.ts';
import { FileProofs, type LakeFile } from '../store/files/fileProofs.ts';
import { type Files, localFiles } from '../store/files/files.ts';
import type { Folder } from '../store/catalog/folder.ts';
import { hashIn } from '../store/base/hashing.ts';
import { type Compared, saveCompared } from '../store/files/proofTable.ts';
import {
  type DamagedPublications,
  makeDamagedPublications,
} from '../store/publications/damagedPublications.ts';
import type { Settings } from '../store/base/settings.ts';

/** Where the lake is, and what it is opened with. */
export interface LakeFolder {
  readonly database: Database;
  readonly folder: Folder;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly at: AtCrashPoint;
  readonly log: Logger;
}

interface LakeFiles {
  readonly files: Files;
  readonly proofs: FileProofs;
  readonly fileCheck: FileCheck;
  readonly damagedPublications: DamagedPublications;
}

/** @param pool hashes what is large */
export function lakeFiles(
  { at, clock, database, disk, folder: { lake: root, published }, log }: LakeFolder,
  pool: DuckDbPool,
  { fileCheckBytesPerSecond: bytesPerSecond }: Settings,
): LakeFiles {
  const hash = hashIn(pool);
  const onCompared = ({ path }: LakeFile, found: Compared): void => {
    const { damage } = found;
    if (damage !== null) log.error({ file: `lake/${path}` }, `a file of the lake ${damage}`);
    // Known again at the next comparison.
    saveCompared(database, found, clock()).catch((error: unknown) =>
      log.error({ reason: reasonOf(error) }, 'what was found of a file could not be kept'),
    );
  };
  const proofs = new FileProofs({ root, hash, monotonic: monotonicMs, onCompared });
  const files = localFiles(root, disk, at, { hash, proofs });
  const damagedPublications = makeDamagedPublications((publicationId) =>
    log.error({ file: `published/${publicationId}` }, 'a published file is not what was published'),
  );
  const keeping = { database, files, proofs, hash, root, published, damagedPublications };
  const fileCheck = makeFileCheck({ ...keeping, clock, bytesPerSecond });
  return { files, proofs, fileCheck, damagedPublications };
}
