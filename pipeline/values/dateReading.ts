// Generates the SQL that reads written dates, from the shapes of dateFormats.ts. Each value is
// matched as a whole before anything is extracted from it, since try_strptime ignores trailing text.
import {
  DATE_CHARACTERS_MAX,
  type DateOrder,
  type DateShape,
  type DateSpelling,
  patternGroup,
  MONTH_LETTERS,
  SHAPES,
  WEEKDAY,
  wholePattern,
} from './dateFormats.ts';
import { belowMicrosecondTest } from './exactText.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** The text that is matched: in lower case, without surrounding spaces. */
export const loweredText = (text: string): string =>
  `CASE WHEN strlen(${text}) <= ${4 * DATE_CHARACTERS_MAX} THEN lower(trim(${text})) END`;

/** The text without a leading weekday: a check of the first letter is cheaper than a replacement. */
const withoutWeekday = (text: string): string =>
  `CASE WHEN left(${text}, 1) IN ('m', 't', 'w', 'f', 's')
    THEN regexp_replace(${text}, ${literal(WEEKDAY)}, '') ELSE ${text} END`;

const HAS_CLOCK = String.raw`\d:\d|\d ?[ap]\.?m\b`;
const HALVES = String.raw`(\d{1,2})((?::\d{2}){0,2}(?:[.,]\d+)?) ?([ap])\.?m\.?(.*)$`;

const MINUTES = String.raw`^(\d{1,2}:\d{2})($|[+-])`;

const matches = (text: string, pattern: string): string =>
  `regexp_full_match(${text}, ${literal(pattern)})`;

/** SQL test whether the text, a date in lower case, has a time of day. */
export const hasClockTest = (text: string): string =>
  `regexp_matches(${text}, ${literal(HAS_CLOCK)})`;

/** SQL test whether a text, a date, has an offset from UTC after its time of day. */
export const hasOffsetTest = (text: string): string =>
  `regexp_matches(${text}, ${literal(String.raw`(?i)\d:\d.*(?:z|utc|gmt|[+-]\d{2}(?::?\d{2})?)\s*$`)})`;

/** Applies `make` to a name bound to the value of `of`, so that it is evaluated once. */
export const evaluateOnce = (of: string, name: string, make: (name: string) => string): string =>
  `list_transform([${of}], lambda ${name}: ${make(name)})[1]`;

/**
 * Reads a text as a timestamp; null if it is none.
 * @param read without an order, digits that depend on it are read only if both orders agree
 */
export const writtenInstant = (text: string, read: Written = {}): string =>
  evaluateOnce(loweredText(text), 'spelled', (spelled) =>
    evaluateOnce(withoutWeekday(spelled), 'written', (plain) => buildInstant(plain, read)),
  );

type Written = Pick<
  Extract<DateSpelling['read'], { readonly kind: 'written' }>,
  'order' | 'first'
> & {
  /** Digits below a microsecond are left out; otherwise such a text is not read. */
  readonly truncates?: true;
};

/** Reads a text as a timestamp with nanoseconds; null if it is none, or before 1678 or after 2261. */
const writtenNanoseconds = (text: string, read: Written): string =>
  evaluateOnce(
    writtenInstant(text, { ...read, truncates: true }),
    'instant',
    (instant) => `make_timestamp_ns(TRY_CAST(epoch_us(${instant})::HUGEINT * 1000
      + CAST(rpad(regexp_extract(${text}, ${literal(NANOSECONDS)}, 1), 3, '0') AS BIGINT) AS BIGINT))`,
  );

/** Digits below a microsecond. */
const NANOSECONDS = String.raw`[.,]\d{6}(\d{1,3})`;

/** Reads a text as a date; a time of day must be midnight. DuckDB spells the year 0 as 1 BC. */
function writtenDay(text: string, read: Written): string {
  const midnight = (at: string): string => `CASE WHEN ${at} = date_trunc('day', ${at})
    AND ${at} >= TIMESTAMP '0001-01-01' THEN CAST(${at} AS DATE) END`;
  return evaluateOnce(writtenInstant(text, read), 'instant', midnight);
}

