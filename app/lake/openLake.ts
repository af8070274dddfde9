// Opens the lake at a start: checks that catalog and files belong together, migrates the catalog, and only
// then sweeps files that the last run left. It also opens the pending pushes, and the clock that both use.
import {
  beginRun,
  noSnapshotFailure,
  readCatalogHead,
  type Ownership,
  checkCatalogMatches,
} from '../../store/files/catalogCheck.ts';
import type { Database } from '../../store/catalog/database.ts';
import { reasonOf } from '../../store/base/failure.ts';
import type { Files } from '../../store/files/files.ts';
import { createFirstSnapshot } from '../../store/lake/firstSnapshot.ts';
import { Lake } from '../../store/lake/lake.ts';
import { LakeClock } from '../../store/catalog/lakeClock.ts';
import type { LakeOwner } from '../../store/files/lakeHead.ts';
import { migrate } from '../../store/catalog/migrate.ts';
import { Pending } from '../../store/lake/pushes/pending.ts';
import { nextRowNumber } from '../../store/lake/pushes/pendingRows.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { sweepOrphans } from '../../store/lake/versions/sweep.ts';
import { UNCLAIMED_DAYS } from '../../store/files/unclaimed.ts';
import type { Services } from '../../api/request/endpoint.ts';
import type { LakePlace } from '../../store/files/lakePlace.ts';
import { verifyPlace } from '../../store/lake/versions/placeCheck.ts';
import type { LakePlaces } from './lakePlaces.ts';
import type { LakeFolder } from './lakeFiles.ts';

interface Opening extends LakeFolder {
  readonly files: Files;
  readonly place: LakePlace;
  readonly onBack: Settings['clockBack'];
}

/**
 * Call it before any other use of the catalog.
 * @throws Failure Conflict when the files belong to another catalog, or to a newer state of it.
 */
export async function prepareCatalog(
  database: Database,
  { bucket, catalog, place }: LakePlaces,
): Promise<void> {
  await checkCatalogMatches(database, catalog, place);
  await migrate(database);
  await verifyPlace(database, place, bucket?.name);
}

/** Opens the lake of a prepared catalog. */
export async function openLake(
  opening: Opening,
): Promise<Pick<Services, 'lake' | 'lakeClock' | 'pending'>> {
  const { at, clock, database, files, log, onBack } = opening;
  const lakeClock = await LakeClock.open(database, clock, {
    onBack,
    onClockBack: (back) => log.warn(back, 'the clock went back: it is behind the newest commit'),
  });
  await createFirstSnapshot(database, lakeClock);
  const { owner, ownership } = await ownLake(opening);
  const lake = await Lake.open({ database, files, clock: lakeClock, at, owner });
  await sweep(opening, ownership);
  const pending = await Pending.open(database, lakeClock, at);
  for (const tableId of pending.tables()) {
    lake.rowNumbers.reserve(tableId, nextRowNumber(pending.pendingRows(tableId)), 0);
  }
  // A flush replaces its pending records for readers in one step.
  lake.onChange(({ snapshot, tableIds, touches }) => {
    if (touches?.kind !== 'records') return;
    for (const tableId of tableIds) pending.finishFlush(tableId, snapshot);
  });
  return { lake, lakeClock, pending };
}

/**
 * Takes ownership of the lake for this run: its files contain the run's id, and a note beside the files
 * follows the catalog.
 */
async function ownLake({
  clock,
  database,
  log,
  place,
}: Opening): Promise<{ readonly owner: LakeOwner; readonly ownership: Ownership }> {
  const head = await readCatalogHead(database);
  if (head === undefined) throw noSnapshotFailure();
  const ownership = await beginRun(database, place, head.lake);
  const { lake, run } = ownership;
  const write = (snapshot: number, timeMs: number): Promise<void> =>
    place.writeHead({ lake, snapshot, timeMs });
  await write(head.snapshot, clock());
  // The commit is done: an outdated note only makes the next start less sure about garbage.
  const moved = (snapshot: number, timeMs: number): Promise<void> =>
    write(snapshot, timeMs).catch((error: unknown) =>
      log.error({ reason: reasonOf(error) }, 'the note beside the files could not be written'),
    );
  return { owner: { lake, run, moved }, ownership };
}

async function sweep(parts: Opening, ownership: Ownership): Promise<void> {
  const { aside, folder, removed } = await sweepOrphans({ ...parts, ownership });
  const { log } = parts;
  if (removed > 0) log.info({ files: removed }, 'removed files that no commit had named');
  if (aside === 0) return;
  const days = `they are kept for ${UNCLAIMED_DAYS} days`;
  log.warn({ files: aside, folder }, `put files aside that the catalog does not know: ${days}`);
}
