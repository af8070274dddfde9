// Where the lake is: its files in the data folder or in a bucket, its catalog there or in PostgreSQL.
import type { Clock } from '../store/base/clock.ts';
import type { Disk } from '../store/base/disk.ts';
import type { Settings } from '../store/base/settings.ts';
import type { Bucket } from '../store/bucket/bucket.ts';
import { bucketPlace } from '../store/bucket/bucketPlace.ts';
import type { CatalogPlace } from '../store/catalog/catalogPlace.ts';
import type { Threads } from '../store/sqlite/writer.ts';
import { catalogOf } from './catalogs.ts';
import type { Folder } from '../store/catalog/folder.ts';
import { type LakePlace, localPlace } from '../store/files/lakePlace.ts';

export interface Placed {
  readonly catalog: CatalogPlace;
  readonly place: LakePlace;
  readonly bucket: Bucket | undefined;
}

interface PlaceSeams {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly threads?: Threads | undefined;
}

/** Whoever has it closes the bucket. */
export async function placed(
  { bucket: settings, database }: Pick<Settings, 'bucket' | 'database'>,
  folder: Folder,
  { clock, disk, threads }: PlaceSeams,
): Promise<Placed> {
  const catalog = await catalogOf(database, folder, threads);
  if (settings === undefined)
    return { catalog, place: localPlace(folder, disk), bucket: undefined };
  // Its client takes 35 MB, which a server without a bucket has no need of.
  const { openS3Bucket } = await import('../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(settings);
  return { catalog, place: bucketPlace(bucket, clock), bucket };
}
