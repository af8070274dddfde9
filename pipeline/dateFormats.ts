// How real files spell dates. A spelling is taken only when every value has it.

/** What comes first in dates like 01/02/2024: the month, or the day. */
export type DateOrder = 'MDY' | 'DMY';

export interface DateSpelling {
  /** An instant, not a day. */
  readonly time: boolean;
  readonly read:
    | { readonly kind: 'cast' }
    | { readonly kind: 'strptime'; readonly format: string }
    /** Counts since 1970: of seconds (1), milliseconds (1,000) … */
    | { readonly kind: 'epoch'; readonly perSecond: 1 | 1_000 | 1_000_000 | 1_000_000_000 };
  /** Where it was said, not told by the values: one of them may contradict it. */
  readonly order?: DateOrder;
}

interface DateFormat extends DateSpelling {
  readonly pattern: RegExp;
  /** Which group is the month and which the day, where digits alone must be checked. */
  readonly month?: number;
  readonly day?: number;
}

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const CLOCK = String.raw`\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?`;
const ZONE = String.raw`(?:Z|[+-]\d{2}(?::?\d{2})?)?`;

const strptime = (format: string): DateSpelling => ({
  time: false,
  read: { kind: 'strptime', format },
});
const cast = (time: boolean): DateSpelling => ({ time, read: { kind: 'cast' } });
const iso = `^\\d{4}-(\\d{2})-(\\d{2})`;

const FORMATS: readonly DateFormat[] = [
  { pattern: new RegExp(`${iso}$`), ...cast(false), month: 1, day: 2 },
  { pattern: new RegExp(`${iso}[ T]${CLOCK}${ZONE}$`), ...cast(true), month: 1, day: 2 },
  { pattern: /^\d{4}\/(\d{2})\/(\d{2})$/, ...strptime('%Y/%m/%d'), month: 1, day: 2 },
  { pattern: new RegExp(`^${MONTH} \\d{1,2} \\d{4}$`, 'i'), ...strptime('%b %d %Y') },
  { pattern: new RegExp(`^${MONTH} \\d{1,2}, \\d{4}$`, 'i'), ...strptime('%b %d, %Y') },
  { pattern: new RegExp(`^\\d{1,2} ${MONTH} \\d{4}$`, 'i'), ...strptime('%d %b %Y') },
  { pattern: new RegExp(`^\\d{1,2}-${MONTH}-\\d{4}$`, 'i'), ...strptime('%d-%b-%Y') },
];

const SLASHED_PATTERN = /^(\d{1,2})\/(\d{1,2})\/\d{4}$/;
/** Unless one is said, an order of day and month is taken only when the values rule out the other. */
const SLASHED: Readonly<Record<DateOrder, DateFormat>> = {
  MDY: { pattern: SLASHED_PATTERN, ...strptime('%m/%d/%Y'), month: 1, day: 2 },
  DMY: { pattern: SLASHED_PATTERN, ...strptime('%d/%m/%Y'), month: 2, day: 1 },
};

/** Digits alone are a date only where a date is wanted: elsewhere they are numbers. */
const NUMERIC: readonly DateFormat[] = [
  {
    pattern: /^(?:19|20)\d{2}(\d{2})(\d{2})$/,
    ...strptime('%Y%m%d'),
    month: 1,
    day: 2,
  },
  { pattern: /^\d{9,10}$/, time: true, read: { kind: 'epoch', perSecond: 1 } },
  { pattern: /^\d{12,13}$/, time: true, read: { kind: 'epoch', perSecond: 1_000 } },
  { pattern: /^\d{15,16}$/, time: true, read: { kind: 'epoch', perSecond: 1_000_000 } },
  { pattern: /^\d{18,19}$/, time: true, read: { kind: 'epoch', perSecond: 1_000_000_000 } },
];

/**
 * The one spelling that all of `values` (none empty) share, or undefined.
 * @param order of day and month, where it is said: then values that contradict it are misfits, as
 *   any others are
 */
export function dateSpellingOf(
  values: readonly string[],
  order?: DateOrder,
): DateSpelling | undefined {
  if (values.length === 0) return undefined;
  const plain = shared(FORMATS, values);
  if (plain.length > 0) return plain[0];
  if (order !== undefined) {
    const slashed = values.every((value) => SLASHED_PATTERN.test(value));
    return slashed ? { ...SLASHED[order], order } : undefined;
  }
  const slashed = shared(Object.values(SLASHED), values);
  return slashed.length === 1 ? slashed[0] : undefined;
}

/** The same for values that are digits alone: `20200131`, or a count since 1970. */
export const numericSpellingOf = (values: readonly string[]): DateSpelling | undefined =>
  values.length === 0 ? undefined : shared(NUMERIC, values)[0];

const shared = (formats: readonly DateFormat[], values: readonly string[]): readonly DateFormat[] =>
  formats.filter((format) => values.every((value) => fits(format, value)));

function fits(format: DateFormat, value: string): boolean {
  const match = format.pattern.exec(value);
  if (match === null) return false;
  if (format.month === undefined || format.day === undefined) return true;
  const month = Number(match[format.month]);
  const day = Number(match[format.day]);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
