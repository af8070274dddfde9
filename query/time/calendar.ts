// Sessions of the US stock exchanges (NYSE and Nasdaq keep the same days), 1990 to 2030, by NYSE's
// Rule 7.2 and the early closes that the exchanges announce; exceptions to the rules are in
// calendarData.ts. Future days follow the rules: a day of mourning is not foreseen.
import { Temporal } from 'temporal-polyfill';
import { CLOSURES, HOURS } from './calendarData.ts';
import { addDays, dayOfNumber, monthStart, numberOfDay, weekdayOf, type Day } from './days.ts';

const ZONE = 'America/New_York';
const FIRST_YEAR = 1990;
const LAST_YEAR = 2030;
const OPEN = '09:30';
const CLOSE = '16:00';
const EARLY = '13:00';
/** The early close until 1992. */
const EARLY_THEN = '14:00';

const [SUNDAY, MONDAY, THURSDAY, SATURDAY] = [0, 1, 4, 6];

/** Epoch milliseconds. */
interface Session {
  readonly openMs: number;
  readonly closeMs: number;
}

/**
 * Whether the exchanges open on a day.
 * @throws RangeError outside the years 1990 to 2030, as all functions of this file do.
 */
export function isSession(day: Day): boolean {
  const { holidays } = yearOf(Number(day.slice(0, 4)));
  const weekday = weekdayOf(day);
  return weekday !== SUNDAY && weekday !== SATURDAY && !holidays.has(day) && !CLOSURES.has(day);
}

/** Returns when the exchanges open and close on a day; undefined if they stay closed. */
export function sessionOf(day: Day): Session | undefined {
  if (!isSession(day)) return undefined;
  const { earlyCloses } = yearOf(Number(day.slice(0, 4)));
  const { open = OPEN, close = earlyCloses.get(day) ?? CLOSE } = HOURS.get(day) ?? {};
  return { openMs: instantOf(day, open), closeMs: instantOf(day, close) };
}

/** The first session after a day. */
export const nextSession = (day: Day): Day => nearest(day, 1);

/** The last session before a day. */
export const previousSession = (day: Day): Day => nearest(day, -1);

/** Days with a session, both ends included. */
export function sessionsBetween(from: Day, to: Day): readonly Day[] {
  const [first, last] = [numberOfDay(from), numberOfDay(to)];
  const days = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  return days.map(dayOfNumber).filter(isSession);
}

function nearest(day: Day, step: 1 | -1): Day {
  let session = addDays(day, step);
  while (!isSession(session)) session = addDays(session, step);
  return session;
}

const instantOf = (day: Day, time: string): number =>
  Temporal.PlainDateTime.from(`${day}T${time}`).toZonedDateTime(ZONE).epochMilliseconds;

interface Year {
  readonly holidays: ReadonlySet<Day>;
  /** Time of day in New York. */
  readonly earlyCloses: ReadonlyMap<Day, string>;
}

const years = new Map<number, Year>();

function yearOf(year: number): Year {
  const cached = years.get(year);
  if (cached !== undefined) return cached;
  if (!(year >= FIRST_YEAR && year <= LAST_YEAR)) {
    throw new RangeError(`the calendar has the years ${FIRST_YEAR} to ${LAST_YEAR}, not ${year}`);
  }
  const holidays = holidaysOf(year);
  const computed = { holidays, earlyCloses: earlyClosesOf(year, holidays) };
  years.set(year, computed);
  return computed;
}

function holidaysOf(year: number): ReadonlySet<Day> {
  const newYear = monthStart(year, 1);
  return new Set([
    // A Saturday is not observed on Friday: 31 December closes the books.
    weekdayOf(newYear) === SUNDAY ? addDays(newYear, 1) : newYear,
    ...(year < 1998 ? [] : [nthOf(year, 1, MONDAY, 3)]), // Martin Luther King
    nthOf(year, 2, MONDAY, 3), // Washington
    addDays(easterOf(year), -2),
    addDays(nthOf(year, 6, MONDAY, 1), -7), // Memorial Day, the last Monday of May
    ...(year < 2022 ? [] : [observed(`${year}-06-19`)]), // Juneteenth
    observed(`${year}-07-04`),
    nthOf(year, 9, MONDAY, 1), // Labor Day
    thanksgivingOf(year),
    observed(`${year}-12-25`),
  ]);
}

function earlyClosesOf(year: number, holidays: ReadonlySet<Day>): ReadonlyMap<Day, string> {
  const early = year < 1993 ? EARLY_THEN : EARLY;
  const days = [
    ...(year < 1992 ? [] : [addDays(thanksgivingOf(year), 1)]),
    `${year}-12-24`,
    ...(year < 1995 ? [] : [besideIndependenceDay(year)]),
  ];
  return new Map(days.filter((day) => !holidays.has(day)).map((day) => [day, early]));
}

/** The eve; until 2012 the Friday after instead if the day was a Thursday. */
const besideIndependenceDay = (year: number): Day =>
  year < 2013 && weekdayOf(`${year}-07-04`) === THURSDAY ? `${year}-07-05` : `${year}-07-03`;

/** Moves a holiday on Saturday to Friday, and one on Sunday to Monday. */
function observed(day: Day): Day {
  const weekday = weekdayOf(day);
  return addDays(day, weekday === SATURDAY ? -1 : weekday === SUNDAY ? 1 : 0);
}

const thanksgivingOf = (year: number): Day => nthOf(year, 11, THURSDAY, 4);

function nthOf(year: number, month: number, weekday: number, nth: number): Day {
  const first = monthStart(year, month);
  return addDays(first, ((weekday - weekdayOf(first) + 7) % 7) + (nth - 1) * 7);
}

/** Gauss's rule for 1900 to 2099: the Sunday after the moon that is full from 21 March on. */
function easterOf(year: number): Day {
  const moon = (19 * (year % 19) + 24) % 30;
  const sunday = (2 * (year % 4) + 4 * (year % 7) + 6 * moon + 5) % 7;
  const late = (moon === 29 && sunday === 6) || (moon === 28 && sunday === 6 && year % 19 > 10);
  return addDays(`${year}-03-22`, moon + sunday - (late ? 7 : 0));
}
