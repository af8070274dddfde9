// How bytes become a file of the landing: whole, counted and hashed, or not there at all.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { toldFull } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { type Landing, SourceFailure } from './source.ts';

interface Landed {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

interface Arriving {
  /** Bytes that arrived of this pull before. */
  readonly before: number;
  /** Bytes of the pull, when that is known. */
  readonly ofBytes: number | undefined;
}

/** A new file of the landing's folder; nobody has made it yet. */
export const landingPath = (landing: Landing): string => join(landing.folder, newUuid());

/**
 * Writes `chunks` into a new file.
 * @throws SourceFailure over the landing's limit; the signal's reason; whatever `chunks` throws.
 * No file is left then.
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
  const counted = async function* (): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw overLimit(bytesMax);
      hash.update(chunk);
      onBytes(before + bytes, ofBytes);
      yield chunk;
    }
  };
  try {
    await pipeline(counted, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
    return { path, bytes, sha256: hash.digest('hex') };
  } catch (error) {
    await rm(path, { force: true });
    signal.throwIfAborted();
    throw toldFull(error);
  }
}

export const overLimit = (bytesMax: number): SourceFailure =>
  new SourceFailure(
    `a file of a source has at most ${bytesMax} bytes (TAPEDECK_SOURCE_BYTES)`,
    false,
  );
