// The synthetic exchange as a feed: in its hours the session of now, else the last one over again, by its own
// times.
import type { Clock } from '../../store/base/clock.ts';
import {
  type ExchangeShape,
  hoursOf,
  type Standing,
  standingAt,
} from '../../market/exchange/exchange.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import { type Play, type Playing, pause } from './feed.ts';
import { Tape } from './tape.ts';

/** How often ticks are told. */
const STEP_MS = 100;
/** Ticks that are told in one turn of the loop: 2 ms. */
const TURN_TICKS = 1_000;

interface ExchangeFeedParts {
  readonly board: LiveBoard;
  readonly clock: Clock;
  readonly shape: ExchangeShape;
  /** Outside the hours too. */
  readonly isAlways: boolean;
  /** Whether its records are what CORE has: else it would tell what nobody can look up. */
  readonly isWanted: () => boolean;
}

export const exchangeFeed =
  ({ board, clock, isAlways, isWanted, shape }: ExchangeFeedParts): Play =>
  async (playing) => {
    const { onReady, signal } = playing;
    while (!signal.aborted) {
      const standing = standingAt(clock());
      const isOff = !isAlways && standing !== undefined && isClosed(standing, clock());
      if (standing === undefined || isOff || !isWanted()) {
        onReady();
        await pause(STEP_MS * 100, signal);
        continue;
      }
      const whole = { ...standing, untilMs: Number.MAX_SAFE_INTEGER };
      const tape = new Tape({ input: 'TRADES', shape, standing: whole, after: undefined });
      try {
        await playSession({ board, clock, isWanted, standing, tape }, playing);
      } finally {
        await tape.close();
      }
      // What is told over again is another day.
      board.clear();
    }
  };

const isClosed = ({ opened }: Standing, nowMs: number): boolean => endOf(opened) <= nowMs;

function endOf(day: Standing['opened']): number {
  const { minutes, openMs } = hoursOf(day);
  return openMs + minutes * 60_000;
}

interface Session extends Pick<ExchangeFeedParts, 'board' | 'clock' | 'isWanted'> {
  readonly standing: Standing;
  readonly tape: Tape;
}

/** From its beginning to now, and on until it is over. */
async function playSession(
  { board, clock, isWanted, standing, tape }: Session,
  { onReady, onTicks, signal }: Playing,
): Promise<void> {
  const { openMs } = hoursOf(standing.opened);
  const closeMs = endOf(standing.opened);
  const beganMs = clock();
  const lengthMs = closeMs - openMs;
  // In its hours the exchange's clock is ours; else it is as far as the last one would be by now.
  const asideMs = beganMs < closeMs ? 0 : beganMs - openMs - ((beganMs - closeMs) % lengthMs);
  for (let isPast = true; ; isPast = false) {
    const untilMs = clock() - asideMs;
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
