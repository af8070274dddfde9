// Limits buffered answers: each account has a maximum of bytes on disk and in memory, and readers that are
// too slow are disconnected.
import type { ServerResponse } from 'node:http';
import { dropFile } from '../../store/duckdb/bodyFiles.ts';
import { type Body, bodyLength } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Pace, watchPace } from '../request/body/pace.ts';

/** Bytes of answers in memory that wait for readers of one account. */
const MEMORY_BYTES_MAX = 512 * 1024 ** 2;
/** A smaller answer is not counted: it fits into the system's buffers. */
export const LARGE_BYTES = 1024 ** 2;

type AnswerPlace = 'disk' | 'memory';

export interface AnswerBuffers {
  /**
   * Counts a body until its answer is closed, and watches that it is read.
   * @throws Failure Busy at the account's limit; the body's file is deleted then.
   */
  add(account: string, body: Body, raw: ServerResponse): void;
  /** Watches that the answer is read. */
  watch(raw: ServerResponse): void;
  /** Bytes of all accounts, for the metrics. */
  bytes(): number;
}

export function makeAnswerBuffers(diskBytesMax: number, pace: Pace): AnswerBuffers {
  const bytesByKey = new Map<string, number>();
  const bytesMax = { disk: diskBytesMax, memory: MEMORY_BYTES_MAX };
  const add = (key: string, bytes: number): void => {
    const newBytes = (bytesByKey.get(key) ?? 0) + bytes;
    if (newBytes > 0) bytesByKey.set(key, newBytes);
    else bytesByKey.delete(key);
  };
  return {
    watch: (raw) => void raw.once('close', watchReader(raw, pace)),
    bytes: () => [...bytesByKey.values()].reduce((sum, bytes) => sum + bytes, 0),
    add: (account, body, raw) => {
      const { file } = body;
      const place: AnswerPlace = file === undefined ? 'memory' : 'disk';
      const length = bodyLength(body);
      if (length < LARGE_BYTES && file === undefined) return;
      const key = `${place} ${account}`;
      const otherBytes = bytesByKey.get(key) ?? 0;
      if (otherBytes > 0 && otherBytes + length > bytesMax[place]) {
        dropFile(file);
        throw makeFullFailure(place, otherBytes, bytesMax[place]);
      }
      add(key, length);
      const endWatch = watchReader(raw, pace);
      const close = (): void => {
        endWatch();
        add(key, -length);
        dropFile(file);
      };
      if (raw.closed || raw.destroyed) close();
      else raw.once('close', close);
    },
  };
}

/** Disconnects a reader that is too slow; returns a function that ends the watch. */
const watchReader = (raw: ServerResponse, pace: Pace): (() => void) =>
  watchPace(
    pace,
    () => sentBytes(raw),
    () => raw.destroy(),
  );

/** Bytes of the connection that the system has taken. */
const sentBytes = ({ socket }: ServerResponse): number =>
  socket === null ? 0 : socket.bytesWritten - socket.writableLength;

function makeFullFailure(place: AnswerPlace, otherBytes: number, bytesMax: number): Failure {
  const rule = `of ${bytesMax} at most: read them to their end, or request less`;
  const reason = `answers of this account that are not read yet take ${otherBytes} bytes of ${place}`;
  return new Failure('Busy', `${reason}, ${rule}`);
}
