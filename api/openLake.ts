// The lake at start: first it is asked whether catalog and files belong together, then the catalog is
// brought to this program's version, and only then is swept what the last run left.
import type { Logger } from 'pino';
import { type FileCheck, makeFileCheck } from '../jobs/fileCheck.ts';
import {
  beginRun,
  catalogHead,
  type Ownership,
  refuseWrongCatalog,
} from '../store/catalogCheck.ts';
import { type Clock, monotonicMs } from '../store/clock.ts';
import type { AtCrashPoint } from '../store/crashPoints.ts';
import type { Database } from '../store/database.ts';
import type { Disk } from '../store/disk.ts';
import { Failure, reasonOf } from '../store/failure.ts';
import { FileProofs, type LakeFile } from '../store/fileProofs.ts';
import { type Files, localFiles } from '../store/files.ts';
import type { Folder } from '../store/folder.ts';
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import type { Settings } from '../store/settings.ts';
import { firstSnapshot, Lake, type LakeOwner } from '../store/lake.ts';
import { writeHead } from '../store/lakeHead.ts';
import { hashIn } from '../store/hashing.ts';
import { migrate } from '../store/migrate.ts';
import { type Compared, saveCompared } from '../store/proofTable.ts';
import { sweepOrphans } from '../store/sweep.ts';
import { UNCLAIMED_DAYS } from '../store/unclaimed.ts';

interface LakeFolder {
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
}

/** The files of the lake, read only while they are what was written. */
export function lakeFiles(
  { at, clock, database, disk, folder: { lake: root }, log }: LakeFolder,
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
  const checking = { database, files, proofs, hash, root, clock, bytesPerSecond };
  return { files, proofs, fileCheck: makeFileCheck(checking) };
}

/** @throws Failure Conflict when the files are another catalog's, or those of a newer one. */
export async function openLake(parts: LakeFolder, files: Files): Promise<Lake> {
  const { at, clock, database, folder } = parts;
  await refuseWrongCatalog(database, folder);
  await migrate(database);
  await firstSnapshot(database, clock());
  const { owner, ownership } = await ownLake(parts);
  const lake = await Lake.open({ database, files, clock, at, owner });
  await sweep(parts, files, ownership);
  return lake;
}

/** Takes the lake for this run: its files carry the run's id, and its note follows the catalog. */
async function ownLake({
  clock,
  database,
  disk,
  folder,
  log,
}: LakeFolder): Promise<{ readonly owner: LakeOwner; readonly ownership: Ownership }> {
  const head = await catalogHead(database);
  if (head === undefined) throw new Failure('SystemError', 'the lake has no first snapshot');
  const ownership = await beginRun(database, folder, head.lake);
  const { lake, run } = ownership;
  const write = (snapshot: number, timeMs: number): Promise<void> =>
    writeHead(folder.lake, { lake, snapshot, timeMs }, disk);
  await write(head.snapshot, clock());
  // The commit stands: an older note only makes the next start less sure of what is garbage.
  const moved = (snapshot: number, timeMs: number): Promise<void> =>
    write(snapshot, timeMs).catch((error: unknown) =>
      log.error({ reason: reasonOf(error) }, 'the note beside the files could not be written'),
    );
  return { owner: { lake, run, moved }, ownership };
}

async function sweep(parts: LakeFolder, files: Files, ownership: Ownership): Promise<void> {
  const { aside, folder, removed } = await sweepOrphans({ ...parts, files, ownership });
  const { log } = parts;
  if (removed > 0) log.info({ files: removed }, 'removed files that no commit had named');
  if (aside === 0) return;
  const days = `they are kept for ${UNCLAIMED_DAYS} days`;
  log.warn({ files: aside, folder }, `put files aside that the catalog does not know: ${days}`);
}
