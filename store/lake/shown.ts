// What is committed stands: a catalog that is away when it is to be shown tells nobody that nothing was done.
import { monotonicMs } from '../base/clock.ts';
import { Away, Failure } from '../base/failure.ts';
import { whileAway } from '../queues/whileAway.ts';

/** The catalog itself waits ten seconds before it says that it is away. */
const MOST_MS = 60_000;

/**
 * @param show what is to be read of the catalog after a commit, and told
 * @throws Failure SystemError where it stays away: who is told so does not do it again
 */
export async function shown<T>(show: () => Promise<T>): Promise<T> {
  const untilMs = monotonicMs() + MOST_MS;
  try {
    return await whileAway(show, () => monotonicMs() < untilMs);
  } catch (error) {
    if (!(error instanceof Away)) throw error;
    const told = 'the catalog went away after the change was stored: it shows with the next change';
    throw new Failure('SystemError', told);
  }
}
