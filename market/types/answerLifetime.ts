// Lifetime of an answer without writes: until the clock changes the session, or ends a delay.
import { DELAY_MS, findSession } from '../derive/lastSale.ts';
import { endOfMinute } from '../derive/minuteBars.ts';
import { instantIn, type Row } from '../derive/values.ts';
import { endOfToday } from '../derive/exchangeTime.ts';
import type { TypeRequest, Need, Read } from './typeRequest.ts';
import { sentimentMinuteEnd } from './chains.ts';

/** Time of the event in a record; records of other inputs do not depend on the clock. */
const INSTANTS: Readonly<Partial<Record<Need['input'], (row: Row) => number>>> = {
  TRADES: (row) => instantIn(row, 'time'),
  QUOTES: (row) => instantIn(row, 'time'),
  INTRADAY_PRICES: endOfMinute,
  SENTIMENT_MINUTES: sentimentMinuteEnd,
};

/** The first instant after now at which the answer may change, epoch milliseconds. */
export function unchangedUntil(ask: TypeRequest, needs: readonly Need[], read: Read): number {
  const { nowMs, untilMs } = ask;
  let next = nextSessionChange(ask);
  // Delayed prices of a quarter of an hour ago are visible to everyone.
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
function nextSessionChange({ nowMs, today }: TypeRequest): number {
  const { closeMs = nowMs, openMs = nowMs } = findSession(today) ?? {};
  const midnight = endOfToday(nowMs);
  return [openMs, closeMs, openMs + DELAY_MS, closeMs + DELAY_MS, midnight]
    .filter((ms) => ms > nowMs)
    .reduce((least, ms) => Math.min(least, ms), midnight);
}
