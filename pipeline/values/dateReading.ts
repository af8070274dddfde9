// Dates as people write them, read by DuckDB: SQL made of the shapes of dateFormats.ts. Each value is
// matched whole before anything is taken from it, since try_strptime passes over what follows.
import {
  DATE_CHARACTERS_MAX,
  type DateOrder,
  type DateShape,
  type DateSpelling,
  groupOf,
  MONTH_LETTERS,
  SHAPES,
  WEEKDAY,
  wholePattern,
} from './dateFormats.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** What is matched: in lower case, without spaces around it. */
export const loweredText = (text: string): string =>
  `CASE WHEN strlen(${text}) <= ${4 * DATE_CHARACTERS_MAX} THEN lower(trim(${text})) END`;

/** The same without a weekday in front: a look at the first letter is cheaper than a replacement. */
const withoutWeekday = (text: string): string =>
  `CASE WHEN left(${text}, 1) IN ('m', 't', 'w', 'f', 's')
    THEN regexp_replace(${text}, ${literal(WEEKDAY)}, '') ELSE ${text} END`;

const HAS_CLOCK = String.raw`\d:\d|\d ?[ap]\.?m\b`;
const HALVES = String.raw`(\d{1,2})((?::\d{2}){0,2}(?:[.,]\d+)?) ?([ap])\.?m\.?(.*)$`;

const MINUTES = String.raw`^(\d{1,2}:\d{2})($|[+-])`;

const matches = (text: string, pattern: string): string =>
  `regexp_full_match(${text}, ${literal(pattern)})`;

/** True where the text, which is a date in lower case, has a clock. */
export const clocked = (text: string): string => `regexp_matches(${text}, ${literal(HAS_CLOCK)})`;

/** `make` of a name that stands for the value of `of`, which is reckoned once. */
export const once = (of: string, name: string, make: (name: string) => string): string =>
  `list_transform([${of}], lambda ${name}: ${make(name)})[1]`;

/**
 * A text as a timestamp, null where it is none.
 * @param read without an order, digits of which the order decides are read where both say the same
 */
export const writtenInstant = (text: string, read: Written = {}): string =>
  once(loweredText(text), 'spelled', (spelled) =>
    once(withoutWeekday(spelled), 'written', (plain) => instantOf(plain, read)),
  );

type Written = Pick<Extract<DateSpelling['read'], { readonly kind: 'written' }>, 'order' | 'first'>;

/** A text as a date: with a clock only where that says midnight. */
function writtenDay(text: string, read: Written): string {
  const midnight = (at: string): string =>
    `CASE WHEN ${at} = date_trunc('day', ${at}) THEN CAST(${at} AS DATE) END`;
  return once(writtenInstant(text, read), 'instant', midnight);
}

function instantOf(plain: string, { first = [], order }: Written): string {
  // Those that were seen first are tried first: each that does not match costs 0.1 us.
  const shapes = [...new Set([...first.map((at) => SHAPES[at]), ...SHAPES])];
  const day = dayOf(
    plain,
    shapes.filter((shape) => shape !== undefined),
    order,
  );
  const clock = `TRY_CAST(concat('1970-01-01 ', ${clockOf(plain)}) AS TIMESTAMPTZ)`;
  return `CAST(${day} AS TIMESTAMP) + CASE WHEN ${clocked(plain)}
    THEN CAST(${clock} AS TIMESTAMP) - TIMESTAMP '1970-01-01' ELSE INTERVAL 0 SECOND END`;
}

const ordered = ({ month }: DateShape): boolean => month === 'a' || month === 'b';

/** True where a text has the shape of a date whose day and month the order tells. */
export function isOrdered(text: string): string {
  const patterns = SHAPES.filter(ordered).map(wholePattern);
  const plain = withoutWeekday(loweredText(text));
  return `coalesce(${matches(plain, patterns.join('|'))}, false)`;
}

/** What two readings say, where they say the same or one says nothing. */
const agreed = (one: string, other: string): string =>
  once(
    `[${one}, ${other}]`,
    'days',
    (days) => `CASE WHEN ${days}[1] IS NULL THEN ${days}[2]
      WHEN coalesce(${days}[2], ${days}[1]) = ${days}[1] THEN ${days}[1] END`,
  );

/** Without an order both must say the same. */
function dayOf(plain: string, shapes: readonly DateShape[], order?: DateOrder): string {
  const cases = shapes.map((shape) => {
    const one = dayIn(plain, shape, order ?? 'DMY');
    const other = dayIn(plain, shape, order ?? 'MDY');
    const day = order === undefined && ordered(shape) ? agreed(one, other) : one;
    return `WHEN ${matches(plain, wholePattern(shape))} THEN ${day}`;
  });
  return `CASE ${cases.join(' ')} END`;
}

/** The day of a text that has this shape. */
function dayIn(plain: string, shape: DateShape, order: DateOrder): string {
  const { quarter, short, week, year } = shape;
  const taken = (template: string): string =>
    `regexp_replace(${plain}, ${literal(`^${shape.spelled}.*$`)}, ${literal(template)})`;
  if (week !== undefined) return weekDay(taken, shape);
  const month = quarter ?? groupOf(shape.month, order) ?? 0;
  const day = groupOf(shape.day, order);
  let text = taken(`\\${year}-\\${month}-${day === undefined ? '1' : `\\${day}`}`);
  if (short === true) {
    text = `concat(CASE WHEN ${taken(`\\${year}`)} >= '69' THEN '19' ELSE '20' END, ${text})`;
  }
  if (quarter !== undefined) {
    const first = `CAST(${taken(`\\${quarter}`)} AS INTEGER) * 3 - 2`;
    text = `concat(${taken(`\\${year}`)}, '-', ${first}, '-1')`;
  } else if (shape.spelled.includes('jan')) {
    const at = `instr(${literal(MONTH_LETTERS)}, left(${taken(`\\${month}`)}, 3)) // 3 + 1`;
    text = `regexp_replace(${text}, '[a-z]+', CAST(${at} AS VARCHAR))`;
  }
  return `TRY_CAST(${text} AS DATE)`;
}

