// What a job does while the catalog, or the store of the files, is away: it waits, and tries again.
import { monotonicMs } from '../../store/base/clock.ts';
import { whileAway } from '../../store/queues/whileAway.ts';

/** Each waits by itself: for the catalog the first one ten seconds, for a bucket some seconds. */
const TRIES = 40;
/** After the first failure: where a network swallows everything, each try takes minutes. */
const MOST_MS = 600_000;

/**
 * @param work of which nothing was done where it found either away
 * @param mostMs after the first failure no try begins
 * @throws what it throws; Away when it stays away
 */
export function awaited<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  mostMs = MOST_MS,
): Promise<T> {
  let [tries, untilMs] = [1, Infinity];
  const goesOn = (): boolean => {
    if (tries === TRIES || signal.aborted || monotonicMs() > untilMs) return false;
    if (tries === 1) untilMs = monotonicMs() + mostMs;
    tries += 1;
    return true;
  };
  return whileAway(work, goesOn, signal);
}
