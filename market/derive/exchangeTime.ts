// Days and times in the exchange's time zone, also formatted as text in answers (INTERFACE.md 1).
import { Temporal } from 'temporal-polyfill';
import { dayIn, endOfDay, startOfDay } from '../../query/time/dates.ts';
import type { Day } from '../../query/time/days.ts';

/** Time zone of the exchange. */
const ZONE = 'America/New_York';

const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const partsOf = (day: Day): readonly [string, string, number] => [
  day.slice(0, 4),
  MONTHS[Number(day.slice(5, 7)) - 1] ?? '',
  Number(day.slice(8, 10)),
];

/** `Jun 8, 22` */
export function shortDay(day: Day): string {
  const [year, month, date] = partsOf(day);
  return `${month.slice(0, 3)} ${date}, ${year.slice(2)}`;
}

/** `April 4, 2019` */
export function longDay(day: Day): string {
  const [year, month, date] = partsOf(day);
  return `${month} ${date}, ${year}`;
}

/** `09:30 AM`, on the hour `10 AM`, from `HH:MM`. */
export function minuteLabel(minute: string): string {
  const [hours = 0, minutes = 0] = minute.split(':').map(Number);
  const hour = String(hours % 12 === 0 ? 12 : hours % 12);
  const half = hours < 12 ? 'AM' : 'PM';
  return minutes === 0
    ? `${hour} ${half}`
    : `${hour.padStart(2, '0')}:${String(minutes).padStart(2, '0')} ${half}`;
}

const local = (ms: number): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(ZONE);

/** The exchange's day of an instant. */
export const dayAt = (ms: number): Day => dayIn(ms, ZONE);

/** First instant of the exchange's day, epoch milliseconds. */
export const startOfToday = (nowMs: number): number => startOfDay(dayAt(nowMs), ZONE);

/** First instant of the exchange's next day, epoch milliseconds. */
export const endOfToday = (nowMs: number): number => endOfDay(dayAt(nowMs), ZONE);

/** Time zone offsets are constant for this long; a lookup costs 10 µs. */
const QUARTER_MS = 900_000;
let quarter = { number: -1, second: 0 };

/** Seconds since midnight at the exchange. */
export function secondOfDay(ms: number): number {
  const number = Math.floor(ms / QUARTER_MS);
  if (number !== quarter.number) {
    const { hour, minute } = local(number * QUARTER_MS);
    quarter = { number, second: hour * 3_600 + minute * 60 };
  }
  return quarter.second + Math.floor((ms - number * QUARTER_MS) / 1_000);
}

const twoDigits = (count: number): string => String(count).padStart(2, '0');

/** `HH:MM:SS` at the exchange. */
export function clockAt(ms: number): string {
  const second = secondOfDay(ms);
  const parts = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60];
  return parts.map(twoDigits).join(':');
}

/** `10:00:40 AM` */
export function timeLabel(ms: number): string {
  const time = clockAt(ms);
  const hours = Number(time.slice(0, 2));
  const hour = hours % 12 === 0 ? 12 : hours % 12;
  return `${hour}${time.slice(2)} ${hours < 12 ? 'AM' : 'PM'}`;
}

/** First instant of a minute `HH:MM` of a day at the exchange, epoch milliseconds; NaN for an invalid one. */
export function instantOf(day: Day, minute: string): number {
  const [hour = Number.NaN, past = Number.NaN] = minute.split(':').map(Number);
  return noonOf(day) + ((hour - NOON) * 60 + past) * 60_000;
}

const NOON = 12;
/** Cached instants of noon: a time zone lookup takes some 10 µs, and a day has many minutes. */
const NOONS_MAX = 1_000;
const noons = new Map<Day, number>();

/** Clocks change on Sunday nights: the hours of a session have their nominal distance from noon. */
function noonOf(day: Day): number {
  const cached = noons.get(day);
  if (cached !== undefined) return cached;
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day)
    ? Temporal.PlainDateTime.from(`${day}T12:00`).toZonedDateTime(ZONE).epochMilliseconds
    : Number.NaN;
  if (noons.size >= NOONS_MAX) noons.clear();
  noons.set(day, at);
  return at;
}
