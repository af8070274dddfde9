// Until when an answer stays as it is, if nothing is written: the clock moves sessions, and ends delays.
import { DELAY_MS, known } from '../derive/lastSale.ts';
import { endOfMinute } from '../derive/minuteBars.ts';
import { instantIn, type Row } from '../derive/values.ts';
import { endOfToday } from '../derive/words.ts';
import type { Ask, Need, Read } from './ask.ts';
import { moodOver } from './chains.ts';

/** When records of an input happened; others do not come with the clock. */
const INSTANTS: Readonly<Partial<Record<Need['input'], (row: Row) => number>>> = {
  TRADES: (row) => instantIn(row, 'time'),
  QUOTES: (row) => instantIn(row, 'time'),
  INTRADAY_PRICES: endOfMinute,
  SENTIMENT_MINUTES: moodOver,
};

/** The first instant after now at which an answer may be another one, epoch milliseconds. */
export function steadyUntil(ask: Ask, needs: readonly Need[], read: Read): number {
  const { nowMs, untilMs } = ask;
  let next = nextOfSession(ask);
  // Everyone sees a price of a quarter of an hour ago.
  const delays = new Set([0, DELAY_MS, nowMs - untilMs]);
  for (const need of needs) {
    const instantOfRow = INSTANTS[need.input];
    if (instantOfRow === undefined) continue;
    for (const row of read(need)) {
      const instant = instantOfRow(row);
      for (const delay of delays) {
        if (instant + delay > nowMs && instant + delay < next) next = instant + delay;
      }
    }
  }
  return next;
}

/** The next opening, close or midnight. */
function nextOfSession({ nowMs, today }: Ask): number {
  const { closeMs = nowMs, openMs = nowMs } = known(today) ?? {};
  const midnight = endOfToday(nowMs);
  return [openMs, closeMs, openMs + DELAY_MS, closeMs + DELAY_MS, midnight]
    .filter((ms) => ms > nowMs)
    .reduce((least, ms) => Math.min(least, ms), midnight);
}
