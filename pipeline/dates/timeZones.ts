// Converts local times of a zone to instants, in SQL. A time that the clock skipped is read with the offset
// before the change, a repeated one as the first of both, like Temporal's `compatible`.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Failure } from '../../store/base/failure.ts';

/** A change of the offset of a zone: seconds since 1970, and offsets in seconds. */
interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

interface Zone {
  /** Before the first change. */
  readonly offset: number;
  readonly changes: readonly Change[];
}

/** Changes are searched in these years; times outside of them have the nearest offset. */
const [FROM, TO] = [Date.UTC(1900, 0) / 1000, Date.UTC(2100, 0) / 1000];
/** Every offset lasts longer than this. */
const STEP_SECONDS = 14 * 86_400;
/** Steps in one turn of the event loop. */
const TURN_STEPS = 200;
/** Cached zones. */
const ZONES_MAX = 50;

const zones = new Map<string, Zone>();

/** `-05:00`, `+0530`, `UTC+3`. */
const OFFSET = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?([0-5]\d))?$/i;
/** A POSIX zone without summer time, where west is positive: `EST5`. */
const POSIX = /^[a-z]{3,5}([+-]?)(\d{1,2})(?::([0-5]\d))?$/i;

/** @throws Failure InvalidBody for an unknown zone */
export function checkTimeZone(name: string): void {
  if (fixedOffset(name) === undefined) offsetReader(name);
}

/** Computes the changes of a zone, yielding to the event loop: all of them take a tenth of a second. */
export async function prepareZone(name: string): Promise<void> {
  if (zones.has(name)) return;
  const fixed = fixedOffset(name);
  const zone = fixed === undefined ? await changingZone(name) : { offset: fixed, changes: [] };
  if (zones.size >= ZONES_MAX) zones.clear();
  zones.set(name, zone);
}

function zoneOf(name: string): Zone {
  const zone = zones.get(name);
  if (zone === undefined) throw new Error(`the zone ${name} was not prepared`);
  return zone;
}

function fixedOffset(name: string): number | undefined {
  if (/^(?:z|utc|gmt)$/i.test(name)) return 0;
  const offset = OFFSET.exec(name);
  const match = offset ?? POSIX.exec(name);
  if (match === null) return undefined;
  const [, sign, hours, minutes = '0'] = match;
  const seconds = Number(hours) * 3600 + Number(minutes) * 60;
  if (seconds > 15 * 3600) throw unknown(name);
  const isWest = (offset === null) === (sign !== '-');
  return isWest ? -seconds : seconds;
}

async function changingZone(name: string): Promise<Zone> {
  const offsetAt = offsetReader(name);
  const changes: Change[] = [];
  const first = offsetAt(FROM);
  let before = first;
  for (let from = FROM; from < TO; from += STEP_SECONDS) {
    const to = from + STEP_SECONDS;
    if (((from - FROM) / STEP_SECONDS) % TURN_STEPS === 0) await othersTurn();
    const after = offsetAt(to);
    if (after === before) continue;
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    changes.push({ at: high, before, after });
    before = after;
  }
  return { offset: first, changes };
}

/** The offset of a zone at an instant, in seconds. */
function offsetReader(name: string): (seconds: number) => number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    throw unknown(name);
  }
  return (seconds) => {
    const text = format.format(seconds * 1000);
    const match = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text);
    if (match === null) return 0;
    const [, sign, hours, minutes, rest = '0'] = match;
    const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
    return sign === '-' ? -offset : offset;
  };
}

function unknown(name: string): Failure {
  const rule = 'use a name such as America/New_York, an offset such as -05:00, or EST5';
  return new Failure('InvalidBody', `timeZone: \`${name}\` is unknown; ${rule}`);
}

/** Converts a local time of the zone, an SQL timestamp expression, to UTC. */
export function instantIn(local: string, name: string, type: 'timestamp' | 'timestamp_ns'): string {
  const { changes, offset } = zoneOf(name);
  // The earlier offset applies to an ambiguous local time: a step begins where both clocks are past the
  // change.
  const steps = changes.map(({ after, at, before }) => ({
    from: at + Math.max(before, after),
    offset: after,
  }));
  const seconds = steps.length === 0 ? String(offset) : offsetTree(local, offset, steps);
  if (type === 'timestamp') return `(${local} - to_seconds(${seconds}))`;
  // Subtracting an interval would cut nanoseconds.
  return `make_timestamp_ns(epoch_ns(${local}) - 1000000000 * (${seconds})::BIGINT)`;
}

interface Step {
  readonly from: number;
  readonly offset: number;
}

/** A binary search as nested CASE expressions. */
function offsetTree(local: string, before: number, steps: readonly Step[]): string {
  const half = steps.length >> 1;
  const middle = steps[half];
  if (middle === undefined) return String(before);
  const low = offsetTree(local, before, steps.slice(0, half));
  const high = offsetTree(local, middle.offset, steps.slice(half + 1));
  return `CASE WHEN ${local} < ${timestamp(middle.from)} THEN ${low} ELSE ${high} END`;
}

const timestamp = (seconds: number): string =>
  `TIMESTAMP '${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}'`;

/** SQL conditions of local times that do not exist, and that exist twice; undefined: the zone has none. */
export function oddTimes(
  local: string,
  name: string,
): { readonly missing: string; readonly twice: string } | undefined {
  const { changes } = zoneOf(name);
  if (changes.length === 0) return undefined;
  const within = (isForward: boolean): string => {
    const spans = changes.filter(({ after, before }) => after > before === isForward);
    const years = new Map<number, string[]>();
    for (const { after, at, before } of spans) {
      const [from, to] = [at + Math.min(before, after), at + Math.max(before, after)];
      const year = new Date(from * 1000).getUTCFullYear();
      const own = `${local} >= ${timestamp(from)} AND ${local} < ${timestamp(to)}`;
      years.set(year, [...(years.get(year) ?? []), own]);
    }
    const cases = [...years].map(([year, own]) => `WHEN ${year} THEN ${own.join(' OR ')}`);
    return cases.length === 0 ? 'false' : `CASE year(${local}) ${cases.join(' ')} ELSE false END`;
  };
  return { missing: within(true), twice: within(false) };
}
