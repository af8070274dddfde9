// Schedules in the local time of a time zone, across clock changes.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import fc from 'fast-check';
import { nextTime, nextTimes } from '../../jobs/schedule/cron.ts';
import { checkTimeZone, clockTime } from '../../jobs/schedule/timeZone.ts';

const times = (cron: string, zone: string, from: string, count: number): readonly string[] =>
  nextTimes(cron, Date.parse(from), zone, count).map((ms) =>
    new Date(ms).toISOString().slice(5, 16),
  );

test('a local time is the same before and after a clock change', () => {
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

test('a local time that is skipped runs once, at the clock change', () => {
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

test('a local time that occurs twice runs once, the first time', () => {
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

test('hourly and minutely schedules continue through a clock change', () => {
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

test('daily schedules run once each local day, in order', () => {
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
          const localTime = new Date(clockTime(zone, next)).toISOString();
          assert.notEqual(localTime.slice(0, 10), day);
          const at = localTime.slice(11, 16);
          const named = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
          // It differs only where the clock change skips it; the run is then later.
          if (at !== named)
            assert.ok(clockTime(zone, next) - clockTime(zone, next - 60_000) > 60_000);
          day = localTime.slice(0, 10);
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
