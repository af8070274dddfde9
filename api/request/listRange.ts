// Parses the requested range of a list of dated items: jobs, runs, and items of a workspace.
import { endOfDay, startOfDay } from '../../query/time/dates.ts';
import type { TimeRange } from '../../store/work/jobs.ts';
import {
  dayOf,
  numberOf,
  type Parameter,
  textOf,
  type Values,
} from '../../reads/request/parameters.ts';

/** Maximum items of one list. */
const ITEMS_MAX = 1_000;
const OFFSET_MAX = 1_000_000;

const countParameter = (name: string, help: string): Parameter => ({
  kind: 'integer',
  name,
  least: 1,
  most: ITEMS_MAX,
  help,
});

export const LIST_PARAMETERS: readonly Parameter[] = [
  { kind: 'day', name: 'from', help: 'Only items created on or after this date.' },
  { kind: 'day', name: 'to', help: 'Only items created on or before this date.' },
  { kind: 'day', name: 'on', help: 'Only items created on this date.' },
  countParameter('limit', 'At most n.'),
  countParameter('last', 'The latest n.'),
  countParameter('first', 'The first n.'),
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
    limit: first ?? numberOf(query, 'last') ?? numberOf(query, 'limit') ?? ITEMS_MAX,
    offset: numberOf(query, 'offset') ?? 0,
    sort: textOf(query, 'sort') === 'asc' ? 'asc' : 'desc',
  };
}

/** Selects the range from items in memory, in any order. */
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
  const fromEnd = end === 'newest' ? ordered.toReversed() : ordered;
  const page = fromEnd.slice(offset, offset + limit);
  return (sort === 'asc') === (end === 'oldest') ? page : page.toReversed();
}
