// Decodes bodies by their `content-encoding`.
import { pipeline, type Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import { SourceFailure } from '../base/source.ts';

/** Accepted codings: those whose decoders read streams of several members to their end. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

/** A server needs one; each takes a window of memory. */
const CODINGS_MAX = 3;

type Decoder = Transform & { readonly bytesWritten: number };

const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
  deflate: createInflate,
};

/**
 * Decodes `chunks` by the value of their header `content-encoding`.
 * @throws SourceFailure if a coding is unknown, or there are too many; if bytes follow the end of the
 * encoded stream; else the error of zlib.
 */
export function decodeBody(chunks: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > CODINGS_MAX) {
    throw new SourceFailure(`the body is encoded more than ${CODINGS_MAX} times`, false);
  }
  return codings.reduceRight((encoded, coding) => decode(encoded, coding), chunks);
}

async function* decode(
  chunks: AsyncIterable<Buffer>,
  coding: string,
): AsyncGenerator<Buffer, void> {
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding]?.() : undefined;
  if (decoder === undefined) {
    throw new SourceFailure(`the body is encoded as "${coding.slice(0, 50)}"`, false);
  }
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  yield* pipeline(counted, decoder, () => undefined) as AsyncIterable<Buffer>;
  // A decoder that has reached its end ignores the rest, which may be records.
  if (decoder.bytesWritten < bytes) {
    throw new SourceFailure(`bytes follow the end of the ${coding} body`, false);
  }
}
