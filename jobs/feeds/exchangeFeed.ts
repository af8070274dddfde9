// Plays the synthetic exchange as a feed. In its hours ticks follow the clock; outside them the board holds
// the whole last session, so that streams, rules and REST give one price. A setting replays it instead.
import type { Clock } from '../../store/base/clock.ts';
import {
  type ExchangeShape,
  hoursOf,
  type SessionState,
  findSessionState,
} from '../../market/exchange/exchange.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import { type Play, type Playing, pause } from './feed.ts';
import { Tape } from './tape.ts';

/** Interval between two batches of ticks. */
const STEP_MS = 100;
/** How often a closed exchange checks whether it opens. */
const CLOSED_PAUSE_MS = 1_000;
/** Ticks of one turn of the event loop: 2 ms. */
const TURN_TICKS = 1_000;

interface ExchangeFeedParts {
  readonly board: LiveBoard;
  readonly clock: Clock;
  readonly shape: ExchangeShape;
  /** Also outside the hours. */
  readonly isAlways: boolean;
  /** Whether CORE contains its records: otherwise it would send prices that nobody can look up. */
  readonly isWanted: () => boolean;
}

export const exchangeFeed =
  ({ board, clock, isAlways, isWanted, shape }: ExchangeFeedParts): Play =>
  async (playing) => {
    const { onReady, signal } = playing;
    while (!signal.aborted) {
      const session = findSessionState(clock());
      if (session === undefined || !isWanted()) {
        onReady();
        await pause(CLOSED_PAUSE_MS, signal);
        continue;
      }
      const whole = { ...session, untilMs: Number.MAX_SAFE_INTEGER };
      const tape = new Tape({ input: 'TRADES', shape, session: whole, after: undefined });
      try {
        await playSession({ board, clock, isAlways, isWanted, session, tape }, playing);
      } finally {
        await tape.close();
      }
      const isOver = (): boolean =>
        !isAlways && findSessionState(clock())?.opened === session.opened;
      while (!signal.aborted && isWanted() && isOver()) await pause(CLOSED_PAUSE_MS, signal);
      // The next session, or the same one again, begins without the prices of this one.
      board.clear();
    }
  };

function endOf(day: SessionState['opened']): number {
  const { minutes, openMs } = hoursOf(day);
  return openMs + minutes * 60_000;
}

interface Session extends Pick<ExchangeFeedParts, 'board' | 'clock' | 'isAlways' | 'isWanted'> {
  readonly session: SessionState;
  readonly tape: Tape;
}

/** Plays a session up to now, and on until it is over. */
async function playSession(
  { board, clock, isAlways, isWanted, session, tape }: Session,
  { onReady, onTicks, signal }: Playing,
): Promise<void> {
  const { openMs } = hoursOf(session.opened);
  const closeMs = endOf(session.opened);
  const beganMs = clock();
  const lengthMs = closeMs - openMs;
  // In its hours the exchange's clock is ours; a replay is as far as the next ones would be by now.
  const isReplay = isAlways && beganMs >= closeMs;
  const offsetMs = !isReplay ? 0 : beganMs - openMs - ((beganMs - closeMs) % lengthMs);
  for (let isPast = true; ; isPast = false) {
    const untilMs = clock() - offsetMs;
    const ticks = await tape.until(untilMs);
    for (let at = 0; at < ticks.length && !signal.aborted; at += TURN_TICKS) {
      const some = ticks.slice(at, at + TURN_TICKS);
      if (isPast) board.catchUp(some);
      else for (const tick of some) board.apply(tick);
      onTicks(some.length);
      await pause(0, signal);
    }
    if (isPast) onReady();
    if (signal.aborted || untilMs >= closeMs || !isWanted()) return;
    await pause(STEP_MS, signal);
  }
}
