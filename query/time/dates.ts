// Converts days of a zone to instants. Ranges are days of the exchange's zone; records may hold days or
// instants (STYLE.md has ranges as UTC dates; DESIGN.md "Shapes" and "Words" win).
import { Temporal } from 'temporal-polyfill';
import { Failure } from '../../store/base/failure.ts';
import { type Day, lengthOfMonth } from './days.ts';

/**
 * Parses `YYYY-MM-DD` or `YYYYMMDD`: clients of the original send both (INTERFACE.md 5).
 * @throws Failure InvalidParameter naming the parameter.
 */
export function parseDay(parameter: string, text: string): Day {
  const day = tryParseDay(text);
  if (day !== undefined) return day;
  const rule = 'must be a date, YYYY-MM-DD or YYYYMMDD';
  throw new Failure('InvalidParameter', `"${parameter}" ${rule}`);
}

export const REVERSED_RANGE = 'to must not be before from';

/** Parses `YYYY-MM-DD` or `YYYYMMDD`; undefined for any other text. */
export function tryParseDay(text: string): Day | undefined {
  const plain = /^\d{8}$/.test(text)
    ? `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
    : text;
  return /^\d{4}-\d{2}-\d{2}$/.test(plain) && isDay(plain) ? plain : undefined;
}

function isDay(text: string): boolean {
  const [month, day] = [Number(text.slice(5, 7)), Number(text.slice(8))];
  if (month < 1 || month > 12 || day < 1 || text < '0001') return false;
  return day <= 28 || day <= lengthOfMonth(Number(text.slice(0, 4)), month);
}

/** First instant of a day in a zone, epoch milliseconds. */
export const startOfDay = (day: Day, zone: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds;

/** First instant after a day in a zone, epoch milliseconds: days of 23 and 25 hours included. */
export const endOfDay = (day: Day, zone: string): number =>
  Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;

let lastDay = { zone: '', day: '', fromMs: 0, untilMs: 0 };

/** Returns the day of an instant in a zone. Caches the last one: every request needs today. */
export function dayIn(ms: number, zone: string): Day {
  if (lastDay.zone !== zone || ms < lastDay.fromMs || ms >= lastDay.untilMs) {
    const local = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
    const day = local.toPlainDate().toString();
    lastDay = { zone, day, fromMs: startOfDay(day, zone), untilMs: endOfDay(day, zone) };
  }
  return lastDay.day;
}

/**
 * Parses epoch milliseconds or ISO 8601; without an offset it is a time of `zone`. Undefined for any other
 * text.
 */
export function parseInstant(text: string, zone: string): number | undefined {
  if (/^\d{12,14}$/.test(text)) return Number(text);
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return /^\d{4}-\d{2}-\d{2}[T ]\d{2}/.test(text) ? localInstant(text, zone) : undefined;
  }
}

function localInstant(text: string, zone: string): number | undefined {
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds;
  } catch {
    return undefined;
  }
}
