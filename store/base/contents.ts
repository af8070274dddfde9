// What a file holds, as a length and a hash: told when it is written, held against it ever after.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Content {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** 0.14 ms of hashing at a time: 1.8 GB/s. */
export const CHUNK_BYTES = 256 * 1024;

/** Reads a file whole. */
export async function contentOf(path: string, signal?: AbortSignal): Promise<Content> {
  const { counted, content } = counting();
  const options = { highWaterMark: CHUNK_BYTES, ...(signal === undefined ? {} : { signal }) };
  await pipeline(createReadStream(path, options), counted.resume());
  return content();
}

/** A stream that passes bytes on, and what they were once it has ended. */
export function counting(): { readonly counted: Transform; readonly content: () => Content } {
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
