// Computes with calendar days, without zones: a day is its number since 1970-01-01. The proleptic
// Gregorian calendar of ISO 8601, from year 1 to 9999.

/** A calendar day, `YYYY-MM-DD`. */
export type Day = string;

const DAY_MS = 86_400_000;

/** The first and the last day that a range can name. */
const FIRST_DAY: Day = '0001-01-01';
export const LAST_DAY: Day = '9999-12-31';

/** By arithmetic (Hinnant, "chrono-Compatible Low-Level Date Algorithms"): Date takes ten times as long. */
export function numberOfDay(day: Day): number {
  const month = Number(day.slice(5, 7));
  const year = Number(day.slice(0, 4)) - (month <= 2 ? 1 : 0);
  const era = Math.floor(year / 400);
  const ofEra = year - era * 400;
  const ofYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
  const days = ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear;
  return era * 146_097 + days + Number(day.slice(8, 10)) - 1 - 719_468;
}

const LEAST = numberOfDay(FIRST_DAY);
const MOST = numberOfDay(LAST_DAY);

/** Returns the day of a number; a number outside the calendar gives its first or last day. */
export const dayOfNumber = (number: number): Day =>
  new Date(Math.min(MOST, Math.max(LEAST, number)) * DAY_MS).toISOString().slice(0, 10);

/** 0 is Sunday. */
export const weekdayOf = (day: Day): number => (((numberOfDay(day) + 4) % 7) + 7) % 7;

export const addDays = (day: Day, days: number): Day => dayOfNumber(numberOfDay(day) + days);

/** Returns the same day of another month, or that month's last: 31 January plus a month is 28 February. */
export function addMonths(day: Day, months: number): Day {
  const [year = 1, month = 1, date = 1] = day.split('-').map(Number);
  const count = year * 12 + (month - 1) + months;
  if (count < 12) return FIRST_DAY;
  if (count >= 120_000) return LAST_DAY;
  const first = monthStart(Math.floor(count / 12), (count % 12) + 1);
  return addDays(first, Math.min(date, lengthOfMonth(...partsOf(first))) - 1);
}

/** First day of a month of 1 to 12. */
export const monthStart = (year: number, month: number): Day =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-01`;

const partsOf = (day: Day): readonly [number, number] => [
  Number(day.slice(0, 4)),
  Number(day.slice(5, 7)),
];

export function lengthOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
