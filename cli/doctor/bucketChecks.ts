// Checks the bucket of the files: whether it answers, and whether it has the files of a lake.
import { openS3Bucket } from '../../pipeline/targets/s3Bucket.ts';
import type { BucketSettings } from '../../store/base/settings/bucketSettings.ts';
import { systemClock } from '../../store/base/clock.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { bucketPlace } from '../../store/files/bucket/bucketPlace.ts';
import { fault, fine, type Finding, notice } from './finding.ts';

export async function bucketFinding(settings: BucketSettings): Promise<Finding> {
  const bucket = openS3Bucket(settings);
  try {
    const head = await bucketPlace(bucket, systemClock).readHead();
    if (head !== undefined) return fine('bucket', `${bucket.name} has the files of a lake`);
    const what = `${bucket.name} answers and has no files of a lake yet`;
    return notice(
      'bucket',
      what,
      '`tapedeck serve` begins there, or copy the files of a folder into it.',
    );
  } catch (error) {
    const advice = 'Check the endpoint, the region and the key of TAPEDECK_S3_….';
    return fault('bucket', `${bucket.name} can not be read: ${reasonOf(error)}`, advice);
  } finally {
    bucket.close();
  }
}
