// Converts range codes to days: SPEC.md "Time series", INTERFACE.md 3.5 and the chart ranges of its 1. Pure:
// today is an argument. Weeks go from Sunday to Saturday; both ends of a range belong to it.
import { Failure } from '../../store/base/failure.ts';
import { addDays, addMonths, LAST_DAY, monthStart, weekdayOf, type Day } from './days.ts';

/** Both ends included; an absent end is open. */
export interface Days {
  readonly from?: Day | undefined;
  readonly to?: Day | undefined;
}

/** Digits of a count in a code: 9999 years already exceed the calendar. */
const COUNT_DIGITS = 5;

const RULE =
  'must be a range code: today, yesterday, ytd, last-week, last-month, last-quarter, ' +
  '5d, 2w, 6m, 1q, 1y, max, 2020, Q12020, H12020, or with calendar=true ' +
  'tomorrow, this-week, this-month, this-quarter, next-week, next-month, next-quarter';

/**
 * Returns the days of a range code, in any case.
 * @param calendar allows codes of the future; counted codes go forward from today
 * @throws Failure InvalidParameter naming range, or calendar if the code needs it.
 */
export function daysOfRange(text: string, calendar: boolean, today: Day): Days {
  const lowerCase = text.toLowerCase();
  const code = CHARTS.get(lowerCase) ?? lowerCase;
  const named = NAMED.get(code);
  if (named !== undefined) return named(today);
  const future = FUTURE.get(code);
  if (future !== undefined) {
    if (calendar) return future(today);
    throw new Failure('InvalidParameter', `"range" ${code} needs "calendar" to be true`);
  }
  const days = countedDays(code, calendar, today) ?? partOfYear(code);
  if (days !== undefined) return days;
  throw new Failure('InvalidParameter', `"range" ${RULE}`);
}

/** Whether a text is a range code, also one of the future. */
export function isRangeCode(text: string, today: Day): boolean {
  try {
    daysOfRange(text, true, today);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Chart ranges that also name a bar size: a month and five days. */
const CHARTS: ReadonlyMap<string, string> = new Map([
  ['1mm', '1m'],
  ['5dm', '5d'],
]);

type Rule = (today: Day) => Days;

const NAMED: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    today: (today) => ({ from: today, to: today }),
    yesterday: (today) => week(addDays(today, -1), 1),
    ytd: (today) => ({ from: `${today.slice(0, 4)}-01-01`, to: today }),
    'last-week': (today) => week(addDays(sundayOf(today), -7), 7),
    'last-month': (today) => months(addMonths(firstOf(today), -1), 1),
    'last-quarter': (today) => months(addMonths(quarterOf(today), -3), 3),
    max: () => ({}),
  }),
);

const FUTURE: ReadonlyMap<string, Rule> = new Map(
  Object.entries<Rule>({
    tomorrow: (today) => week(addDays(today, 1), 1),
    'this-week': (today) => week(sundayOf(today), 7),
    'this-month': (today) => months(firstOf(today), 1),
    'this-quarter': (today) => months(quarterOf(today), 3),
    'next-week': (today) => week(addDays(sundayOf(today), 7), 7),
    'next-month': (today) => months(addMonths(firstOf(today), 1), 1),
    'next-quarter': (today) => months(addMonths(quarterOf(today), 3), 3),
  }),
);

/** `5d`, `2w`, `6m`, `1q`, `1y`: back from today by that span, or forward. */
function countedDays(code: string, forward: boolean, today: Day): Days | undefined {
  const [, digits = '', unit = ''] =
    new RegExp(`^(\\d{1,${COUNT_DIGITS}})([dwmqy])$`).exec(code) ?? [];
  const count = Number(digits);
  if (unit === '' || count === 0) return undefined;
  const signed = forward ? count : -count;
  const far = shiftDay(today, signed, unit);
  return forward ? { from: today, to: far } : { from: far, to: today };
}

const MONTHS: Readonly<Record<string, number>> = { m: 1, q: 3, y: 12 };

const shiftDay = (day: Day, count: number, unit: string): Day =>
  unit === 'd' || unit === 'w'
    ? addDays(day, count * (unit === 'w' ? 7 : 1))
    : addMonths(day, count * (MONTHS[unit] ?? 1));

/** `2020`, `q12020`, `h22020`. */
function partOfYear(code: string): Days | undefined {
  const [, part = '', digits = ''] = /^(q[1-4]|h[12]|)(\d{4})$/.exec(code) ?? [];
  const year = Number(digits);
  if (year === 0) return undefined;
  const length = part === '' ? 12 : part.startsWith('q') ? 3 : 6;
  const nth = part === '' ? 0 : Number(part.slice(1)) - 1;
  return months(monthStart(year, nth * length + 1), length);
}

const sundayOf = (day: Day): Day => addDays(day, -weekdayOf(day));

const firstOf = (day: Day): Day => `${day.slice(0, 7)}-01`;

function quarterOf(day: Day): Day {
  const month = Number(day.slice(5, 7));
  return monthStart(Number(day.slice(0, 4)), month - ((month - 1) % 3));
}

const week = (from: Day, days: number): Days => ({ from, to: addDays(from, days - 1) });

function months(from: Day, count: number): Days {
  const next = addMonths(from, count);
  return { from, to: next === LAST_DAY ? next : addDays(next, -1) };
}
