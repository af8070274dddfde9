// Range codes on awkward days, and where the days of zones begin, against ranges.json, which
// ranges.py made with Python's own dates.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { dayIn, endOfDay, startOfDay } from '../../query/time/dates.ts';
import { daysOfRange } from '../../query/time/ranges.ts';

type Meanings = Readonly<Record<string, string>>;

const { ranges, zones } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'ranges.json'), 'utf8'),
) as {
  readonly ranges: Readonly<
    Record<string, { readonly plain: Meanings; readonly forward: Meanings }>
  >;
  /** Zone, day, its first instant, and that of the next day. */
  readonly zones: readonly (readonly [string, string, number, number])[];
};

const describeRange = (code: string, forward: boolean, today: string): string => {
  const { from, to } = daysOfRange(code, forward, today);
  return from === undefined && to === undefined ? 'all' : `${from} ${to}`;
};

describe('range codes', () => {
  for (const [today, { plain, forward }] of Object.entries(ranges)) {
    test(`on ${today}`, () => {
      const meanings = (expected: Meanings, calendar: boolean): Meanings =>
        Object.fromEntries(
          Object.keys(expected).map((code) => [code, describeRange(code, calendar, today)]),
        );
      assert.deepEqual(meanings(plain, false), plain);
      assert.deepEqual(meanings(forward, true), forward);
    });
  }
});

describe('days of zones', () => {
  for (const [zone, day, fromMs, untilMs] of zones) {
    test(`${day} in ${zone}`, () => {
      assert.deepEqual([startOfDay(day, zone), endOfDay(day, zone)], [fromMs, untilMs]);
      assert.equal(dayIn(fromMs, zone), day);
      assert.notEqual(dayIn(fromMs - 1, zone), day);
      assert.equal(dayIn(untilMs - 1, zone), day);
      assert.notEqual(dayIn(untilMs, zone), day);
    });
  }
  test('the last day is not taken for that of another zone or time', () => {
    for (const [zone, day, fromMs] of [...zones, ...zones.toReversed(), ...zones]) {
      assert.equal(dayIn(fromMs + 1, zone), day, zone);
    }
  });
});

const REFUSED: readonly (readonly [string, boolean])[] = [
  ...['tomorrow', 'this-week', 'this-month', 'this-quarter'].map((code) => [code, false] as const),
  ...['next-week', 'next-month', 'next-quarter'].map((code) => [code, false] as const),
  ...['', '0d', '00w', 'd', '5', '5x', '-5d', '+5d', '5 d', '5.5d', '1e3d', '123456d', '5D '].map(
    (code) => [code, true] as const,
  ),
  ...['0000', 'q02020', 'q52020', 'h32020', 'h02020', 'q10000', '20200', 'q1', 'q1202'].map(
    (code) => [code, true] as const,
  ),
  ...['constructor', '__proto__', 'toString', 'last-year', 'this-year', 'ytd ', '٥d', '2٠20'].map(
    (code) => [code, true] as const,
  ),
];
test('an invalid code is refused by the name of the parameter', () => {
  for (const [code, calendar] of REFUSED) {
    assert.throws(() => daysOfRange(code, calendar, '2024-02-29'), /"range" /, code);
  }
});

test('the case of a code does not matter', () => {
  for (const [code, same] of [
    ['YTD', 'ytd'] as const,
    ['Last-Week', 'last-week'] as const,
    ['5D', '5d'] as const,
    ['Q12020', 'q12020'] as const,
    ['MAX', 'max'] as const,
    ['1MM', '1mm'] as const,
  ]) {
    assert.equal(
      describeRange(code, false, '2024-02-29'),
      describeRange(same, false, '2024-02-29'),
    );
  }
});
