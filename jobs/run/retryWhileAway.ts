// Retries a job's step while the catalog, or the store of the files, is unavailable.
import { monotonicMs } from '../../store/base/clock.ts';
import { retryWhileUnavailable } from '../../store/queues/retryWhileUnavailable.ts';

/** Each try waits itself: for the catalog the first one ten seconds, for a bucket some seconds. */
const TRIES = 40;
/** After the first failure: in a network that drops everything, each try takes minutes. */
const MOST_MS = 600_000;

/**
 * @param work does nothing where it finds either unavailable
 * @param mostMs after the first failure no try begins later
 * @throws what it throws; Away when it stays unavailable
 */
export function retryWhileAway<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  mostMs = MOST_MS,
): Promise<T> {
  let [tries, untilMs] = [1, Infinity];
  const canRetry = (): boolean => {
    if (tries === TRIES || signal.aborted || monotonicMs() > untilMs) return false;
    if (tries === 1) untilMs = monotonicMs() + mostMs;
    tries += 1;
    return true;
  };
  return retryWhileUnavailable(work, canRetry, signal);
}
