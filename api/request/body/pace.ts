// Who reads an answer or sends a body more slowly than this is cut off: what it holds meanwhile (disk,
// memory, a connection) is then for others.

import type { Readable } from 'node:stream';
import { Failure } from '../../../store/base/failure.ts';

export interface Pace {
  /** Averaged over the window. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/** 0.25 Mbit/s: a tenth of what a bad mobile connection has. */
export const READING: Pace = { bytesPerSecond: 32 * 1024, windowMs: 60_000 };
/** Of bodies that come in: a source may pause while it makes the next piece. */
export const SENDING: Pace = { bytesPerSecond: 1_024, windowMs: 60_000 };

const slowBody = ({ bytesPerSecond, windowMs }: Pace): Failure => {
  const rule = `${bytesPerSecond} bytes a second over ${windowMs / 1_000} s are the least`;
  return new Failure('InvalidBody', `the body came too slowly: ${rule}`);
};

/**
 * Looks at the end of each window how far something is, and tells once when it is too slow.
 * @param progress bytes so far
 * @returns what ends the watch
 */
export function watchPace(
  { bytesPerSecond, windowMs }: Pace,
  progress: () => number,
  tooSlow: () => void,
): () => void {
  const least = (bytesPerSecond * windowMs) / 1_000;
  let before = progress();
  const timer = setInterval(() => {
    const now = progress();
    if (now - before < least) {
      clearInterval(timer);
      tooSlow();
    }
    before = now;
  }, windowMs).unref();
  return () => clearInterval(timer);
}

/**
 * Tells once why a body will not come whole: its sender is too slow, or gone. Its connection stays as it is,
 * so that this can be answered.
 * @param progress bytes so far
 * @returns what ends the watch
 */
export function watchSender(
  body: Readable,
  pace: Pace,
  progress: () => number,
  fail: (failure: Failure) => void,
): () => void {
  const unpace = watchPace(pace, progress, () => fail(slowBody(pace)));
  const cut = (): void => {
    if (!body.readableEnded) fail(new Failure('InvalidBody', 'the body was cut short'));
  };
  body.once('error', cut).once('close', cut);
  if (body.destroyed) queueMicrotask(cut);
  return () => {
    unpace();
    body.off('error', cut).off('close', cut);
  };
}
