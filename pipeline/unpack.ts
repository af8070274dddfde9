// Gzip to a plain temporary file, with an end: a bomb stops at a ratio, not at a full disk.
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Failure, reasonOf } from '../store/failure.ts';

/** Deflate can't beat about 1,032:1; text and Parquet stay far below this. */
const RATIO_MAX = 200;
/** Small files may unpack to this much whatever their ratio. */
const FREE_BYTES = 64 * 1024 ** 2;

/** @throws Failure InvalidBody for a damaged file, TooLarge for one that unpacks beyond reason. */
export async function unpackGzip(from: string, to: string): Promise<void> {
  const most = Math.max(FREE_BYTES, (await stat(from)).size * RATIO_MAX);
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= most) return done(null, chunk);
      done(new Failure('TooLarge', `the gzip body unpacks to over ${most} bytes`));
    },
  });
  try {
    await pipeline(createReadStream(from), createGunzip(), count, createWriteStream(to));
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('InvalidBody', `the gzip body is damaged: ${reasonOf(error)}`);
  }
}
