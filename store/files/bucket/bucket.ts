// The seam under files that are not on this machine: whole objects, written once, by their paths.
import type { Content } from '../../base/contents.ts';
import { Away } from '../../base/failure.ts';

export interface BucketFile {
  readonly path: string;
  readonly bytes: number;
  readonly writtenMs: number;
}

/** Each verb @throws the store's failure, in words; what it has tried again is its own matter. */
export interface Bucket {
  /** `s3://bucket/prefix`. */
  readonly name: string;
  put(path: string, source: string, content: Content): Promise<void>;
  /** Into a local file; false where there is no such object. */
  get(path: string, target: string): Promise<boolean>;
  /** What is there, with the hash that was written beside it; undefined where there is none. */
  look(
    path: string,
  ): Promise<{ readonly bytes: number; readonly sha256: string | undefined } | undefined>;
  /** All whose paths begin so. */
  list(beginning: string): Promise<readonly BucketFile[]>;
  /** What is not there is removed already. */
  remove(path: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** A short text; undefined where there is none. */
  text(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<void>;
  close(): void;
}

/** Told to the operator; a caller learns nothing of the bucket. */
export type ToldOfBucket = (what: string, reason: unknown) => void;

/** What a caller is told of a store's failure. @throws Away */
export async function asked<T>(told: ToldOfBucket, what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    told(what, error);
    throw new Away('the store of the files does not answer: please try again later');
  }
}
