// Interprets the parameters of a series together: which exclude each other, which days they select, which
// end is read and in which order. Pure; today is an argument.
import { Failure } from '../../store/base/failure.ts';
import { addDays, type Day } from '../time/days.ts';
import { type Days, daysOfRange } from '../time/ranges.ts';
import type { SeriesParameters } from './seriesParameters.ts';

type Name = keyof SeriesParameters;

/** Each name excludes all names in its list. */
const CONFLICTS: readonly (readonly [Name, readonly Name[]])[] = [
  ['first', ['last', 'next']],
  ['last', ['next']],
  ['on', ['from', 'to']],
  ['range', ['from', 'to', 'on']],
  ['next', ['range', 'from', 'to', 'on', 'future']],
  ['future', ['range', 'from', 'to', 'on']],
];

/**
 * Refuses conflicts rather than guessing. `limit` beside `first`, `last` or `next` is no conflict: a
 * client library adds `limit=1` to every request (INTERFACE.md 5), and the caller means the other.
 * @throws Failure InvalidParameter naming both of two parameters that contradict each other.
 */
export function refuseConflicts(parameters: SeriesParameters): void {
  for (const [one, others] of CONFLICTS) {
    if (parameters[one] === undefined) continue;
    const other = others.find((name) => parameters[name] !== undefined);
    if (other !== undefined) {
      throw new Failure('InvalidParameter', `"${one}" is not allowed beside "${other}"`);
    }
  }
  const { calendar, from, range, to } = parameters;
  if (calendar === true && range === undefined) {
    throw new Failure('InvalidParameter', '"calendar" or "forward" is not allowed without "range"');
  }
  if (from !== undefined && to !== undefined && from > to) {
    throw new Failure('InvalidParameter', '"from" must not be after "to"');
  }
}

/** Returns the days that the parameters select; an end that none of them sets is open. */
export function selectDays(parameters: SeriesParameters, today: Day): Days {
  const { calendar, future, next, on, range } = parameters;
  if (range !== undefined) return daysOfRange(range, calendar === true, today);
  if (on !== undefined) return { from: on, to: on };
  if (next !== undefined) return { from: today };
  if (future !== undefined) return future ? { from: addDays(today, 1) } : { to: today };
  return { from: parameters.from, to: parameters.to };
}

/** Whether a date or a range is set: then the default is more than one record. */
export const isDated = ({ from, future, on, range, to }: SeriesParameters): boolean =>
  (from ?? to ?? on ?? range ?? future) !== undefined;

export interface Take {
  /** Which end of the range is read, and the order of the answer. */
  readonly take: 'newest' | 'oldest';
  readonly order: 'asc' | 'desc';
}

/** Newest first by default; future records and the first ones oldest first (INTERFACE.md 3.5). */
export function chooseTake(parameters: SeriesParameters): Take {
  const { calendar, first, future, last, next, sort } = parameters;
  const ascending =
    first !== undefined || next !== undefined || future === true || calendar === true;
  const order = sort ?? (ascending ? 'asc' : 'desc');
  if (first !== undefined || next !== undefined) return { take: 'oldest', order };
  return { take: last === undefined && order === 'asc' ? 'oldest' : 'newest', order };
}

/** Whether the same request selects other days tomorrow. */
export const isRelative = ({ future, next, range }: SeriesParameters): boolean =>
  (range ?? next ?? future) !== undefined;
