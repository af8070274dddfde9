// The part of a list of dated things that is asked for: jobs, runs, and what a workspace keeps.
import { endOfDay, startOfDay } from '../../query/time/dates.ts';
import type { TimeRange } from '../../store/work/jobs.ts';
import { dayOf, numberOf, type Parameter, textOf, type Values } from './parameters.ts';

/** Things of one list. */
const LISTED_MAX = 1_000;
const OFFSET_MAX = 1_000_000;

const count = (name: string, help: string): Parameter => ({
  kind: 'integer',
  name,
  least: 1,
  most: LISTED_MAX,
  help,
});

export const LIST_PARAMETERS: readonly Parameter[] = [
  { kind: 'day', name: 'from', help: 'Those created on or after this date.' },
  { kind: 'day', name: 'to', help: 'Those created on or before this date.' },
  { kind: 'day', name: 'on', help: 'Those created on this date.' },
  count('limit', 'At most n.'),
  count('last', 'The latest n.'),
  count('first', 'The first n.'),
  { kind: 'integer', name: 'offset', least: 0, most: OFFSET_MAX, help: 'Skip the first n.' },
  {
    kind: 'choice',
    name: 'sort',
    choices: ['asc', 'desc'],
    help: 'Order by time; desc by default.',
  },
];

export function listRange(query: Values, zone: string): TimeRange {
  const on = dayOf(query, 'on');
  const [from, to] = [dayOf(query, 'from') ?? on, dayOf(query, 'to') ?? on];
  const first = numberOf(query, 'first');
  return {
    fromMs: from === undefined ? undefined : startOfDay(from, zone),
    untilMs: to === undefined ? undefined : endOfDay(to, zone),
    end: first === undefined ? 'newest' : 'oldest',
    limit: first ?? numberOf(query, 'last') ?? numberOf(query, 'limit') ?? LISTED_MAX,
    offset: numberOf(query, 'offset') ?? 0,
    sort: textOf(query, 'sort') === 'asc' ? 'asc' : 'desc',
  };
}

/** The range of things that are all at hand, in any order. */
export function inRange<T>(
  items: readonly T[],
  { end, fromMs, limit, offset, sort, untilMs }: TimeRange,
  timeOf: (item: T) => number,
): readonly T[] {
  const within = items.filter((item) => {
    const time = timeOf(item);
    return time >= (fromMs ?? -Infinity) && time < (untilMs ?? Infinity);
  });
  const ordered = within.toSorted((a, b) => timeOf(a) - timeOf(b));
  const wanted = end === 'newest' ? ordered.toReversed() : ordered;
  const taken = wanted.slice(offset, offset + limit);
  return (sort === 'asc') === (end === 'oldest') ? taken : taken.toReversed();
}
