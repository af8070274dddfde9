// Formats of written dates, and the tally of a column: for each value whether it can be read with
// the day first, with the month first, or both ways. The reading of a whole file (dateReading.ts) is based
// on the same shapes.
import { withoutSpaces } from './missing.ts';

/** The first part of dates like 01/02/2024: the month, or the day. */
export type DateOrder = 'MDY' | 'DMY';

export interface DateSpelling {
  /** An instant, not a day. */
  readonly time: boolean;
  /** Some values have digits, not only zeros, below a microsecond. */
  readonly hasNanoseconds?: true;
  readonly read:
    | { readonly kind: 'cast' }
    /** As people write it, each value separately; without an order, values that depend on it are not read. */
    | {
        readonly kind: 'written';
        readonly order?: DateOrder;
        /** Indexes in `SHAPES` of the shapes that were seen. */
        readonly first?: readonly number[];
      }
    /** The whole text matches `pattern`, eight digits where undefined. */
    | {
        readonly kind: 'strptime';
        readonly format: string;
        readonly pattern?: string;
        readonly hasOffset?: boolean;
      }
    /** Counts since 1970, in units per second: seconds (1), milliseconds (1,000) … */
    | { readonly kind: 'epoch'; readonly perSecond: 1 | 1_000 | 1_000_000 | 1_000_000_000 };
  /** Set if the order was declared rather than inferred: a value may then contradict it. */
  readonly order?: DateOrder;
}

/** A written date, in lower case and without a weekday; the pattern is valid in RE2 too. */
export interface DateShape {
  readonly spelled: string;
  /** Groups of the pattern; without a month or day it is the first one. `a` and `b` depend on the order. */
  readonly year: number;
  readonly month?: number | 'a' | 'b';
  readonly day?: number | 'a' | 'b';
  readonly quarter?: number;
  readonly week?: number;
  /** The year has two digits. */
  readonly short?: true;
  /** No time of day follows: it is a month, a quarter or a week. */
  readonly period?: true;
}

const DAY = String.raw`(\d{1,2})`;
const ORDINAL = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(\d{4})`;
const MONTH_DIGITS = '(0[1-9]|1[0-2])';
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const NAME = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?|\
september|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`;

/** The index of a month in `MONTH_LETTERS` is three times its number, less three. */
export const MONTH_LETTERS = MONTHS.join('');

/** Longer than any written date; a longer text is not parsed. */
export const DATE_CHARACTERS_MAX = 60;

const DAY_FIRST = { month: 'b', day: 'a' } as const;
const NAMED_DAY = { day: 1, month: 2, year: 3 } as const;

