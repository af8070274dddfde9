// Location of the lake: its files in the data folder or in a bucket, its catalog in the folder or in
// PostgreSQL.
import type { Clock } from '../../store/base/clock.ts';
import type { Disk } from '../../store/base/disk.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Bucket } from '../../store/files/bucket/bucket.ts';
import { bucketPlace } from '../../store/files/bucket/bucketPlace.ts';
import { Failure } from '../../store/base/failure.ts';
import { type CatalogPlace, REMOVE_ONE } from '../../store/catalog/catalogPlace.ts';
import { sqlitePlace } from '../../store/sqlite/sqlitePlace.ts';
import type { ThreadPool } from '../../store/sqlite/writer.ts';
import type { Folder } from '../../store/catalog/folder.ts';
import { type LakePlace, localPlace } from '../../store/files/lakePlace.ts';

export interface LakePlaces {
  readonly catalog: CatalogPlace;
  readonly place: LakePlace;
  readonly bucket: Bucket | undefined;
}

interface PlaceSeams {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly threads?: ThreadPool | undefined;
}

/** The caller closes the bucket. */
export async function openPlaces(
  { bucket: settings, database, standby }: Pick<Settings, 'bucket' | 'database' | 'standby'>,
  folder: Folder,
  { clock, disk, threads }: PlaceSeams,
): Promise<LakePlaces> {
  const catalog = await findCatalog(database, folder, threads, standby);
  if (settings === undefined)
    return { catalog, place: localPlace(folder, disk), bucket: undefined };
  // Its client takes 35 MB, which a server without a bucket does not need.
  const { openS3Bucket } = await import('../../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(settings);
  return { catalog, place: bucketPlace(bucket, clock), bucket };
}

export async function findCatalog(
  database: Settings['database'],
  folder: Pick<Folder, 'catalog'>,
  threads?: ThreadPool,
  isGuarded = false,
): Promise<CatalogPlace> {
  if (database === undefined) return sqlitePlace(folder, threads);
  const { postgresPlace } = await import('../../store/postgres/postgresPlace.ts');
  return postgresPlace(database, isGuarded);
}

/** @throws Failure Conflict where the data folder has a catalog, and the settings specify another place */
export async function refuseTwoCatalogs(
  database: Settings['database'],
  folder: Folder,
  named: CatalogPlace,
): Promise<void> {
  const own = sqlitePlace(folder);
  if (database === undefined || !(await own.exists())) return;
  const how = (await named.exists())
    ? `${named.name} is there as well: ${REMOVE_ONE}`
    : '`tapedeck move` moves it to TAPEDECK_DATABASE';
  throw new Failure('Conflict', `the data folder has a catalog of its own, ${own.name}: ${how}`);
}
