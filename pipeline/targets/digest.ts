// The checksum of a file, read in pieces: a part may be larger than memory.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

interface Digest {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Larger pieces are no faster, and stand before other work. */
const CHUNK_BYTES = 256 * 1024;

/** @throws the system's error when the file can not be read; the signal's reason. */
export async function digestOf(path: string, signal: AbortSignal): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  const chunks = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
