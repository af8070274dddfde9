// IANA time zones: their names, and their local time at an instant.
import { distance } from 'fastest-levenshtein';
import { LruMap } from 'toad-cache';
import { Failure } from '../../store/base/failure.ts';

/** Cached formatters; creating one takes about 50 µs. */
const FORMATTERS_MAX = 100;
const formatters = new LruMap<Intl.DateTimeFormat>(FORMATTERS_MAX);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export const UTC = 'UTC';

/**
 * Returns the zone's name as spelled by Intl.
 * @throws Failure InvalidBody naming the member, with the nearest name
 */
export function checkTimeZone(text: string): string {
  const plain = text.trim();
  const isOffset = /^[+-]/.test(plain);
  try {
    if (!isOffset)
      return new Intl.DateTimeFormat('en-US', { timeZone: plain }).resolvedOptions().timeZone;
  } catch {
    // Refused below, with a suggestion.
  }
  const lower = plain.toLowerCase();
  const last = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1).toLowerCase();
  const distanceTo = (zone: string): number =>
    Math.min(distance(zone.toLowerCase(), lower), distance(last(zone), lower.replaceAll(' ', '_')));
  const [near = UTC] = Intl.supportedValuesOf('timeZone').toSorted(
    (one, other) => distanceTo(one) - distanceTo(other),
  );
  const quoted = JSON.stringify(plain.slice(0, 100));
  throw new Failure(
    'InvalidBody',
    `timeZone must be an IANA time zone; got ${quoted}. Did you mean ${near}?`,
  );
}

/** Local time of a zone at an instant, as if it was UTC; to the minute. */
export function clockTime(zone: string, ms: number): number {
  const parts = Object.fromEntries(
    formatterFor(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const [year = 0, month = 1, day = 1] = [parts['year'], parts['month'], parts['day']];
  return Date.UTC(year, month - 1, day, parts['hour'], parts['minute']);
}

/** The instant of a local time: the first of two, and for a skipped time the instant of the clock change. */
export function toInstant(zone: string, clock: number): number {
  const offsets = [clock - DAY_MS, clock + DAY_MS].map(
    (near) => clockTime(zone, near) - floor(near),
  );
  const instants = offsets.map((offset) => clock - offset).sort((one, other) => one - other);
  const exact = instants.find((instant) => clockTime(zone, instant) === clock);
  if (exact !== undefined) return exact;
  let [before = clock, after = clock] = instants;
  while (after - before > MINUTE_MS) {
    const middle = floor((before + after) / 2);
    if (clockTime(zone, middle) < clock) before = middle;
    else after = middle;
  }
  return after;
}

const floor = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

function formatterFor(zone: string): Intl.DateTimeFormat {
  const cached = formatters.get(zone);
  if (cached !== undefined) return cached;
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  formatters.set(zone, formatter);
  return formatter;
}
