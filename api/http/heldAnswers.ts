// Answers that wait for their readers: each account may have so many bytes of them on the disk and in
// memory, and whoever reads too slowly is cut off.
import { rm } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type Body, lengthOf } from '../../store/duckdb/protocol.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Pace, watchPace } from '../request/body/pace.ts';

/** Of answers in memory that wait for the readers of one account. */
const MEMORY_BYTES_MAX = 512 * 1024 ** 2;
/** A smaller answer is gone at once: the system's own buffers take it. */
export const LARGE_BYTES = 1024 ** 2;

type AnswerPlace = 'disk' | 'memory';

export interface HeldAnswers {
  /**
   * Holds a body until its answer is closed, and watches that it is read.
   * @throws Failure Busy when the account's share is taken; the body's file is gone then.
   */
  hold(account: string, body: Body, raw: ServerResponse): void;
  /** Watches that what is on its way is read. */
  watch(raw: ServerResponse): void;
  /** Bytes of all accounts, for the metrics. */
  bytes(): number;
}

/** Removes a body's file; one that is gone is gone. */
export function dropFile(file: Body['file']): void {
  if (file !== undefined) rm(file.path, { force: true }, () => undefined);
}

export function makeHeldAnswers(diskBytesMax: number, pace: Pace): HeldAnswers {
  const held = new Map<string, number>();
  const most = { disk: diskBytesMax, memory: MEMORY_BYTES_MAX };
  const add = (key: string, bytes: number): void => {
    const now = (held.get(key) ?? 0) + bytes;
    if (now > 0) held.set(key, now);
    else held.delete(key);
  };
  return {
    watch: (raw) => void raw.once('close', watched(raw, pace)),
    bytes: () => [...held.values()].reduce((sum, bytes) => sum + bytes, 0),
    hold: (account, body, raw) => {
      const { file } = body;
      const place: AnswerPlace = file === undefined ? 'memory' : 'disk';
      const length = lengthOf(body);
      if (length < LARGE_BYTES && file === undefined) return;
      const key = `${place} ${account}`;
      const others = held.get(key) ?? 0;
      if (others > 0 && others + length > most[place]) {
        dropFile(file);
        throw full(place, others, most[place]);
      }
      add(key, length);
      const end = watched(raw, pace);
      const close = (): void => {
        end();
        add(key, -length);
        dropFile(file);
      };
      if (raw.closed || raw.destroyed) close();
      else raw.once('close', close);
    },
  };
}

/** Cuts off a reader that is too slow; what ends the watch. */
const watched = (raw: ServerResponse, pace: Pace): (() => void) =>
  watchPace(
    pace,
    () => sentOf(raw),
    () => raw.destroy(),
  );

/** Bytes of the connection that the system has taken. */
const sentOf = ({ socket }: ServerResponse): number =>
  socket === null ? 0 : socket.bytesWritten - socket.writableLength;

function full(place: AnswerPlace, others: number, most: number): Failure {
  const rule = `of ${most} at most: read them to their end, or ask for less`;
  const told = `answers of this account that are not read yet take ${others} bytes of ${place}`;
  return new Failure('Busy', `${told}, ${rule}`);
}
