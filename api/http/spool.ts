// Writes a body of any size to a file as it arrives, and syncs it before it is acknowledged: an acknowledged
// job survives a power loss.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure, isDiskFull, reasonOf, toDiskFullFailure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { BodyRequest, Services } from '../request/endpoint.ts';
import { SENDING_PACE, watchSender } from '../request/body/pace.ts';
import { emptyFailure } from '../../pipeline/bytes/content.ts';

/** Size of one write: a body of 45 MB took 59 ms with the stream's default of 64 KB, 23 ms with this. */
const PIECE_BYTES = 1024 ** 2;
/** Bytes between early syncs: 225 MB are synced 6 ms after the last byte instead of 61. */
const SYNC_BYTES = 8 * 1024 ** 2;

/**
 * Stores the body; its hash is empty if nothing needs it.
 * @throws Failure TooLarge above TAPEDECK_BODY_BYTES; InvalidBody if it is empty or incomplete.
 */
export async function spoolBody(
  call: BodyRequest,
  { disk, folder, settings, at }: Pick<Services, 'disk' | 'folder' | 'settings' | 'at'>,
): Promise<{ readonly path: string; readonly bytes: number; readonly hash: string }> {
  const bytesMax = settings.bodyBytesMax;
  if ((call.contentLength ?? 0) > bytesMax) throw makeTooLarge(bytesMax);
  const path = join(folder.spool, newUuid());
  let bytes = 0;
  const hash = createHash('sha256');
  const isHashed = call.checkBody !== undefined || call.idempotencyKey !== '';
  let hashText = '';
  const earlySyncs = makeEarlySyncs(() => disk.syncFile(path));
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      earlySyncs.came(bytes);
      if (isHashed) hash.update(chunk);
      done(bytes > bytesMax ? makeTooLarge(bytesMax) : null, chunk);
    },
  });
  const endWatch = watchSender(
    call.stream,
    SENDING_PACE,
    () => bytes,
    (failure) => counter.destroy(failure),
  );
  try {
    const file = createWriteStream(path, { mode: 0o600, highWaterMark: PIECE_BYTES });
    // A pipeline that starts with the body would close its connection if the file fails.
    call.stream.pipe(counter);
    await pipeline(counter, file).finally(earlySyncs.ended);
    if (isHashed) hashText = hash.digest('hex');
    call.checkBody?.(hashText);
    if (bytes === 0) throw emptyFailure();
    await disk.syncFile(path);
    await disk.syncFolder(folder.spool);
  } catch (error) {
    await disk.remove(path);
    if (error instanceof Failure) throw error;
    if (isDiskFull(error)) throw toDiskFullFailure(error);
    throw new Failure('SystemError', `the body could not be kept: ${reasonOf(error)}`);
  } finally {
    endWatch();
  }
  at('spool-written');
  return { path, bytes, hash: hashText };
}

/** Syncs early and keeps the result: a later sync may not report the same error again. */
function makeEarlySyncs(sync: () => Promise<void>): {
  came(bytes: number): void;
  readonly ended: () => Promise<void>;
} {
  let syncedBytes = 0;
  let running: Promise<void> | undefined;
  return {
    came(bytes) {
      if (running !== undefined || bytes - syncedBytes < SYNC_BYTES) return;
      syncedBytes = bytes;
      running = sync().then(() => {
        running = undefined;
      });
      // The error is reported at the end; no sync follows a failed one.
      running.catch(() => undefined);
    },
    ended: async () => running,
  };
}

const makeTooLarge = (bytesMax: number): Failure =>
  new Failure('TooLarge', `the body is over ${bytesMax} bytes, the most that one load may have`);