function buildInstant(plain: string, { first = [], order, truncates }: Written): string {
  // Shapes that were seen are tried first: each that does not match costs 0.1 us.
  const shapes = [...new Set([...first.map((at) => SHAPES[at]), ...SHAPES])];
  const day = buildDay(
    plain,
    shapes.filter((shape) => shape !== undefined),
    order,
  );
  const micros = String.raw`regexp_replace(${buildClock(plain)}, '(\.\d{6})\d+', '\1')`;
  const exact = `CASE WHEN NOT ${belowMicrosecondTest(plain)} THEN ${buildClock(plain)} END`;
  // concat would read a null as an empty text.
  const text = `'1970-01-01 ' || ${truncates === true ? micros : exact}`;
  const clock = `TRY_CAST(${text} AS TIMESTAMPTZ)`;
  return `CAST(${day} AS TIMESTAMP) + CASE WHEN ${hasClockTest(plain)}
    THEN CAST(${clock} AS TIMESTAMP) - TIMESTAMP '1970-01-01' ELSE INTERVAL 0 SECOND END`;
}

const ordered = ({ month }: DateShape): boolean => month === 'a' || month === 'b';

/** SQL test whether a text has the shape of a date whose day and month depend on the order. */
export function isOrderedTest(text: string): string {
  const patterns = SHAPES.filter(ordered).map(wholePattern);
  const plain = withoutWeekday(loweredText(text));
  return `coalesce(${matches(plain, patterns.join('|'))}, false)`;
}

/** The result of two readings, if they agree or one of them is null. */
const agreeing = (one: string, other: string): string =>
  evaluateOnce(
    `[${one}, ${other}]`,
    'days',
    (days) => `CASE WHEN ${days}[1] IS NULL THEN ${days}[2]
      WHEN coalesce(${days}[2], ${days}[1]) = ${days}[1] THEN ${days}[1] END`,
  );

/** Without an order both readings must agree. */
function buildDay(plain: string, shapes: readonly DateShape[], order?: DateOrder): string {
  const cases = shapes.map((shape) => {
    const one = shapeDay(plain, shape, order ?? 'DMY');
    const other = shapeDay(plain, shape, order ?? 'MDY');
    const day = order === undefined && ordered(shape) ? agreeing(one, other) : one;
    return `WHEN ${matches(plain, wholePattern(shape))} THEN ${day}`;
  });
  return `CASE ${cases.join(' ')} END`;
}

/** The day of a text with this shape. */
function shapeDay(plain: string, shape: DateShape, order: DateOrder): string {
  const { quarter, short, week, year } = shape;
  const extract = (template: string): string =>
    `regexp_replace(${plain}, ${literal(`^${shape.spelled}.*$`)}, ${literal(template)})`;
  if (week !== undefined) return weekDay(extract, shape);
  const month = quarter ?? patternGroup(shape.month, order) ?? 0;
  const day = patternGroup(shape.day, order);
  let text = extract(`\\${year}-\\${month}-${day === undefined ? '1' : `\\${day}`}`);
  if (short === true) {
    text = `concat(CASE WHEN ${extract(`\\${year}`)} >= '69' THEN '19' ELSE '20' END, ${text})`;
  }
  if (quarter !== undefined) {
    const first = `CAST(${extract(`\\${quarter}`)} AS INTEGER) * 3 - 2`;
    text = `concat(${extract(`\\${year}`)}, '-', ${first}, '-1')`;
  } else if (shape.spelled.includes('jan')) {
    const at = `instr(${literal(MONTH_LETTERS)}, left(${extract(`\\${month}`)}, 3)) // 3 + 1`;
    text = `regexp_replace(${text}, '[a-z]+', CAST(${at} AS VARCHAR))`;
  }
  return `TRY_CAST(${text} AS DATE)`;
}

/** Week 1 contains 4 January; a 53rd week that is the first of the next year is invalid. */
function weekDay(extract: (template: string) => string, { day, week, year }: DateShape): string {
  const number = (group: number | undefined): string =>
    `TRY_CAST(${extract(`\\${String(group)}`)} AS INTEGER)`;
  const january = `TRY_CAST(concat(${extract(`\\${year}`)}, '-01-04') AS DATE)`;
  const monday = `(${january} - (isodow(${january}) - 1)::INTEGER
    + 7 * (${number(week)} - 1))`;
  const nth = typeof day === 'number' ? `coalesce(${number(day)}, 1) - 1` : '0';
  return `CASE WHEN week(${monday}) = ${number(week)} THEN ${monday} + (${nth})::INTEGER END`;
}

