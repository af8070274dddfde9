// Checks requests to an S3 store. Separate from `s3.ts`, whose client takes 35 MB of a server's memory.
import { checkUrl } from '../base/guard.ts';
import { checkPattern } from '../base/pattern.ts';
import { type S3Definition, SourceFailure } from '../base/source.ts';

/** Rule of S3; compatible stores allow more, but no `/`. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
/** The region becomes part of a host name. */
const REGION = /^[a-z0-9-]{1,32}$/;
const KEY_BYTES_MAX = 1_024;

/** @throws SourceFailure naming the member and its rule. */
export function checkS3(definition: S3Definition, allowPrivateAddresses: boolean): void {
  const { key, pattern } = definition;
  if ((key === undefined) === (pattern === undefined))
    refuse('either "key" or "pattern" is needed');
  if (key !== undefined && (key === '' || Buffer.byteLength(key) > KEY_BYTES_MAX)) {
    refuse(`"key" has 1 to ${KEY_BYTES_MAX} bytes`);
  }
  if (pattern !== undefined) checkPattern(pattern);
  checkBucket(definition, allowPrivateAddresses);
}

/** Checks the location of a bucket. @throws SourceFailure naming the member and its rule. */
export function checkBucket(
  { awsbucketName, endpoint, region }: Pick<S3Definition, 'awsbucketName' | 'endpoint' | 'region'>,
  allowPrivateAddresses: boolean,
): void {
  if (!BUCKET.test(awsbucketName))
    refuse(`"${awsbucketName.slice(0, 100)}" is no name of a bucket`);
  if (region !== undefined && !REGION.test(region)) refuse('"region" is such as us-east-1');
  if (endpoint === undefined) return;
  const { pathname, search } = checkUrl(endpoint, allowPrivateAddresses);
  if (pathname !== '/' || search !== '') refuse('"endpoint" is a URL without a path');
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
