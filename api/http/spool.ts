// A body of any size goes to a file as it comes, and to the disk before anyone is told: a job that
// was acknowledged survives a power loss.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure, isDiskFull, reasonOf, toldFull } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { SENDING, watchSender } from '../request/body/pace.ts';

/** Written at once: a body of 45 MB took 59 ms in the stream's own 64 KB, 23 ms so. */
const PIECE_BYTES = 1024 ** 2;
/** So much goes to the disk while more comes: 225 MB are synced 6 ms after the last byte instead of 61. */
const SYNC_BYTES = 8 * 1024 ** 2;

/**
 * Its hash is empty where nothing needs it.
 * @throws Failure TooLarge past TAPEDECK_BODY_BYTES; InvalidBody when it is empty or cut short.
 */
export async function spoolBody(
  call: Call,
  { disk, folder, settings, at }: Pick<Services, 'disk' | 'folder' | 'settings' | 'at'>,
): Promise<{ readonly path: string; readonly bytes: number; readonly hash: string }> {
  const most = settings.bodyBytesMax;
  if ((call.contentLength ?? 0) > most) throw tooLarge(most);
  const path = join(folder.spool, newUuid());
  let bytes = 0;
  const hash = createHash('sha256');
  const isHashed = call.checkBody !== undefined || call.idempotencyKey !== '';
  let hashed = '';
  const early = makeEarlySyncs(() => disk.syncFile(path));
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      early.came(bytes);
      if (isHashed) hash.update(chunk);
      done(bytes > most ? tooLarge(most) : null, chunk);
    },
  });
  const end = watchSender(
    call.stream,
    SENDING,
    () => bytes,
    (failure) => count.destroy(failure),
  );
  try {
    const file = createWriteStream(path, { mode: 0o600, highWaterMark: PIECE_BYTES });
    // A pipeline that began with the body would end its connection where the file fails.
    call.stream.pipe(count);
    await pipeline(count, file).finally(early.ended);
    if (isHashed) hashed = hash.digest('hex');
    call.checkBody?.(hashed);
    if (bytes === 0) throw new Failure('InvalidBody', 'the body is empty');
    await disk.syncFile(path);
    await disk.syncFolder(folder.spool);
  } catch (error) {
    await disk.remove(path);
    if (error instanceof Failure) throw error;
    if (isDiskFull(error)) throw toldFull(error);
    throw new Failure('SystemError', `the body could not be kept: ${reasonOf(error)}`);
  } finally {
    end();
  }
  at('spool-written');
  return { path, bytes, hash: hashed };
}

/** What the disk said of what came already counts: a later sync may not say it again. */
function makeEarlySyncs(sync: () => Promise<void>): {
  came(bytes: number): void;
  readonly ended: () => Promise<void>;
} {
  let asked = 0;
  let running: Promise<void> | undefined;
  return {
    came(bytes) {
      if (running !== undefined || bytes - asked < SYNC_BYTES) return;
      asked = bytes;
      running = sync().then(() => {
        running = undefined;
      });
      // It is told at the end; a failed one is the last.
      running.catch(() => undefined);
    },
    ended: async () => running,
  };
}

const tooLarge = (most: number): Failure =>
  new Failure('TooLarge', `the body is over ${most} bytes, the most that one load may have`);
