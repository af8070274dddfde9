// Cron expressions of five fields, in the local time of a time zone.
import { Cron } from 'croner';
import { LruMap } from 'toad-cache';
import { Failure } from '../../store/base/failure.ts';
import { clockTime, toInstant, UTC } from './timeZone.ts';

/** Cached parsed expressions; parsing one takes about 20 µs. */
const PARSED_MAX = 1_000;
const LENGTH_MAX = 200;
/** Local times that fall into one clock change, which is an hour or two. */
const SKIPPED_MAX = 200;

const parsedCrons = new LruMap<Cron>(PARSED_MAX);

/**
 * The first time after `ms` that the expression matches; undefined for none. An expression of every hour
 * follows elapsed hours. Any other follows local time: a skipped local time is the instant of the clock
 * change, and of a repeated one the first counts.
 */
export function nextTime(cron: string, ms: number, zone = UTC): number | undefined {
  if (zone === UTC) return cronIn(cron, UTC).nextRun(new Date(ms))?.getTime();
  if (isEveryHour(cron)) return cronIn(cron, zone).nextRun(new Date(ms))?.getTime();
  const clocks = cronIn(cron, UTC);
  // Clocks that were set back repeat local times that are over.
  let clock = Math.min(clockTime(zone, ms), clockTime(zone, ms - HOUR_MS) + HOUR_MS) - 1;
  for (let count = 0; count < SKIPPED_MAX; count += 1) {
    const next = clocks.nextRun(new Date(clock))?.getTime();
    if (next === undefined) return undefined;
    const instant = toInstant(zone, next);
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

/** @throws Failure InvalidBody naming the expression, when it is invalid or matches no time. */
export function checkCron(text: string, nowMs: number): string {
  if (text.length > LENGTH_MAX) throw invalidCron(`has over ${LENGTH_MAX} characters`);
  const cron = text.trim().split(/\s+/).join(' ');
  if (cron.split(' ').length !== 5)
    throw invalidCron('must have five fields: minute hour day month weekday');
  try {
    if (nextTime(cron, nowMs) !== undefined) return cron;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^\w+: /, '') : '';
    throw invalidCron(`is not readable: ${reason}`);
  }
  throw invalidCron('names no time that ever comes');
}

const invalidCron = (rule: string): Failure =>
  new Failure('InvalidBody', `the cron expression ${rule}`);

function cronIn(text: string, zone: string): Cron {
  const name = `${zone} ${text}`;
  const cached = parsedCrons.get(name);
  if (cached !== undefined) return cached;
  const cron = new Cron(text, { timezone: zone, mode: '5-part', paused: true });
  parsedCrons.set(name, cron);
  return cron;
}
