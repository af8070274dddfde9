// The length and hash of a file's content: recorded when it is written, compared whenever it is checked.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface FileDigest {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** 0.14 ms of hashing for each chunk: 1.8 GB/s. */
export const CHUNK_BYTES = 256 * 1024;
/** The smallest chunk: a file may be longer than its recorded length. */
const CHUNK_BYTES_MIN = 4096;

/**
 * Reads a whole file.
 * @param bytes its length, if known: the buffer is not larger than that
 */
export async function digestFile(
  path: string,
  signal?: AbortSignal,
  bytes = CHUNK_BYTES,
): Promise<FileDigest> {
  const { counted, content } = createDigestStream();
  const highWaterMark = Math.max(CHUNK_BYTES_MIN, Math.min(bytes, CHUNK_BYTES));
  const options = { highWaterMark, ...(signal === undefined ? {} : { signal }) };
  await pipeline(createReadStream(path, options), counted.resume());
  return content();
}

/** Creates a pass-through stream; `content` returns the length and hash of its bytes after it has ended. */
export function createDigestStream(): {
  readonly counted: Transform;
  readonly content: () => FileDigest;
} {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      done(null, chunk);
    },
  });
  return { counted, content: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/** Files up to this size are hashed in this process, in 0.5 ms: a request to a child takes as long. */
const INLINE_BYTES_MAX = 1_000_000;
/** A disk reads at least 10 MB/s. */
const BYTES_PER_MS_MIN = 10_000;
const DEADLINE_MIN_MS = 60_000;

/**
 * Computes length and SHA-256 of a file from its path and its recorded length. Small files are hashed in
 * this process, others in a child, so that the event loop is not blocked.
 */
export type HashFile = (path: string, bytes: number) => Promise<FileDigest>;

export function createFileHasher(pool: {
  contents(files: readonly string[], deadlineMs: number): Promise<readonly FileDigest[]>;
}): HashFile {
  return async (path, bytes) => {
    if (bytes <= INLINE_BYTES_MAX) return digestFile(path, undefined, bytes);
    const deadlineMs = DEADLINE_MIN_MS + bytes / BYTES_PER_MS_MIN;
    const [content] = await pool.contents([path], deadlineMs);
    return content ?? digestFile(path);
  };
}
