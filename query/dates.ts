// Days of a zone as instants. Ranges are days of the exchange's zone; records may hold days or
// instants (STYLE.md has ranges as UTC dates; DESIGN.md "Shapes" and "Words" win).
import { Temporal } from 'temporal-polyfill';
import { Failure } from '../store/failure.ts';

/** A calendar day, `YYYY-MM-DD`. */
export type Day = string;

/**
 * Reads `YYYY-MM-DD` or `YYYYMMDD`: clients of the original send both (INTERFACE.md 5).
 * @throws Failure InvalidParameter naming the parameter.
 */
export function parseDay(parameter: string, text: string): Day {
  const plain = /^\d{8}$/.test(text)
    ? `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
    : text;
  try {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(plain)) throw new RangeError(plain);
    return Temporal.PlainDate.from(plain, { overflow: 'reject' }).toString();
  } catch {
    const rule = 'must be a date, YYYY-MM-DD or YYYYMMDD';
    throw new Failure('InvalidParameter', `"${parameter}" ${rule}`);
  }
}

/** First instant of a day in a zone, epoch milliseconds. */
export const startOfDay = (day: Day, zone: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime(zone).epochMilliseconds;

/** First instant after a day in a zone, epoch milliseconds: days of 23 and 25 hours included. */
export const endOfDay = (day: Day, zone: string): number =>
  Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;

/** An ISO 8601 instant with its zone, epoch milliseconds; undefined when it is none. */
export function parseInstant(text: string): number | undefined {
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}
