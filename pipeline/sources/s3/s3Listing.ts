// Lists the objects of a bucket for a user who selects what to load, one page per call. Uses the same checked
// addresses and credentials as pulls.
import type { S3Client } from '@aws-sdk/client-s3';
import { withDeadline } from '../base/deadline.ts';
import type { BucketOrder, BucketPage } from '../base/source.ts';
import { listPage, openS3, type S3Rules } from './s3.ts';
import { toS3Failure } from './s3Failure.ts';
import { checkBucket } from './s3Names.ts';

/** A caller waits for a page; `sourceTimeoutMs` is for whole files. */
const PAGE_DEADLINE_MS = 30_000;

/** @throws SourceFailure for a refused location, and for an error of the store. */
export async function listBucket(order: BucketOrder, rules: S3Rules): Promise<BucketPage> {
  const { bucket, endpoint, region } = order;
  const place = {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
  };
  checkBucket({ awsbucketName: bucket, ...place }, rules.allowPrivateAddresses);
  const client = openS3(place, order.credential, rules);
  try {
    return await readPage(client, order, Math.min(PAGE_DEADLINE_MS, rules.deadlineMs));
  } catch (error) {
    order.signal.throwIfAborted();
    throw toS3Failure(error, bucket);
  } finally {
    client.destroy();
  }
}

async function readPage(
  client: S3Client,
  { bucket, isFoldersOnly, limit, page, prefix, signal }: BucketOrder,
  deadlineMs: number,
): Promise<BucketPage> {
  using deadline = withDeadline(signal, deadlineMs, `the listing of ${bucket}`);
  const input = {
    Bucket: bucket,
    MaxKeys: limit,
    Prefix: prefix,
    ContinuationToken: page,
    Delimiter: isFoldersOnly ? '/' : undefined,
  };
  const answer = await listPage(client, input, deadline.signal);
  const objects = (answer.Contents ?? []).map(
    ({ ETag = '', Key = '', LastModified, Size = 0 }) => ({
      key: Key,
      size: Size,
      etag: ETag.replaceAll('"', ''),
      lastModified: LastModified?.getTime() ?? null,
    }),
  );
  const folders = (answer.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix);
  const nextPage = answer.IsTruncated === true ? (answer.NextContinuationToken ?? null) : null;
  return { folders, objects, nextPage };
}
