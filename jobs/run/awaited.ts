// What a job does while the catalog, or the store of the files, is away: it waits, and tries again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Away } from '../../store/base/failure.ts';

/** Each waits by itself: for the catalog the first one ten seconds, for a bucket some seconds. */
const TRIES = 40;
const AGAIN_MS = 1_000;

/**
 * @param work of which nothing was done where it found either away
 * @throws what it throws; Away when it stays away
 */
export async function awaited<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Away) || tries === TRIES || signal.aborted) throw error;
    }
    await sleep(AGAIN_MS, undefined, { signal });
  }
}
