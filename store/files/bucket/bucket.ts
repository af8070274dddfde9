// The interface to an object store: whole objects, written once, by path.
import type { FileDigest } from '../../base/fileDigest.ts';
import { Unavailable } from '../../base/failure.ts';

export interface BucketFile {
  readonly path: string;
  readonly bytes: number;
  readonly writtenMs: number;
}

/** Each method @throws an error with the store's message, after its own retries. */
export interface Bucket {
  /** `s3://bucket/prefix`. */
  readonly name: string;
  put(path: string, source: string, content: FileDigest): Promise<void>;
  /** Downloads an object to a local file; false if it does not exist. */
  get(path: string, target: string): Promise<boolean>;
  /** Returns the length of an object, and the hash stored with it; undefined if it does not exist. */
  head(
    path: string,
  ): Promise<{ readonly bytes: number; readonly sha256: string | undefined } | undefined>;
  /** Lists all objects whose paths have a prefix. */
  list(prefix: string): Promise<readonly BucketFile[]>;
  /** Removes an object; a missing one is no error. */
  remove(path: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** Reads a short text; undefined if it does not exist. */
  text(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<void>;
  close(): void;
}

/** Logs an error for the operator; the caller receives no details of the bucket. */
export type BucketFaultListener = (what: string, reason: unknown) => void;

/** Waits for a bucket operation, and hides its error from the caller. @throws Away */
export async function callBucket<T>(
  onFault: BucketFaultListener,
  what: string,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    onFault(what, error);
    throw new Unavailable('the store of the files does not answer: please try again later');
  }
}