/** Exclusive: at most one shape matches a text. */
export const SHAPES: readonly DateShape[] = [
  ...['-', '/', String.raw`\.`].map((sign) => ({
    spelled: `${YEAR}${sign}${DAY}${sign}${DAY}`,
    year: 1,
    month: 2,
    day: 3,
  })),
  { spelled: String.raw`((?:19|20)\d{2})(\d{2})(\d{2})`, year: 1, month: 2, day: 3 },
  // With dots the day is first. Two digits each if the year has two: 1.2.10 is a version.
  { spelled: String.raw`${DAY}\.${DAY}\.${YEAR}`, day: 1, month: 2, year: 3 },
  { spelled: String.raw`(\d{2})\.(\d{2})\.(\d{2})`, day: 1, month: 2, year: 3, short: true },
  { spelled: `${DAY}/${DAY}/${YEAR}`, ...DAY_FIRST, year: 3 },
  { spelled: String.raw`${DAY}/${DAY}/(\d{2})`, ...DAY_FIRST, year: 3, short: true },
  { spelled: `${DAY}-${DAY}-${YEAR}`, ...DAY_FIRST, year: 3 },
  { spelled: String.raw`(\d{2})-(\d{2})-(\d{2})`, ...DAY_FIRST, year: 3, short: true },
  { spelled: `${ORDINAL}\\.?[-/ ]?${NAME}\\.?,?[-/ ]?${YEAR}`, ...NAMED_DAY },
  { spelled: `${ORDINAL}[-/ ]${NAME}\\.?[-/ ](\\d{2})`, ...NAMED_DAY, short: true },
  { spelled: `${NAME}\\.?[- ]${ORDINAL}(?:,? ?|-)${YEAR}`, month: 1, day: 2, year: 3 },
  { spelled: `${YEAR}[-/ ]${NAME}[-/ ]${DAY}`, year: 1, month: 2, day: 3 },
  { spelled: `${YEAR}[-/]${MONTH_DIGITS}`, year: 1, month: 2, period: true },
  { spelled: `(0?[1-9]|1[0-2])/${YEAR}`, month: 1, year: 2, period: true },
  { spelled: `${MONTH_DIGITS}-${YEAR}`, month: 1, year: 2, period: true },
  { spelled: `${NAME}\\.?(?:, | |-)${YEAR}`, month: 1, year: 2, period: true },
  { spelled: `${YEAR}[- ]${NAME}`, year: 1, month: 2, period: true },
  { spelled: `q([1-4])[-/ ]?${YEAR}`, quarter: 1, year: 2, period: true },
  { spelled: `([1-4])q[-/ ]?${YEAR}`, quarter: 1, year: 2, period: true },
  { spelled: `${YEAR}[-/ ]?q([1-4])`, year: 1, quarter: 2, period: true },
  {
    spelled: String.raw`${YEAR}-?w(0[1-9]|[1-4]\d|5[0-3])(?:-?([1-7]))?`,
    year: 1,
    week: 2,
    day: 3,
    period: true,
  },
];

/** A leading weekday, which is ignored. */
export const WEEKDAY =
  '^(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|' +
  'sat(?:urday)?|sun(?:day)?)[.,]{0,2} +';
const SECONDS = String.raw`(?::[0-5]\d(?:[.,]\d{1,9})?)?`;
const CLOCK = String.raw`(?:[01]?\d|2[0-3]):[0-5]\d${SECONDS}`;
const HALVES = String.raw`(?:0?[1-9]|1[0-2])(?::[0-5]\d${SECONDS})? ?[ap]\.?m\.?`;
const ZONE = String.raw`(?: ?(?:z|utc|gmt|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?))?`;
const TAIL = `(?:(?:t|,? +)(?:${CLOCK}|${HALVES})${ZONE})?`;

/** Pattern of a whole value in lower case, without surrounding spaces and weekday. */
export const wholePattern = ({ period, spelled }: DateShape): string =>
  `^${spelled}${period === true ? '' : TAIL}$`;

const WEEKDAY_IN_FRONT = new RegExp(WEEKDAY);
const COMPILED = SHAPES.map((shape) => ({ shape, whole: new RegExp(wholePattern(shape)) }));
const HAS_CLOCK = /:|[ap]\.?m\.?/;

interface Reading {
  readonly dayFirst: boolean;
  readonly monthFirst: boolean;
  /** Both readings are dates, but different ones. */
  readonly differs: boolean;
  /** The order decides how the digits are read. */
  readonly ordered: boolean;
  readonly clock: boolean;
  /** The index of its shape in `SHAPES`. */
  readonly at: number;
}

/** Matches digits below a microsecond that are not only zeros; the pattern is valid in RE2 too. */
export const BELOW_MICROSECOND = /[.,]\d{6}\d*[1-9]/;

/** Undefined if the value has no shape of a date. */
function parseDate(value: string): Reading | undefined {
  if (value.length > DATE_CHARACTERS_MAX) return undefined;
  const text = withoutSpaces(value).toLowerCase().replace(WEEKDAY_IN_FRONT, '');
  for (const [at, { shape, whole }] of COMPILED.entries()) {
    const match = whole.exec(text);
    if (match === null) continue;
    const ordered = shape.month === 'b';
    const dayFirst = isDay(shape, match, 'DMY');
    const monthFirst = ordered ? isDay(shape, match, 'MDY') : dayFirst;
    const differs = ordered && dayFirst && monthFirst && Number(match[1]) !== Number(match[2]);
    const clock = shape.period !== true && HAS_CLOCK.test(text);
    return { dayFirst, monthFirst, differs, ordered, clock, at };
  }
  return undefined;
}

