// How real files spell dates. A spelling is taken only when every value has it.

interface DateFormat {
  readonly pattern: RegExp;
  /** For DuckDB's strptime; undefined: DuckDB's own cast reads it. */
  readonly strptime: string | undefined;
  readonly time: boolean;
  /** Which group is the month and which the day, where digits alone must be checked. */
  readonly month?: number;
  readonly day?: number;
}

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const CLOCK = String.raw`\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?`;
const ZONE = String.raw`(?:Z|[+-]\d{2}(?::?\d{2})?)?`;

const FORMATS: readonly DateFormat[] = [
  { pattern: /^\d{4}-(\d{2})-(\d{2})$/, strptime: undefined, time: false, month: 1, day: 2 },
  {
    pattern: new RegExp(`^\\d{4}-(\\d{2})-(\\d{2})[ T]${CLOCK}${ZONE}$`),
    strptime: undefined,
    time: true,
    month: 1,
    day: 2,
  },
  { pattern: /^\d{4}\/(\d{2})\/(\d{2})$/, strptime: '%Y/%m/%d', time: false, month: 1, day: 2 },
  { pattern: new RegExp(`^${MONTH} \\d{1,2} \\d{4}$`, 'i'), strptime: '%b %d %Y', time: false },
  { pattern: new RegExp(`^${MONTH} \\d{1,2}, \\d{4}$`, 'i'), strptime: '%b %d, %Y', time: false },
  { pattern: new RegExp(`^\\d{1,2} ${MONTH} \\d{4}$`, 'i'), strptime: '%d %b %Y', time: false },
  { pattern: new RegExp(`^\\d{1,2}-${MONTH}-\\d{4}$`, 'i'), strptime: '%d-%b-%Y', time: false },
];

/** Both orders of day and month; one is taken only when the values rule out the other. */
const SLASHED: readonly DateFormat[] = [
  { pattern: /^(\d{1,2})\/(\d{1,2})\/\d{4}$/, strptime: '%m/%d/%Y', time: false, month: 1, day: 2 },
  { pattern: /^(\d{1,2})\/(\d{1,2})\/\d{4}$/, strptime: '%d/%m/%Y', time: false, month: 2, day: 1 },
];

export interface DateSpelling {
  readonly time: boolean;
  readonly strptime: string | undefined;
}

/** The one spelling that all of `values` (none empty) share, or undefined. */
export function dateSpellingOf(values: readonly string[]): DateSpelling | undefined {
  if (values.length === 0) return undefined;
  const plain = FORMATS.find((format) => values.every((value) => fits(format, value)));
  if (plain !== undefined) return plain;
  const slashed = SLASHED.filter((format) => values.every((value) => fits(format, value)));
  return slashed.length === 1 ? slashed[0] : undefined;
}

function fits(format: DateFormat, value: string): boolean {
  const match = format.pattern.exec(value);
  if (match === null) return false;
  if (format.month === undefined || format.day === undefined) return true;
  const month = Number(match[format.month]);
  const day = Number(match[format.day]);
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}
