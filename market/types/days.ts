// Days of a chart: INTERFACE.md 1 "chart".
import { previousSession } from '../../query/time/calendar.ts';
import { addDays, type Day } from '../../query/time/days.ts';
import { type Days, daysOfRange } from '../../query/time/ranges.ts';
import { findSession } from '../derive/lastSale.ts';
import { isOpenAt } from '../derive/quote.ts';
import type { TypeRequest } from './typeRequest.ts';

export type Span =
  /** Bars of days; the latest `count` where no day is given. */
  | { readonly kind: 'days'; readonly days: Days; readonly count: number | undefined }
  /** Bars of several minutes. */
  | { readonly kind: 'minutes'; readonly days: Days; readonly minutes: number };

const DEFAULT = '1m';

/** @throws Failure InvalidParameter naming range. */
export function spanOf(ask: TypeRequest): Span {
  const { options, today } = ask;
  const { from, last, on, to } = options;
  const range = (options.range ?? '').toLowerCase();
  if (range === '' && (from ?? to) !== undefined) return spanOfDays({ from, to });
  const exact = options.exactDate ?? on;
  if (range === 'date' || (range === '' && exact !== undefined)) {
    const day = exact ?? today;
    const days = { from: day, to: day };
    return options.chartByDay === true || on !== undefined
      ? spanOfDays(days)
      : { kind: 'minutes', days, minutes: 1 };
  }
  if (range === '' && last !== undefined) return { kind: 'days', days: {}, count: last };
  const code = range === 'dynamic' ? dynamicRange(ask) : range === '' ? DEFAULT : range;
  if (code === '1d') return { kind: 'minutes', days: minuteDay(ask), minutes: 1 };
  const days = daysOfRange(code, false, today);
  if (code === '5dm') return { kind: 'minutes', days: lastSessions(ask, 5), minutes: 10 };
  if (code === '1mm') return { kind: 'minutes', days, minutes: 30 };
  return spanOfDays(code === '5d' ? lastSessions(ask, 5) : days);
}

const spanOfDays = (days: Days): Span => ({ kind: 'days', days, count: undefined });

/** Meaning of `dynamic` now: the day while the market is open, otherwise the month. */
export const dynamicRange = ({ nowMs, today }: TypeRequest): string =>
  isOpenAt(nowMs, today) ? '1d' : '1m';

/**
 * The day whose minutes are shown: today from the opening on, before it the previous session; with
 * `chartReset` today from midnight on.
 */
export function minuteDay({ nowMs, options, today }: TypeRequest): Days {
  if (options.exactDate !== undefined) return { from: options.exactDate, to: options.exactDate };
  const session = findSession(today);
  const isToday = session === undefined ? options.chartReset === true : nowMs >= session.openMs;
  const day = isToday || options.chartReset === true ? today : sessionBefore(today);
  return { from: day, to: day };
}

/** Previous session; the calendar is limited on both sides. */
const sessionBefore = (day: Day): Day =>
  day <= '1990-01-02' || day > '2030-12-31' ? addDays(day, -1) : previousSession(day);

/** The last `count` sessions, including today's once it has begun. */
function lastSessions(ask: TypeRequest, count: number): Days {
  const { nowMs, today } = ask;
  const session = findSession(today);
  let from = session !== undefined && nowMs >= session.openMs ? today : sessionBefore(today);
  for (let at = 1; at < count; at += 1) from = sessionBefore(from);
  return { from, to: today };
}
