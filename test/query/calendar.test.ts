// The rules of the exchange calendar against published lists: sessions of each year (days on which
// the VIX was quoted to 2020; later ones by NYSE's yearly press releases), early closes ("NYSE
// Closings" to 2011, press releases since), Good Fridays of church tables.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  isSession,
  nextSession,
  previousSession,
  sessionOf,
  sessionsBetween,
} from '../../query/time/calendar.ts';

/** From 1990 on. The VIX lacks days of 1991 and 1997: these are weekdays less eight holidays. */
const SESSIONS = [
  253, 253, 254, 253, 252, 252, 254, 253, 252, 252, 252, 248, 252, 252, 252, 252, 251, 251, 253,
  252, 252, 252, 250, 252, 252, 252, 252, 251, 251, 252, 253, 252, 251, 250, 252, 250, 251, 251,
  251, 251, 251,
];

const daysOfYear = (year: number): readonly string[] =>
  sessionsBetween(`${year}-01-01`, `${year}-12-31`);

test('each year has as many sessions as were published', () => {
  const counted = SESSIONS.map((_, at) => daysOfYear(1990 + at).length);
  assert.deepEqual(counted, SESSIONS);
});

const EARLY = [
  '1990-12-24',
  '1991-12-24',
  '1992-11-27',
  '1992-12-24',
  '1993-11-26',
  '1994-02-11',
  '1994-11-25',
  '1995-07-03',
  '1995-11-24',
  '1996-01-08',
  '1996-07-05',
  '1996-11-29',
  '1996-12-24',
  '1997-07-03',
  '1997-10-27',
  '1997-11-28',
  '1997-12-24',
  '1997-12-26',
  '1998-11-27',
  '1998-12-24',
  '1999-11-26',
  '2000-07-03',
  '2000-11-24',
  '2001-07-03',
  '2001-11-23',
  '2001-12-24',
  '2002-07-05',
  '2002-11-29',
  '2002-12-24',
  '2003-07-03',
  '2003-11-28',
  '2003-12-24',
  '2003-12-26',
  '2004-11-26',
  '2005-11-25',
  '2006-07-03',
  '2006-11-24',
  '2007-07-03',
  '2007-11-23',
  '2007-12-24',
  '2008-07-03',
  '2008-11-28',
  '2008-12-24',
  '2009-11-27',
  '2009-12-24',
  '2010-11-26',
  '2011-11-25',
  '2012-07-03',
  '2012-11-23',
  '2012-12-24',
  '2013-07-03',
  '2013-11-29',
  '2013-12-24',
  '2014-07-03',
  '2014-11-28',
  '2014-12-24',
  '2015-11-27',
  '2015-12-24',
  '2016-11-25',
  '2017-07-03',
  '2017-11-24',
  '2018-07-03',
  '2018-11-23',
  '2018-12-24',
  '2019-07-03',
  '2019-11-29',
  '2019-12-24',
  '2020-11-27',
  '2020-12-24',
  '2021-11-26',
  '2022-11-25',
  '2023-07-03',
  '2023-11-24',
  '2024-07-03',
  '2024-11-29',
  '2024-12-24',
  '2025-07-03',
  '2025-11-28',
  '2025-12-24',
  '2026-11-27',
  '2026-12-24',
  '2027-11-26',
  '2028-07-03',
  '2028-11-24',
];

/** Time of day in New York, found by the language's own tables of zones. */
const timeIn = (ms: number | undefined): string =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: 'America/New_York',
    hour: '2-digit',
    minute: '2-digit',
  }).format(ms);

test('sessions end early on the published days, and on no other', () => {
  const early = sessionsBetween('1990-01-01', '2028-12-31').filter(
    (day) => timeIn(sessionOf(day)?.closeMs) !== '16:00',
  );
  assert.deepEqual(early, EARLY);
});

const HOURS: readonly (readonly [string, string, string])[] = [
  ['1990-12-24', '09:30', '14:00'],
  ['1992-11-27', '09:30', '14:00'],
  ['1993-11-26', '09:30', '13:00'],
  ['1994-02-11', '09:30', '14:30'],
  ['1996-01-08', '11:00', '14:00'],
  ['1997-10-27', '09:30', '15:30'],
  ['2002-07-03', '09:30', '16:00'],
  ['2002-07-05', '09:30', '13:00'],
  ['2002-09-11', '12:00', '16:00'],
  ['2013-07-03', '09:30', '13:00'],
  ['2013-07-05', '09:30', '16:00'],
  ['2014-12-26', '09:30', '16:00'],
  ['2020-07-02', '09:30', '16:00'],
];
for (const [day, open, close] of HOURS) {
  test(`hours of ${day}`, () => {
    const session = sessionOf(day);
    assert.deepEqual([timeIn(session?.openMs), timeIn(session?.closeMs)], [open, close]);
  });
}

