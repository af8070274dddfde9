// What a job does while the catalog, or the store of the files, is away: it waits, and tries again.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../store/base/clock.ts';
import { Away } from '../../store/base/failure.ts';

/** Each waits by itself: for the catalog the first one ten seconds, for a bucket some seconds. */
const TRIES = 40;
const AGAIN_MS = 1_000;
/** After the first failure: where a network swallows everything, each try takes minutes. */
const MOST_MS = 600_000;

/**
 * @param work of which nothing was done where it found either away
 * @param mostMs after the first failure no try begins
 * @throws what it throws; Away when it stays away
 */
export async function awaited<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  mostMs = MOST_MS,
): Promise<T> {
  let untilMs = Infinity;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Away) || tries === TRIES || signal.aborted) throw error;
      if (monotonicMs() > untilMs) throw error;
      untilMs = Math.min(untilMs, monotonicMs() + mostMs);
    }
    await sleep(AGAIN_MS, undefined, { signal });
  }
}