function isDay(shape: DateShape, match: RegExpExecArray, order: DateOrder): boolean {
  const year = parseYear(match[shape.year] ?? '');
  if (shape.week !== undefined) return Number(match[shape.week]) <= countWeeks(year);
  if (shape.quarter !== undefined) return true;
  const month = patternGroup(shape.month, order);
  const day = patternGroup(shape.day, order);
  const name = month === undefined ? '' : (match[month] ?? '');
  const number = /^\d/.test(name) ? Number(name) : MONTHS.indexOf(name.slice(0, 3)) + 1;
  if (number < 1 || number > 12) return false;
  const at = day === undefined ? 1 : Number(match[day]);
  return at >= 1 && at <= new Date(Date.UTC(2000 + (year % 400), number, 0)).getUTCDate();
}

/** The group of the pattern with this part, in that order. */
export function patternGroup(part: DateShape['month'], order: DateOrder): number | undefined {
  if (part === 'a') return order === 'DMY' ? 1 : 2;
  if (part === 'b') return order === 'DMY' ? 2 : 1;
  return part;
}

/** Reads two digits like POSIX. */
const parseYear = (digits: string): number =>
  digits.length > 2 ? Number(digits) : Number(digits) + (Number(digits) >= 69 ? 1900 : 2000);

/** A year has 53 weeks if it begins on a Thursday, or on a Wednesday and is a leap year. */
function countWeeks(year: number): number {
  const same = 2000 + (year % 400);
  const first = new Date(Date.UTC(same, 0, 1)).getUTCDay();
  const isLeap = new Date(Date.UTC(same, 2, 0)).getUTCDate() === 29;
  return first === 4 || (first === 3 && isLeap) ? 53 : 52;
}

/** Counts of the values of a column by how they can be read as dates. */
export interface DateTally {
  readonly count: number;
  /** Not dates in any order. */
  readonly neither: number;
  readonly dayFirstOnly: number;
  readonly monthFirstOnly: number;
  /** Different dates in the two orders. */
  readonly differ: number;
  /** Written with digits whose order matters. */
  readonly ordered: number;
  readonly clocks: number;
  /** Values with digits below a microsecond. */
  readonly nanoseconds: number;
  /** Indexes in `SHAPES`. */
  readonly first: readonly number[];
}

/** `contradiction`: some values have the day first, others the month. */
type DateVerdict = DateSpelling | 'ambiguous' | 'contradiction' | undefined;

/**
 * Decides how a column is read.
 * @param order the declared order of day and month: values that contradict it are then misfits like any
 *   others
 */
export function dateVerdict(tally: DateTally, order?: DateOrder): DateVerdict {
  const { clocks, count, dayFirstOnly, differ, first, monthFirstOnly } = tally;
  const { nanoseconds, neither, ordered } = tally;
  if (count === 0 || neither > 0) return undefined;
  const time =
    nanoseconds > 0 ? ({ time: true, hasNanoseconds: true } as const) : { time: clocks > 0 };
  const written = { kind: 'written', first } as const;
  if (ordered === 0) return { ...time, read: written };
  if (order !== undefined) return { ...time, read: { ...written, order }, order };
  if (dayFirstOnly > 0 && monthFirstOnly > 0) return 'contradiction';
  if (dayFirstOnly > 0) return { ...time, read: { ...written, order: 'DMY' } };
  if (monthFirstOnly > 0) return { ...time, read: { ...written, order: 'MDY' } };
  return differ > 0 ? 'ambiguous' : { ...time, read: written };
}