/** Good Fridays, closures, and holidays that moved or did not. */
const CLOSED = [
  '1990-04-13',
  '1994-04-01',
  '1997-03-28',
  '2000-04-21',
  '2008-03-21',
  '2011-04-22',
  '2016-03-25',
  '2019-04-19',
  '2024-03-29',
  '2025-04-18',
  '2026-04-03',
  '2030-04-19',
  '1994-04-27',
  '2001-09-11',
  '2001-09-12',
  '2001-09-13',
  '2001-09-14',
  '2004-06-11',
  '2007-01-02',
  '2012-10-29',
  '2012-10-30',
  '2018-12-05',
  '2025-01-09',
  '1998-01-19',
  '1999-12-24',
  '2010-12-24',
  '2011-12-26',
  '2012-01-02',
  '2017-01-02',
  '2015-07-03',
  '2021-07-05',
  '2022-06-20',
  '2023-06-19',
  '2026-07-03',
  '2027-06-18',
  '2024-03-02',
  '2024-03-03',
];
/** Holidays of others, days before a rule began, and days that a holiday did not move to. */
const OPEN = [
  '1990-01-15',
  '1997-01-20',
  '1993-12-31',
  '1999-12-31',
  '2004-12-31',
  '2010-12-31',
  '2021-12-31',
  '2027-12-31',
  '2020-06-19',
  '2021-06-18',
  '2024-10-14',
  '2024-11-11',
  '2001-09-10',
  '2001-09-17',
  '2012-10-31',
  '2018-12-04',
  '2025-01-10',
  '2000-02-29',
];
test('closed and open days by name', () => {
  assert.deepEqual(CLOSED.filter(isSession), []);
  assert.deepEqual(
    CLOSED.filter((day) => sessionOf(day) !== undefined),
    [],
  );
  assert.deepEqual(OPEN.filter(isSession), OPEN);
});

test('both clock changes move the instants, not the hours', () => {
  const openings: readonly (readonly [string, number])[] = [
    ['2024-03-08', Date.UTC(2024, 2, 8, 14, 30)],
    ['2024-03-11', Date.UTC(2024, 2, 11, 13, 30)],
    ['2024-11-01', Date.UTC(2024, 10, 1, 13, 30)],
    ['2024-11-04', Date.UTC(2024, 10, 4, 14, 30)],
    // Until 2006 summer began in April and ended in October.
    ['2006-03-13', Date.UTC(2006, 2, 13, 14, 30)],
    ['2006-04-03', Date.UTC(2006, 3, 3, 13, 30)],
    ['2006-10-30', Date.UTC(2006, 9, 30, 14, 30)],
  ];
  for (const [day, ms] of openings) {
    assert.deepEqual(sessionOf(day), { openMs: ms, closeMs: ms + 6.5 * 3_600_000 }, day);
  }
});

test('the session after and before a day skips closed days', () => {
  assert.equal(nextSession('2001-09-10'), '2001-09-17');
  assert.equal(previousSession('2001-09-17'), '2001-09-10');
  assert.equal(nextSession('2006-12-29'), '2007-01-03');
  assert.equal(nextSession('2024-11-28'), '2024-11-29');
  assert.equal(previousSession('2025-01-10'), '2025-01-08');
  assert.deepEqual(sessionsBetween('2012-10-26', '2012-11-01'), [
    '2012-10-26',
    '2012-10-31',
    '2012-11-01',
  ]);
  assert.deepEqual(sessionsBetween('2024-03-02', '2024-03-03'), []);
  assert.deepEqual(sessionsBetween('2024-03-05', '2024-03-04'), []);
});

test('a walk from session to session is the list of sessions, both ways', () => {
  const all = sessionsBetween('1990-01-01', '2030-12-31');
  assert.equal(
    all.length,
    SESSIONS.reduce((sum, count) => sum + count, 0),
  );
  all.slice(1).forEach((day, at) => {
    assert.equal(nextSession(all[at] ?? ''), day);
    assert.equal(previousSession(day), all[at]);
  });
});

test('days outside 1990 to 2030 are refused', () => {
  const outside = /years 1990 to 2030/;
  assert.throws(() => isSession('1989-12-29'), outside);
  assert.throws(() => sessionOf('2031-01-02'), outside);
  assert.throws(() => nextSession('2030-12-31'), outside);
  assert.throws(() => previousSession('1990-01-02'), outside);
  assert.throws(() => sessionsBetween('2030-12-31', '2031-01-01'), outside);
  assert.throws(() => isSession('someday'), RangeError);
});