/** Week 1 is the one with 4 January; the 53rd is none where it is the first of the next year. */
function weekDay(taken: (template: string) => string, { day, week, year }: DateShape): string {
  const number = (group: number | undefined): string =>
    `TRY_CAST(${taken(`\\${String(group)}`)} AS INTEGER)`;
  const january = `TRY_CAST(concat(${taken(`\\${year}`)}, '-01-04') AS DATE)`;
  const monday = `(${january} - (isodow(${january}) - 1)::INTEGER
    + 7 * (${number(week)} - 1))`;
  const nth = typeof day === 'number' ? `coalesce(${number(day)}, 1) - 1` : '0';
  return `CASE WHEN week(${monday}) = ${number(week)} THEN ${monday} + (${nth})::INTEGER END`;
}

/** The clock of a text that has one, as DuckDB's cast reads it. */
function clockOf(plain: string): string {
  const part = (group: number): string => `regexp_extract(${plain}, ${literal(HALVES)}, ${group})`;
  const hour = `CAST(${part(1)} AS INTEGER) % 12 + CASE ${part(3)} WHEN 'p' THEN 12 ELSE 0 END`;
  const halves = `concat(${hour}, CASE ${part(2)} WHEN '' THEN ':00' ELSE ${part(2)} END, ${part(4)})`;
  const day = String.raw`(\d{1,2}:\d{2}.*)$`;
  const clock = `CASE WHEN regexp_matches(${plain}, ${literal(HALVES)}) THEN ${halves}
    ELSE regexp_extract(${plain}, ${literal(day)}, 1) END`;
  const pointed = `replace(replace(${clock}, ',', '.'), ' ', '')`;
  // The cast knows no offset behind minutes.
  const zoned = `regexp_replace(${pointed}, '(?:z|utc|gmt)$', '+00:00')`;
  return `regexp_replace(${zoned}, ${literal(MINUTES)}, ${literal(String.raw`\1:00\2`)})`;
}

/** Spellings that try_strptime reads alone, once they are matched: in a twentieth of the time. */
const QUICK: readonly { readonly guard: string; readonly format: (order: DateOrder) => string }[] =
  [
    ...['/', '-'].map((sign) => ({
      guard: String.raw`\d{1,2}${sign}\d{1,2}${sign}\d{4}`,
      format: (order: DateOrder) =>
        order === 'DMY' ? `%d${sign}%m${sign}%Y` : `%m${sign}%d${sign}%Y`,
    })),
    ...[
      [String.raw`\d{1,2}\.\d{1,2}\.\d{4}`, '%d.%m.%Y'],
      [String.raw`\d{4}/\d{1,2}/\d{1,2}`, '%Y/%m/%d'],
      [String.raw`[A-Za-z]{3} \d{1,2} \d{4}`, '%b %d %Y'],
      [String.raw`[A-Za-z]{3} \d{1,2}, \d{4}`, '%b %d, %Y'],
      [String.raw`\d{1,2} [A-Za-z]{3} \d{4}`, '%d %b %Y'],
      [String.raw`\d{1,2}-[A-Za-z]{3}-\d{4}`, '%d-%b-%Y'],
    ].map(([guard = '', format = '']) => ({ guard, format: () => format })),
  ];

/** Null where it is not spelled so: then it may be spelled otherwise. */
function quickDay(text: string, { first = [], order }: Written): string | undefined {
  const seen = first.map((at) => SHAPES[at]);
  const named = seen.some((shape) => shape?.spelled.includes('jan'));
  const plain = seen.some((shape) => shape !== undefined && !shape.spelled.includes('jan'));
  const cases = QUICK.flatMap(({ guard, format }, at) => {
    if (guard.includes('A-Z') ? !named : !plain) return [];
    if (at < 2 && order === undefined) return [];
    const parsed = `try_strptime(${text}, ${literal(format(order ?? 'DMY'))})`;
    return [`WHEN ${matches(text, guard)} THEN ${parsed}`];
  });
  return cases.length === 0 ? undefined : `CASE ${cases.join(' ')} END`;
}

type DateRead = Exclude<DateSpelling['read'], { readonly kind: 'cast' }>;

/** A text in the file's own spelling as a date or a timestamp; null where it is none. */
export function dateOf(text: string, read: DateRead, type: 'date' | 'timestamp'): string {
  if (read.kind === 'written') {
    const written = type === 'date' ? writtenDay(text, read) : writtenInstant(text, read);
    const quick = quickDay(text, read);
    return quick === undefined ? written : `coalesce(CAST(${quick} AS ${type}), ${written})`;
  }
  return `TRY_CAST(${digitsOf(text, read)} AS ${type})`;
}

/** Casts would round 1580515200.7, and try_strptime takes 2020131. */
function digitsOf(text: string, read: Exclude<DateRead, { readonly kind: 'written' }>): string {
  if (read.kind === 'strptime') {
    const parsed = `try_strptime(${text}, ${literal(read.format)})`;
    return `CASE WHEN ${matches(text, String.raw`\d{8}`)} THEN ${parsed} END`;
  }
  const whole = matches(text, String.raw`-?\d{1,19}`);
  const count = `CASE WHEN ${whole} THEN TRY_CAST(${text} AS BIGINT) END`;
  if (read.perSecond === 1_000_000_000) return `make_timestamp((${count}) // 1000)`;
  return `make_timestamp((${count}) * ${1_000_000 / read.perSecond})`;
}
