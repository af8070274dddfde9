// A quote from one bar of the minutes so far equals the quote from all minutes, at every instant.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import fc from 'fast-check';
import { endOfMinute } from '../../../market/derive/minuteBars.ts';
import { buildQuote } from '../../../market/derive/quote.ts';
import { MinutesSoFar } from '../../../market/rules/minutesSoFar.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';

const DAY = '2024-02-29';
const DAYS = [{ date: '2024-02-28', open: 9, high: 12, low: 8, close: 10, volume: 500 }];

const price = fc.option(fc.integer({ min: 1, max: 50 }), { freq: 4 });
const minute = fc.record({
  at: fc.integer({ min: 0, max: 59 }),
  open: price,
  high: price,
  low: price,
  close: price,
  volume: fc.option(fc.nat(1_000)),
});

test('the quote is the same at every end of a minute, forwards and after a step back', (t) => {
  for (const seed of seedsOf(t)) {
    note(t, `seed ${seed}`);
    fc.assert(
      fc.property(fc.uniqueArray(minute, { selector: ({ at }) => at }), fc.nat(), (bars, back) => {
        const rows = bars.map(({ at, ...prices }) => ({
          date: DAY,
          minute: `10:${String(at).padStart(2, '0')}`,
          ...prices,
        }));
        const soFar = new MinutesSoFar(rows);
        const ends = soFar.ends.toSorted((one, other) => one - other);
        for (const timeMs of [...ends, ...ends.slice(back % (ends.length + 1))]) {
          assert.deepEqual(
            quoteAt(timeMs, soFar.until(DAY, timeMs)),
            quoteAt(
              timeMs,
              rows.toSorted((one, other) => endOfMinute(one) - endOfMinute(other)),
            ),
          );
        }
      }),
      { seed },
    );
  }
});

function quoteAt(timeMs: number, minutes: readonly object[]): object | undefined {
  const none = { splits: [], dividends: [], trades: [], quotes: [] };
  const inputs = { ...none, company: undefined, symbol: undefined, days: DAYS };
  const moment = { nowMs: timeMs, untilMs: timeMs, today: DAY };
  const parts = {
    source: true,
    feed: true,
    delayed: false,
    extended: true,
    average: true,
    year: true,
  };
  return buildQuote('AAA', { ...inputs, minutes: minutes as never }, moment, parts);
}