/** Undefined at the first value that is not a date: most columns have none, which must be detected fast. */
function tallyDates(values: readonly string[]): DateTally | undefined {
  const tally = {
    dayFirstOnly: 0,
    monthFirstOnly: 0,
    differ: 0,
    ordered: 0,
    clocks: 0,
    nanoseconds: 0,
  };
  const seen = new Set<number>();
  for (const value of values) {
    const reading = parseDate(value);
    if (reading === undefined || !(reading.dayFirst || reading.monthFirst)) return undefined;
    seen.add(reading.at);
    if (!reading.monthFirst) tally.dayFirstOnly += 1;
    if (!reading.dayFirst) tally.monthFirstOnly += 1;
    if (reading.differs) tally.differ += 1;
    if (reading.ordered) tally.ordered += 1;
    if (!reading.clock) continue;
    tally.clocks += 1;
    if (BELOW_MICROSECOND.test(value)) tally.nanoseconds += 1;
  }
  return { count: values.length, neither: 0, ...tally, first: [...seen] };
}

/** Whether a value is a date in at least one order of day and month. */
export const isDateText = (value: string): boolean => tallyDates([value]) !== undefined;

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
const ISO_INSTANT =
  /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?$/;

/** Days and instants in ISO 8601, which DuckDB's casts read without ambiguity. */
function isoSpelling(values: readonly string[]): DateSpelling | undefined {
  let time = false;
  for (const value of values) {
    const day = ISO_DAY.test(value);
    if (!day && !ISO_INSTANT.test(value)) return undefined;
    if (!day) time = true;
  }
  return { time, read: { kind: 'cast' } };
}

/** How `values` (none empty) spell dates; undefined if one of them is not a date. */
export function detectDates(values: readonly string[], order?: DateOrder): DateVerdict {
  if (values.length === 0) return undefined;
  const tally = tallyDates(values);
  if (tally === undefined) return undefined;
  const iso = isoSpelling(values);
  if (iso === undefined) return dateVerdict(tally, order);
  return tally.nanoseconds > 0 ? { ...iso, hasNanoseconds: true } : iso;
}

/** The unambiguous reading of the dates, or undefined. */
export function findDateSpelling(
  values: readonly string[],
  order?: DateOrder,
): DateSpelling | undefined {
  const verdict = detectDates(values, order);
  return typeof verdict === 'string' ? undefined : verdict;
}

/** Digits alone are a date only where a date is expected: elsewhere they are numbers. */
const NUMERIC: readonly (DateSpelling & { readonly pattern: RegExp })[] = [
  {
    pattern: /^(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/,
    time: false,
    read: { kind: 'strptime', format: '%Y%m%d' },
  },
  { pattern: /^\d{9,10}(?:\.\d{1,9})?$/, time: true, read: { kind: 'epoch', perSecond: 1 } },
  { pattern: /^\d{12,13}$/, time: true, read: { kind: 'epoch', perSecond: 1_000 } },
  { pattern: /^\d{15,16}$/, time: true, read: { kind: 'epoch', perSecond: 1_000_000 } },
  { pattern: /^\d{18,19}$/, time: true, read: { kind: 'epoch', perSecond: 1_000_000_000 } },
];

/** How digits alone spell dates: `20200131`, or a count since 1970. */
export function findNumericSpelling(values: readonly string[]): DateSpelling | undefined {
  if (values.length === 0) return undefined;
  const spelling = NUMERIC.find(({ pattern }) => values.every((value) => pattern.test(value)));
  return spelling !== undefined && values.some(countsNanoseconds)
    ? { ...spelling, hasNanoseconds: true }
    : spelling;
}

/** Whether a count since 1970 has digits below a microsecond. */
const countsNanoseconds = (value: string): boolean =>
  /^-?\d{18,19}$/.test(value) ? !value.endsWith('000') : BELOW_MICROSECOND.test(value);

/** Whether a date-time has digits below a microsecond. */
export const hasNanoseconds = (value: string): boolean =>
  countsNanoseconds(value) && (isDateText(value) || findNumericSpelling([value]) !== undefined);

/** The format of a property whose values have this spelling. */
export function dateFormatOf({
  hasNanoseconds: isFine,
  time,
}: DateSpelling): 'date' | 'date-time' | 'date-time-ns' {
  if (isFine === true) return 'date-time-ns';
  return time ? 'date-time' : 'date';
}
