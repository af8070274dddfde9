// Retries the read after a commit, so that an outage is not reported as a failed write.
import { monotonicMs } from '../base/clock.ts';
import { Unavailable, Failure } from '../base/failure.ts';
import { retryWhileUnavailable } from '../queues/retryWhileUnavailable.ts';

/** Maximum retry time; each attempt waits up to ten seconds for the catalog. */
const MAX_WAIT_MS = 60_000;

/**
 * @param read reads the catalog after a commit and publishes the change
 * @throws Failure SystemError when it stays unavailable: the caller must not repeat the write
 */
export async function readAfterCommit<T>(read: () => Promise<T>): Promise<T> {
  const untilMs = monotonicMs() + MAX_WAIT_MS;
  try {
    return await retryWhileUnavailable(read, () => monotonicMs() < untilMs);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const message =
      'the catalog became unavailable after the change was stored: it becomes visible with the next change';
    throw new Failure('SystemError', message);
  }
}
