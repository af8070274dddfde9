// Schedules by the clocks of a time zone, over the changes of clocks.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import fc from 'fast-check';
import { nextTime, nextTimes } from '../../jobs/schedule/cron.ts';
import { checkTimeZone, clockTime } from '../../jobs/schedule/timeZone.ts';

const times = (cron: string, zone: string, from: string, count: number): readonly string[] =>
  nextTimes(cron, Date.parse(from), zone, count).map((ms) =>
    new Date(ms).toISOString().slice(5, 16),
  );

test('a time of the clock is the same before and after a change of clocks', () => {
  assert.deepEqual(times('30 18 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3), [
    '03-28T17:30',
    '03-29T16:30',
    '03-30T16:30',
  ]);
  assert.deepEqual(times('0 0 * * *', 'America/New_York', '2026-01-30T12:00:00Z', 2), [
    '01-31T05:00',
    '02-01T05:00',
  ]);
});

test('a time that clocks skip runs when they skip it, once', () => {
  for (const cron of ['30 2 * * *', '0,30 2 * * *', '*/10 2 * * *']) {
    const [first] = times(cron, 'Europe/Berlin', '2026-03-28T12:00:00Z', 1);
    assert.equal(first, '03-29T01:00', cron);
    assert.match(
      times(cron, 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)[1] ?? '',
      /^03-30T00:/,
      cron,
    );
  }
  // Midnight is skipped in Chile.
  assert.deepEqual(times('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 2), [
    '09-06T04:00',
    '09-07T03:00',
  ]);
});

test('a time that clocks show twice runs the first time, once', () => {
  assert.deepEqual(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2), [
    '10-25T00:30',
    '10-26T01:30',
  ]);
  assert.deepEqual(times('0,30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3), [
    '10-25T00:00',
    '10-25T00:30',
    '10-26T01:00',
  ]);
  assert.deepEqual(times('15 2-3 * * *', 'Europe/Berlin', '2026-10-25T00:40:00Z', 2), [
    '10-25T02:15',
    '10-26T01:15',
  ]);
});

test('every hour and every minute go on through a change of clocks', () => {
  assert.deepEqual(times('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', 4), [
    '10-25T00:00',
    '10-25T01:00',
    '10-25T02:00',
    '10-25T03:00',
  ]);
  assert.deepEqual(times('0 * * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', 2), [
    '03-29T01:00',
    '03-29T02:00',
  ]);
  assert.deepEqual(times('*/30 * * * *', 'Asia/Kolkata', '2026-10-25T00:10:00Z', 2), [
    '10-25T00:30',
    '10-25T01:00',
  ]);
});

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago'];

test('runs of every day are one a day of the clocks, in order', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES, 'Asia/Kathmandu', 'Pacific/Apia'),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
      (zone, hour, minute, from) => {
        const cron = `${minute} ${hour} * * *`;
        let last = from;
        let day: string | undefined;
        for (let count = 0; count < 3; count += 1) {
          const next = nextTime(cron, last, zone);
          assert.ok(next !== undefined && next > last);
          const shown = new Date(clockTime(zone, next)).toISOString();
          assert.notEqual(shown.slice(0, 10), day);
          const at = shown.slice(11, 16);
          const named = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
          // Only where clocks skip it, and then later.
          if (at !== named)
            assert.ok(clockTime(zone, next) - clockTime(zone, next - 60_000) > 60_000);
          day = shown.slice(0, 10);
          last = next;
        }
      },
    ),
    { seed: 20_260_131, numRuns: 300 },
  );
});

test('an unknown zone is refused with the nearest name', () => {
  assert.equal(checkTimeZone('europe/berlin'), 'Europe/Berlin');
  assert.equal(checkTimeZone('UTC'), 'UTC');
  for (const [text, near] of [
    ['Europe/Berln', 'Europe/Berlin'],
    ['New York', 'America/New_York'],
    ['Tokio', 'Asia/Tokyo'],
    ['+02:00', ''],
    ['', ''],
  ] as const) {
    assert.throws(
      () => checkTimeZone(text),
      (error) => error instanceof Error && error.message.includes(`Did you mean ${near}`),
      text,
    );
  }
});
