// A text as the value of a property, in SQL: exactly, or not at all. DuckDB's own casts are wider than
// that: they read 0005 as 5, 1_000 as 1000, 0x1F as 31, 1e400 as infinity, `t` as true, `infinity` as a
// date, and keep 17 digits of 0.1234567890123456789.
import { type ColumnType, SQL_TYPES } from '../../store/lake/versions/columns.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** A time of the day, to the microsecond. */
const CLOCK = String.raw`([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?`;

/** Digits that every double keeps. */
export const DIGITS_MAX = 15;

/** A leading zero means a code: 007 is no number. */
const INTEGER = String.raw`[-+]?(?:0|[1-9][0-9]*)`;
const WHOLE = String.raw`${INTEGER}(?:\.0*)?`;
/** Whole numbers of an exponent. Without a point or a sign it may be a code: 9876E5. */
const SCIENTIFIC = String.raw`${INTEGER}(?:\.[0-9]*[eE][-+]?|[eE][-+])[0-9]{1,2}`;
const NUMBER = String.raw`[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?`;

const matches = (text: string, pattern: string): string =>
  `regexp_full_match(${text}, ${literal(pattern)})`;

/** What is known of the texts. */
interface Texts {
  /**
   * No number of the file has an underscore or a negative exponent: most are read by a comparison then,
   * where a pattern costs 0.1 us.
   */
  readonly isPlain?: boolean;
  /** Exponents are looked for all the same: nobody checks the numbers for infinity afterwards. */
  readonly hasExponents?: boolean;
  /** Somebody declared the property a number: 16 or 17 digits that only its double has will do. */
  readonly isDeclared?: boolean;
}

export function castText(text: string, type: ColumnType, texts: Texts = {}): string {
  switch (type) {
    case 'int64':
      return exactInteger(text);
    case 'float64':
      return exactNumber(text, texts);
    case 'boolean':
      return `CASE WHEN lower(${text}) IN ('true', 'false') THEN TRY_CAST(${text} AS BOOLEAN) END`;
    case 'date':
      return exactDay(text);
    case 'timestamp':
      // `infinity` and `epoch` begin with a letter.
      return `CASE WHEN ${text} < 'A' AND NOT contains(${text}, 'inf')
        THEN CAST(TRY_CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP) END`;
    case 'time': {
      const isClock = matches(`CAST(${text} AS VARCHAR)`, CLOCK);
      return `CASE WHEN ${isClock} THEN TRY_CAST(${text} AS TIME) END`;
    }
    default:
      return `TRY_CAST(${text} AS ${SQL_TYPES[type]})`;
  }
}

/** What is spelled as DuckDB spells it is read; the rest needs a closer look. */
function exactInteger(text: string): string {
  const value = `TRY_CAST(${text} AS BIGINT)`;
  const bare = `trim(${text})`;
  const whole = `TRY_CAST(split_part(${bare}, '.', 1) AS BIGINT)`;
  const scientific = `strlen(${bare}) <= ${DIGITS_MAX} AND ${matches(bare, SCIENTIFIC)}
    AND TRY_CAST(${bare} AS DOUBLE) = TRY_CAST(${bare} AS BIGINT)`;
  return `CASE WHEN CAST(${value} AS VARCHAR) = ${text} THEN ${value}
    WHEN ${matches(bare, WHOLE)} THEN ${whole}
    WHEN ${scientific} THEN TRY_CAST(${bare} AS BIGINT) END`;
}

/** Ranges of texts whose first signs begin a number without leading zeros. */
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
  const exact = `(${few} OR ${keptDigits(bare, value, isDeclared ? [15, 16] : [])})`;
  const careful = `CASE WHEN ${matches(bare, NUMBER)} THEN CASE WHEN ${exact} THEN ${value} END END`;
  if (!isPlain) return careful;
  const none = hasExponents ? `AND NOT contains(lower(${text}), 'e')` : '';
  // One after the other: most numbers are in the first range, and a disjunction takes three times as long.
  const cases = FIRST_SIGNS.map(
    ([from, to]) => `WHEN ${text} < '${to}' AND ${text} >= '${from}'
      AND strlen(${text}) <= ${DIGITS_MAX} ${none} THEN TRY_CAST(${text} AS DOUBLE)`,
  );
  return `CASE ${cases.join(' ')} WHEN ${text} = '0' THEN 0.0::DOUBLE ELSE ${careful} END`;
}

/**
 * The shortest text of the number has the digits of its text.
 * @param decimals of longer texts of it that will do
 */
function keptDigits(text: string, value: string, decimals: readonly number[]): string {
  const longer = decimals.map((count) => `printf('%.${count}e', ${value})`);
  const spelled = [`CAST(${value} AS VARCHAR)`, ...longer];
  return `(isfinite(${value}) AND ${significant(text)} IN (${spelled.map(significant).join(', ')}))`;
}

/** Digits between leading and trailing zeros. */
const significant = (text: string): string =>
  `trim(regexp_replace(regexp_replace(${text}, '[eE].*$', ''), '[^0-9]', '', 'g'), '0')`;

/** A day with a time of its own is no day. */
function exactDay(text: string): string {
  const day = `TRY_CAST(${text} AS DATE)`;
  const midnight = `TRY_CAST(${text} AS TIMESTAMP) = ${day}`;
  return `CASE WHEN strlen(${text}) = 10 AND ${text} < ':' AND ${text} >= '0' THEN ${day}
    WHEN ${text} < 'A' AND NOT contains(${text}, 'inf') AND ${midnight} THEN ${day} END`;
}