/** The time of day of a text, as DuckDB's cast reads it. */
function buildClock(plain: string): string {
  const part = (group: number): string => `regexp_extract(${plain}, ${literal(HALVES)}, ${group})`;
  const hour = `CAST(${part(1)} AS INTEGER) % 12 + CASE ${part(3)} WHEN 'p' THEN 12 ELSE 0 END`;
  const halves = `concat(${hour}, CASE ${part(2)} WHEN '' THEN ':00' ELSE ${part(2)} END, ${part(4)})`;
  const day = String.raw`(\d{1,2}:\d{2}.*)$`;
  const clock = `CASE WHEN regexp_matches(${plain}, ${literal(HALVES)}) THEN ${halves}
    ELSE regexp_extract(${plain}, ${literal(day)}, 1) END`;
  const pointed = `replace(replace(${clock}, ',', '.'), ' ', '')`;
  // The cast does not accept an offset directly after minutes.
  const zoned = `regexp_replace(${pointed}, '(?:z|utc|gmt)$', '+00:00')`;
  return `regexp_replace(${zoned}, ${literal(MINUTES)}, ${literal(String.raw`\1:00\2`)})`;
}

/** Spellings that try_strptime alone reads after a match: in a twentieth of the time. */
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

/** Null if the text has another spelling, which is then tried. */
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

/** Column types of dates. */
export type DateType = 'date' | 'timestamp' | 'timestamp_ns';

/** Reads a text in the file's spelling as a date or a timestamp; null if it is none. */
export function buildDate(text: string, read: DateRead, type: DateType): string {
  if (type === 'timestamp_ns') return buildNanoseconds(text, read);
  if (read.kind === 'written') {
    const written = type === 'date' ? writtenDay(text, read) : writtenInstant(text, read);
    const quick = quickDay(text, read);
    return quick === undefined ? written : `coalesce(CAST(${quick} AS ${type}), ${written})`;
  }
  const instant = buildFromDigits(text, read);
  if (read.kind === 'epoch' || read.pattern === undefined) return `TRY_CAST(${instant} AS ${type})`;
  // A cast truncates nanoseconds and the time of a day.
  const whole = (at: string): string => `CASE WHEN CAST(${at} AS TIMESTAMP) = ${at}
    ${type === 'date' ? `AND CAST(${at} AS DATE) = ${at}` : ''} THEN CAST(${at} AS ${type}) END`;
  return evaluateOnce(instant, 'instant', whole);
}

/** Reads a text in the file's spelling as a timestamp with nanoseconds; null if it is none. */
function buildNanoseconds(text: string, read: DateRead): string {
  if (read.kind === 'written') return writtenNanoseconds(text, read);
  if (read.kind === 'strptime') return `TRY_CAST(${buildFromDigits(text, read)} AS TIMESTAMP_NS)`;
  const isCount = matches(text, String.raw`-?\d{1,19}(?:\.\d{1,9}0*)?`);
  const digits = `CASE WHEN ${isCount} THEN ${text} END`;
  const factor = 1_000_000_000 / read.perSecond;
  const count = `TRY_CAST(${digits} AS DECIMAL(38, 9)) * ${factor}`;
  const isWhole = `${count} = trunc(${count})`;
  return `CASE WHEN ${isWhole} THEN make_timestamp_ns(TRY_CAST(${count} AS BIGINT)) END`;
}

/** Matches first: casts would round 1580515200.7 and 12.34567891, and try_strptime accepts 2020131. */
function buildFromDigits(
  text: string,
  read: Exclude<DateRead, { readonly kind: 'written' }>,
): string {
  if (read.kind === 'strptime') {
    const parsed = `try_strptime(${text}, ${literal(read.format)})`;
    const pattern = read.pattern === undefined ? String.raw`\d{8}` : `(?i)${read.pattern}`;
    return `CASE WHEN ${matches(text, pattern)} THEN ${parsed} END`;
  }
  if (read.perSecond === 1) return buildFromSeconds(text);
  const whole = matches(text, String.raw`-?\d{1,19}`);
  const count = `CASE WHEN ${whole} THEN TRY_CAST(${text} AS BIGINT) END`;
  if (read.perSecond === 1_000_000_000) {
    return `make_timestamp(CASE WHEN (${count}) % 1000 = 0 THEN (${count}) // 1000 END)`;
  }
  return `make_timestamp((${count}) * ${1_000_000 / read.perSecond})`;
}

/** Seconds since 1970, with a fraction of at most six digits, or further zeros. */
function buildFromSeconds(text: string): string {
  const isSeconds = matches(text, String.raw`-?\d{1,15}(?:\.\d{1,6}0*)?`);
  const micros = `CAST(TRY_CAST(${text} AS DECIMAL(38, 6)) * 1000000 AS BIGINT)`;
  return `make_timestamp(CASE WHEN ${isSeconds} THEN ${micros} END)`;
}
