// Cron expressions of five fields, by the clocks of a time zone.
import { Cron } from 'croner';
import { LruMap } from 'toad-cache';
import { Failure } from '../../store/base/failure.ts';
import { clockTime, instantOf, UTC } from './timeZone.ts';

/** Expressions whose parsed form is kept; parsing one takes about 20 µs. */
const PARSED_MAX = 1_000;
const LENGTH_MAX = 200;
/** Times of the clock that all fall into one change of clocks, which is an hour or two. */
const SKIPPED_MAX = 200;

const parsed = new LruMap<Cron>(PARSED_MAX);

/**
 * The first time after `ms` that the expression names; undefined: there is none. An expression of every hour
 * follows the hours as they pass. Any other follows the clocks: a time that they skip is the instant at which
 * they skip it, and of a time that they show twice the first one counts.
 */
export function nextTime(cron: string, ms: number, zone = UTC): number | undefined {
  if (zone === UTC) return cronIn(cron, UTC).nextRun(new Date(ms))?.getTime();
  if (isEveryHour(cron)) return cronIn(cron, zone).nextRun(new Date(ms))?.getTime();
  const clocks = cronIn(cron, UTC);
  // Clocks that were set back show times again that are over.
  let clock = Math.min(clockTime(zone, ms), clockTime(zone, ms - HOUR_MS) + HOUR_MS) - 1;
  for (let count = 0; count < SKIPPED_MAX; count += 1) {
    const next = clocks.nextRun(new Date(clock))?.getTime();
    if (next === undefined) return undefined;
    const instant = instantOf(zone, next);
    if (instant > ms) return instant;
    clock = next;
  }
  return cronIn(cron, zone).nextRun(new Date(ms))?.getTime();
}

const HOUR_MS = 3_600_000;

/** Times of the next runs after an instant. */
export function nextTimes(
  cron: string,
  ms: number,
  zone: string,
  count: number,
): readonly number[] {
  const times: number[] = [];
  let last = ms;
  while (times.length < count) {
    const next = nextTime(cron, last, zone);
    if (next === undefined) break;
    times.push(next);
    last = next;
  }
  return times;
}

const isEveryHour = (cron: string): boolean => cron.split(' ')[1]?.startsWith('*') === true;

/** @throws Failure InvalidBody naming the expression, when it is none or names no time at all. */
export function checkCron(text: string, nowMs: number): string {
  if (text.length > LENGTH_MAX) throw wrong(`has over ${LENGTH_MAX} characters`);
  const cron = text.trim().split(/\s+/).join(' ');
  if (cron.split(' ').length !== 5)
    throw wrong('must have five fields: minute hour day month weekday');
  try {
    if (nextTime(cron, nowMs) !== undefined) return cron;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^\w+: /, '') : '';
    throw wrong(`is not readable: ${reason}`);
  }
  throw wrong('names no time that ever comes');
}

const wrong = (rule: string): Failure => new Failure('InvalidBody', `the cron expression ${rule}`);

function cronIn(text: string, zone: string): Cron {
  const name = `${zone} ${text}`;
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const cron = new Cron(text, { timezone: zone, mode: '5-part', paused: true });
  parsed.set(name, cron);
  return cron;
}
