// Describes failures of an S3 store and of the connection to it.
import { Failure, reasonOf } from '../../../store/base/failure.ts';
import { networkFailure } from '../base/outgoingFailure.ts';
import { changedSentence, goneSentence, SourceFailure } from '../base/source.ts';

const CREDENTIAL: ReadonlySet<string> = new Set([
  'AccessDenied',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'SignatureDoesNotMatch',
]);
const TRANSIENT: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
]);

interface StoreError {
  readonly name?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/**
 * @param key undefined for a listing
 * @param listed the object was in a listing a moment ago
 */
export function toS3Failure(error: unknown, bucket: string, key?: string, listed = false): unknown {
  if (error instanceof Failure) return error;
  const { name = '', $metadata } = error as StoreError;
  const status = $metadata?.httpStatusCode ?? 0;
  const detail = `${name}: ${reasonOf(error).split('\n', 1)[0] ?? ''}`;
  if (name === 'NoSuchBucket') return permanent(`bucket ${bucket} is not there`);
  if (name === 'NoSuchKey' || name === 'NotFound') {
    if (listed) return transient(goneSentence(`object ${key ?? ''}`));
    return permanent(`object ${key ?? ''} is not there in bucket ${bucket}`);
  }
  if (CREDENTIAL.has(name)) return permanent(`bucket ${bucket} refused the credential: ${detail}`);
  if (status === 412 && listed) return transient(changedSentence(`object ${key ?? ''}`));
  if (status >= 500 || status === 429 || TRANSIENT.has(name)) {
    return transient(`bucket ${bucket} does not answer in time or has a fault: ${detail}`);
  }
  // An error without a status is not a response.
  const network = networkFailure(error, `the server of bucket ${bucket}`);
  if (network !== undefined) return network;
  return status > 0 ? permanent(`bucket ${bucket} answered HTTP ${status}: ${detail}`) : error;
}

const permanent = (reason: string): SourceFailure => new SourceFailure(reason, false);
const transient = (reason: string): SourceFailure => new SourceFailure(reason, true);
