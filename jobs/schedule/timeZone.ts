// IANA time zones: their names, and what their clocks show at an instant.
import { distance } from 'fastest-levenshtein';
import { LruMap } from 'toad-cache';
import { Failure } from '../../store/base/failure.ts';

/** Zones whose formatter is kept; making one takes about 50 µs. */
const FORMATTERS_MAX = 100;
const formatters = new LruMap<Intl.DateTimeFormat>(FORMATTERS_MAX);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export const UTC = 'UTC';

/**
 * The zone's name as the tables of Intl spell it.
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
  const far = (zone: string): number =>
    Math.min(distance(zone.toLowerCase(), lower), distance(last(zone), lower.replaceAll(' ', '_')));
  const [near = UTC] = Intl.supportedValuesOf('timeZone').toSorted(
    (one, other) => far(one) - far(other),
  );
  const shown = JSON.stringify(plain.slice(0, 100));
  throw new Failure(
    'InvalidBody',
    `timeZone must be an IANA time zone; got ${shown}. Did you mean ${near}?`,
  );
}

/** What the clocks of a zone show at an instant, as if it was UTC; to the minute. */
export function clockTime(zone: string, ms: number): number {
  const parts = Object.fromEntries(
    formatterFor(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const [year = 0, month = 1, day = 1] = [parts['year'], parts['month'], parts['day']];
  return Date.UTC(year, month - 1, day, parts['hour'], parts['minute']);
}

/**
 * When the clocks of a zone show a time: the first of two instants, and where clocks skip the time, the
 * instant at which they skip it.
 */
export function instantOf(zone: string, clock: number): number {
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
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  formatters.set(zone, made);
  return made;
}
