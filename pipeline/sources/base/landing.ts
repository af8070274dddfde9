// Writes bytes to a file of the landing folder: whole, counted and hashed, or not at all.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { toDiskFullFailure } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { type Landing, SourceFailure } from './source.ts';

interface Landed {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

interface Arriving {
  /** Bytes of this pull that arrived before. */
  readonly before: number;
  /** Total bytes of the pull, if known. */
  readonly ofBytes: number | undefined;
}

/** A new path in the landing folder. */
export const landingPath = (landing: Landing): string => join(landing.folder, newUuid());

/**
 * Writes `chunks` into a new file. A failure leaves no file.
 * @throws SourceFailure over the landing's limit; the signal's reason; any error of `chunks`.
 */
export async function land(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  landing: Landing,
  { before, ofBytes }: Arriving,
): Promise<Landed> {
  const { bytesMax, signal, onBytes } = landing;
  const path = landingPath(landing);
  const hash = createHash('sha256');
  let bytes = 0;
  const countBytes = async function* (): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw overLimit(bytesMax);
      hash.update(chunk);
      onBytes(before + bytes, ofBytes);
      yield chunk;
    }
  };
  try {
    await pipeline(countBytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
    return { path, bytes, sha256: hash.digest('hex') };
  } catch (error) {
    await rm(path, { force: true });
    signal.throwIfAborted();
    throw toDiskFullFailure(error);
  }
}

export const overLimit = (bytesMax: number): SourceFailure =>
  new SourceFailure(
    `a file of a source has at most ${bytesMax} bytes (TAPEDECK_SOURCE_BYTES)`,
    false,
  );
