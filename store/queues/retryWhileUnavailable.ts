// Retries work while the catalog or the file store is unavailable.
import { setTimeout as sleep } from 'node:timers/promises';
import { Unavailable } from '../base/failure.ts';

const RETRY_DELAY_MS = 1_000;

/**
 * @param work has no effect when it fails with Away
 * @param canRetry is called after each such failure
 * @throws the error of the work; Away when no retry is left
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  canRetry: () => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || !canRetry()) throw error;
    }
    await sleep(RETRY_DELAY_MS, undefined, signal === undefined ? {} : { signal });
  }
}
