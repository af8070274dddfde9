// Generates the SQL that converts a text, or a typed value, to the type of a property: exactly, or to null.
// DuckDB's own casts accept more: they read 0005 as 5, 1_000 as 1000, 0x1F as 31, 1e400 as infinity, `t` as
// true, `infinity` as a date, and keep 17 digits of 0.1234567890123456789.
import {
  type ColumnKind,
  columnKind,
  type ColumnType,
  toColumnType,
  toDecimalShape,
  type PropertyType,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import { type DecimalShape, parseDecimal } from '../../store/lake/versions/decimals.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { BELOW_MICROSECOND } from './dateFormats.ts';

/** A time of day, to the microsecond; further zeros are exact too. */
const CLOCK = String.raw`([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6}0*)?)?`;

/** Digits that every double keeps. */
export const DIGITS_MAX = 15;

/** A leading zero means a code: 007 is not a number, unless the property is declared to be one. */
const INTEGER = String.raw`[-+]?(?:0|[1-9][0-9]*)`;
const DECLARED_INTEGER = '[-+]?[0-9]+';
const whole = (integer: string): string => String.raw`${integer}(?:\.0*)?`;
/** Whole numbers with an exponent. Without a point or a sign it may be a code: 9876E5. */
const SCIENTIFIC = String.raw`${INTEGER}(?:\.[0-9]*[eE][-+]?|[eE][-+])[0-9]{1,2}`;
const number = (integer: string): string =>
  String.raw`(?:${integer}(?:\.[0-9]*)?|[-+]?\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?`;

const matches = (text: string, pattern: string): string =>
  `regexp_full_match(${text}, ${literal(pattern)})`;

/** Properties of the texts. */
interface Texts {
  /**
   * No number of the file has an underscore or a negative exponent: most are then read by a comparison,
   * whereas a pattern costs 0.1 us.
   */
  readonly isPlain?: boolean;
  /** Rejects exponents nevertheless: the numbers are not checked for infinity afterwards. */
  readonly hasExponents?: boolean;
  /**
   * The property was declared to be a number: 01 is then 1, and 16 or 17 digits are accepted even if a
   * shorter text has the same double.
   */
  readonly isDeclared?: boolean;
}

export function castText(text: string, type: ColumnType, texts: Texts = {}): string {
  const decimal = toDecimalShape(type);
  if (decimal !== undefined) return castDecimal(text, decimal.scale, sqlType(type));
  switch (type) {
    case 'int64':
      return exactInteger(text, texts.isDeclared === true);
    case 'float64':
      return exactNumber(text, texts);
    case 'boolean':
      return `CASE WHEN lower(${text}) IN ('true', 'false') THEN TRY_CAST(${text} AS BOOLEAN) END`;
    case 'date':
      return exactDay(text);
    case 'timestamp':
      // `infinity` and `epoch` begin with a letter.
      return `CASE WHEN ${text} < 'A' AND NOT contains(${text}, 'inf')
        AND NOT ${belowMicrosecondTest(text)} THEN CAST(TRY_CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP) END`;
    case 'timestamp_ns':
      return castNanoseconds(`trim(CAST(${text} AS VARCHAR))`);
    case 'time': {
      const isClock = matches(`CAST(${text} AS VARCHAR)`, CLOCK);
      return `CASE WHEN ${isClock} THEN TRY_CAST(${text} AS TIME) END`;
    }
    default:
      return `TRY_CAST(${text} AS ${sqlType(type)})`;
  }
}

/** SQL test whether a time has digits, not only zeros, below a microsecond: a cast would cut them. */
export const belowMicrosecondTest = (text: string): string =>
  `((contains(${text}, '.') OR contains(${text}, ',')) AND
    regexp_matches(${text}, ${literal(BELOW_MICROSECOND.source)}))`;

/** Reads an integer in DuckDB's own spelling by comparison; others are matched by patterns. */
function exactInteger(text: string, isDeclared: boolean): string {
  const value = `TRY_CAST(${text} AS BIGINT)`;
  const bare = `trim(${text})`;
  const digits = `TRY_CAST(split_part(${bare}, '.', 1) AS BIGINT)`;
  const isWhole = matches(bare, whole(isDeclared ? DECLARED_INTEGER : INTEGER));
  const scientific = `strlen(${bare}) <= ${DIGITS_MAX} AND ${matches(bare, SCIENTIFIC)}
    AND TRY_CAST(${bare} AS DOUBLE) = TRY_CAST(${bare} AS BIGINT)`;
  return `CASE WHEN CAST(${value} AS VARCHAR) = ${text} THEN ${value}
    WHEN ${isWhole} THEN ${digits}
    WHEN ${scientific} THEN TRY_CAST(${bare} AS BIGINT) END`;
}

/** Ranges of texts that begin a number without leading zeros. */
const FIRST_SIGNS = [
  ['1', ':'],
  ['0.', '0/'],
  ['-1', '-:'],
  ['-0.', '-0/'],
] as const;

function exactNumber(text: string, texts: Texts): string {
  const { hasExponents = false, isDeclared = false, isPlain = false } = texts;
  const bare = `trim(${text})`;
  const value = `TRY_CAST(${bare} AS DOUBLE)`;
  const few = `strlen(${bare}) <= ${DIGITS_MAX} AND NOT contains(lower(${bare}), 'e')`;
  const exact = `(${few} OR ${keepsDigits(bare, value, isDeclared ? [15, 16] : [])})`;
  const pattern = number(isDeclared ? DECLARED_INTEGER : INTEGER);
  const careful = `CASE WHEN ${matches(bare, pattern)} THEN CASE WHEN ${exact} THEN ${value} END END`;
  if (!isPlain) return careful;
  const none = hasExponents ? `AND NOT contains(lower(${text}), 'e')` : '';
  // In sequence: most numbers are in the first range, and a disjunction takes three times as long.
  const cases = FIRST_SIGNS.map(
    ([from, to]) => `WHEN ${text} < '${to}' AND ${text} >= '${from}'
      AND strlen(${text}) <= ${DIGITS_MAX} ${none} THEN TRY_CAST(${text} AS DOUBLE)`,
  );
  return `CASE ${cases.join(' ')} WHEN ${text} = '0' THEN 0.0::DOUBLE ELSE ${careful} END`;
}

/**
 * SQL test whether the shortest text of the number has the digits of the original text.
 * @param decimals of longer texts of the number that are accepted as well
 */
function keepsDigits(text: string, value: string, decimals: readonly number[]): string {
  const longer = decimals.map((count) => `printf('%.${count}e', ${value})`);
  const spelled = [`CAST(${value} AS VARCHAR)`, ...longer];
  return `(isfinite(${value}) AND ${significant(text)} IN (${spelled.map(significant).join(', ')}))`;
}

/** Digits between leading and trailing zeros. */
export const significant = (text: string): string =>
  `trim(regexp_replace(regexp_replace(${text}, '[eE].*$', ''), '[^0-9]', '', 'g'), '0')`;

/** A day with a time other than midnight is not a day. */
function exactDay(text: string): string {
  const day = `TRY_CAST(${text} AS DATE)`;
  const midnight = `TRY_CAST(${text} AS TIMESTAMP) = ${day}`;
  // DuckDB spells the year 0 as 1 BC.
  return `CASE WHEN strlen(${text}) = 10 AND ${text} < ':' AND ${text} >= '0001' THEN ${day}
    WHEN ${text} < 'A' AND NOT contains(${text}, 'inf') AND NOT starts_with(${text}, '0000')
    AND ${midnight} THEN ${day} END`;
}

const DECIMAL = String.raw`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?`;

/** Refuses excess digits: DuckDB's cast rounds a value with more digits after the point than the type. */
function castDecimal(text: string, scale: number, type: string): string {
  const trimmed = `trim(CAST(${text} AS VARCHAR))`;
  const fraction = String.raw`rtrim(regexp_extract(${trimmed}, '\.(\d*)', 1), '0')`;
  const exponent = `coalesce(TRY_CAST(regexp_extract(${trimmed}, '[eE](.*)$', 1) AS INTEGER), 0)`;
  const isExact = `length(${fraction}) - ${exponent} <= ${scale}`;
  const isDecimal = `regexp_full_match(${trimmed}, ${literal(DECIMAL)})`;
  return `CASE WHEN ${isDecimal} AND ${isExact} THEN TRY_CAST(${trimmed} AS ${type}) END`;
}

const DAY = String.raw`\d{4}-\d{1,2}-\d{1,2}`;
const ZONE = String.raw` ?(Z|UTC|[+-]\d\d(:?\d\d)?)`;
const INSTANT = String.raw`${DAY}([T ]\d{1,2}:\d\d(:\d\d(\.\d{1,9}0*)?)?(${ZONE})?)?`;
const EPOCH = String.raw`-?\d{9,19}`;

/** ISO 8601, or a count since 1970 whose unit is detected by its size, as for any date-time. */
function castNanoseconds(text: string): string {
  const count = `TRY_CAST(${text} AS HUGEINT)`;
  const units = [
    ['1e17', 1],
    ['1e14', 1_000],
    ['1e11', 1_000_000],
    ['0', 1_000_000_000],
  ] as const;
  const factors = units.map(([least, factor]) => `WHEN abs(${count}) >= ${least} THEN ${factor}`);
  const nanoseconds = `TRY_CAST(${count} * CASE ${factors.join(' ')} END AS BIGINT)`;
  return `CASE WHEN regexp_full_match(${text}, ${literal(INSTANT)}) THEN TRY_CAST(${text} AS TIMESTAMP_NS)
    WHEN regexp_full_match(${text}, ${literal(EPOCH)}) THEN make_timestamp_ns(${nanoseconds}) END`;
}

/** Conversions of typed values by column kind; all others reject the value, as they do in CSV and JSON. */
const CONVERSIONS: Readonly<Record<ColumnKind, readonly ColumnKind[]>> = {
  int64: ['int64', 'int128', 'decimal', 'float64', 'varchar'],
  int128: ['int64', 'int128', 'decimal', 'float64', 'varchar'],
  decimal: ['int64', 'int128', 'decimal', 'float64', 'varchar'],
  float64: ['int64', 'int128', 'decimal', 'float64', 'varchar'],
  boolean: ['boolean', 'varchar'],
  date: ['date', 'timestamp', 'timestamp_ns', 'varchar'],
  timestamp: ['date', 'timestamp', 'timestamp_ns', 'varchar'],
  timestamp_ns: ['date', 'timestamp', 'timestamp_ns', 'varchar'],
  time: ['time', 'varchar'],
  varchar: ['varchar'],
  json: ['varchar'],
};

/** Casts the value of a typed column to another type, or to null if it does not fit. */
export function castTyped(value: string, property: PropertyType, to: ColumnType): string {
  const from = toColumnType(property);
  if (!CONVERSIONS[columnKind(from)].includes(columnKind(to))) {
    return `CAST(NULL AS ${sqlType(to)})`;
  }
  // By its digits: a double compares equal to many decimals.
  if (toDecimalShape(to) !== undefined) return castText(value, to);
  const decimal = parseDecimal(from);
  if (to === 'int64' && decimal !== undefined) return castText(`CAST(${value} AS VARCHAR)`, to);
  if (to === 'float64' && from !== 'float64') return exactDouble(value, decimal);
  if (from === 'date' && to === 'varchar') return dayText(value);
  const cast = `TRY_CAST(${value} AS ${sqlType(to)})`;
  if (to === 'date') {
    const isDay = from === 'date' ? 'true' : `${cast} = ${value}`;
    return `CASE WHEN ${hasFourDigitYear(cast)} AND ${isDay} THEN ${cast} END`;
  }
  // A comparison would cut the nanoseconds of a time of day.
  if (to === 'time') return `CASE WHEN epoch_ns(${value}) % 1000 = 0 THEN ${cast} END`;
  const narrows =
    (to === 'int64' && from === 'float64') || (to === 'timestamp' && from === 'timestamp_ns');
  return narrows ? `CASE WHEN ${cast} = ${value} THEN ${cast} END` : cast;
}

const hasFourDigitYear = (day: string): string =>
  `${day} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'`;

/** ISO 8601, with a sign and six digits of years outside of 0 to 9999; DuckDB writes `(BC)`. */
function dayText(day: string): string {
  const years = `CASE WHEN year(${day}) BETWEEN 0 AND 9999 THEN printf('%04d', year(${day}))
    ELSE printf('%s%06d', CASE WHEN year(${day}) < 0 THEN '-' ELSE '+' END, abs(year(${day}))) END`;
  return `CASE WHEN ${hasFourDigitYear(day)} THEN CAST(${day} AS VARCHAR)
    WHEN ${day} IS NOT NULL THEN ${years} || strftime(${day}, '-%m-%d') END`;
}

/** Integers up to this one are doubles. */
const DOUBLE_INTEGER_MAX = 2 ** 53;
/** Fraction digits of most decimals: with `DIGITS_MAX` digits they are compared, not spelled. */
const FRACTION_DIGITS = 6;

/** An integer or a decimal as a double; null if the double does not keep its digits. */
function exactDouble(value: string, decimal: DecimalShape | undefined): string {
  const careful = exactNumber(`CAST(${value} AS VARCHAR)`, { isDeclared: true });
  if (decimal === undefined) {
    const isShort = `${value} BETWEEN -${DOUBLE_INTEGER_MAX} AND ${DOUBLE_INTEGER_MAX}`;
    return `CASE WHEN ${isShort} THEN CAST(${value} AS DOUBLE) ELSE ${careful} END`;
  }
  if (decimal.precision <= DIGITS_MAX) return `CAST(${value} AS DOUBLE)`;
  const scale = Math.min(decimal.scale, FRACTION_DIGITS);
  const short = `TRY_CAST(${value} AS DECIMAL(${DIGITS_MAX},${scale}))`;
  return `CASE WHEN ${short} = ${value} THEN CAST(${short} AS DOUBLE) ELSE ${careful} END`;
}
