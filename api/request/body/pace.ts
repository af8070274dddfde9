// Watches the pace of clients that read an answer or send a body: one that is too slow is disconnected, so
// that its disk, memory and connection become free for others.

import type { Readable } from 'node:stream';
import { Failure } from '../../../store/base/failure.ts';

export interface Pace {
  /** Averaged over the window. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/** 0.25 Mbit/s: a tenth of what a bad mobile connection has. */
export const READING_PACE: Pace = { bytesPerSecond: 32 * 1024, windowMs: 60_000 };
/** For incoming bodies: a source may pause while it produces the next piece. */
export const SENDING_PACE: Pace = { bytesPerSecond: 1_024, windowMs: 60_000 };

const slowBody = ({ bytesPerSecond, windowMs }: Pace): Failure => {
  const rule = `${bytesPerSecond} bytes a second over ${windowMs / 1_000} s are the least`;
  return new Failure('InvalidBody', `the body arrived too slowly: ${rule}`);
};

/**
 * Compares the progress at the end of each window with the pace, and calls `tooSlow` once if it is too slow.
 * @param progress bytes so far
 * @returns a function that ends the watch
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
 * Calls `fail` once if a body will not arrive completely: its sender is too slow, or disconnected. The
 * connection stays open, so that the failure can be answered.
 * @param progress bytes so far
 * @returns a function that ends the watch
 */
export function watchSender(
  body: Readable,
  pace: Pace,
  progress: () => number,
  fail: (failure: Failure) => void,
): () => void {
  const unwatchPace = watchPace(pace, progress, () => fail(slowBody(pace)));
  const onCut = (): void => {
    if (!body.readableEnded) fail(new Failure('InvalidBody', 'the body was cut short'));
  };
  body.once('error', onCut).once('close', onCut);
  if (body.destroyed) queueMicrotask(onCut);
  return () => {
    unwatchPace();
    body.off('error', onCut).off('close', onCut);
  };
}
