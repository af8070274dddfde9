// What a job does while the catalog is away: it waits, and tries again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Away } from '../../store/base/failure.ts';

/** Each waits for the catalog by itself, the first one for ten seconds. */
const TRIES = 40;
const AGAIN_MS = 1_000;

/**
 * @param work of which nothing was done where it found the catalog away
 * @throws what it throws; Failure Busy when the catalog stays away
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
