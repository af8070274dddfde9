// What an S3 store, or the way to it, answered instead.
import { Failure, reasonOf } from '../../../store/base/failure.ts';
import { networkFailure } from '../base/outgoingFailure.ts';
import { SourceFailure } from '../base/source.ts';

const CREDENTIAL: ReadonlySet<string> = new Set([
  'AccessDenied',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
]);
const LATER: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
]);

interface Answered {
  readonly name?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/**
 * @param key undefined for a listing
 * @param listed the object was there a moment ago
 */
export function s3FailureOf(error: unknown, bucket: string, key?: string, listed = false): unknown {
  if (error instanceof Failure) return error;
  const { name = '', $metadata } = error as Answered;
  const status = $metadata?.httpStatusCode ?? 0;
  const said = `${name}: ${reasonOf(error).split('\n', 1)[0] ?? ''}`;
  if (name === 'NoSuchBucket') return permanent(`bucket ${bucket} is not there`);
  if (name === 'NoSuchKey' || name === 'NotFound') {
    if (listed) return transient(`object ${key ?? ''} has gone while it was read`);
    return permanent(`object ${key ?? ''} is not there in bucket ${bucket}`);
  }
  if (CREDENTIAL.has(name)) return permanent(`bucket ${bucket} refused the credential: ${said}`);
  if (status === 412 && listed) return transient(`object ${key ?? ''} changed while it was read`);
  if (status >= 500 || status === 429 || LATER.has(name)) {
    return transient(`bucket ${bucket} does not answer in time or has a fault: ${said}`);
  }
  // An error without a status never was an answer.
  const network = networkFailure(error, `the server of bucket ${bucket}`);
  if (network !== undefined) return network;
  return status > 0 ? permanent(`bucket ${bucket} answered HTTP ${status}: ${said}`) : error;
}

const permanent = (reason: string): SourceFailure => new SourceFailure(reason, false);
const transient = (reason: string): SourceFailure => new SourceFailure(reason, true);
