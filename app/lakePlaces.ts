// Where the files of the lake are: in the data folder, or in the bucket that the settings name.
import type { Clock } from '../store/base/clock.ts';
import type { Disk } from '../store/base/disk.ts';
import type { Settings } from '../store/base/settings.ts';
import type { Bucket } from '../store/bucket/bucket.ts';
import { bucketPlace } from '../store/bucket/bucketPlace.ts';
import type { Folder } from '../store/catalog/folder.ts';
import { type LakePlace, localPlace } from '../store/files/lakePlace.ts';

export interface Placed {
  readonly place: LakePlace;
  readonly bucket: Bucket | undefined;
}

/** Whoever has it closes the bucket. */
export async function placed(
  { bucket: settings }: Pick<Settings, 'bucket'>,
  folder: Folder,
  { clock, disk }: { readonly clock: Clock; readonly disk: Disk },
): Promise<Placed> {
  if (settings === undefined) return { place: localPlace(folder, disk), bucket: undefined };
  // Its client takes 35 MB, which a server without a bucket has no need of.
  const { openS3Bucket } = await import('../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(settings);
  return { place: bucketPlace(bucket, clock), bucket };
}
