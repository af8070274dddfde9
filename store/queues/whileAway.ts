// Work that finds the catalog, or the store of the files, away is tried again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Away } from '../base/failure.ts';

const AGAIN_MS = 1_000;

/**
 * @param work of which nothing was done where it found either away
 * @param goesOn asked after each such failure: whether there is another try
 * @throws what it throws; Away when there is no other try
 */
export async function whileAway<T>(
  work: () => Promise<T>,
  goesOn: () => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Away) || !goesOn()) throw error;
    }
    await sleep(AGAIN_MS, undefined, signal === undefined ? {} : { signal });
  }
}
