// Cron expressions of five fields, in UTC.
import { Cron } from 'croner';
import { LruMap } from 'toad-cache';
import { Failure } from '../../store/base/failure.ts';

/** Expressions whose parsed form is kept; parsing one takes about 20 µs. */
const PARSED_MAX = 1_000;
const LENGTH_MAX = 200;

const parsed = new LruMap<Cron>(PARSED_MAX);

/** The first time after `ms` that the expression names; undefined: there is none. */
export function nextTime(cron: string, ms: number): number | undefined {
  return cronOf(cron).nextRun(new Date(ms))?.getTime();
}

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

function cronOf(text: string): Cron {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const cron = new Cron(text, { timezone: 'UTC', mode: '5-part', paused: true });
  parsed.set(text, cron);
  return cron;
}
