// Replaces the values of records for the test environment where a table is scanned, so that every
// computation uses the replaced values (SPEC.md "Authentication" 3, INTERFACE.md 0.2). The columns of the
// unique index keep their values, since records are requested and joined by them; so do system columns.
//
// The new value depends on the seed, the column and the value. It is the same in every row and call, so that
// repeated requests do not average it out. Numbers move by up to 5 %, texts become anagrams, dates move
// together. The result is test data that nobody mistakes for market data; it is not encryption.
import { hash } from 'node:crypto';
import {
  type Column,
  type ColumnKind,
  columnKind,
  isSystemColumn,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import { parseDecimal } from '../../store/lake/versions/decimals.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** The seed of an account and a dataset; it has a server secret, so that nobody can undo it by trying. */
export interface Scramble {
  readonly seed: string;
}

/** Days by which dates move: -30 to 30, never 0. */
const DAYS_MAX = 30;
/** Characters that are shuffled; later letters and digits are masked. */
const SHUFFLED_MAX = 256;

interface Printed {
  /** The quoted name. */
  readonly x: string;
  /** The seed as a literal for `hash`. */
  readonly seed: string;
  readonly days: number;
  /** DuckDB's name of its type. */
  readonly type: string;
  /** Quoted names of the unique index. */
  readonly index: readonly string[];
}

/**
 * Wraps the sub-select `rows` so that its values are scrambled.
 * @param columns those of `rows` that a table has
 * @param index columns of the unique index, among `columns`
 */
export function scrambledRows(
  rows: string,
  columns: readonly Column[],
  index: readonly Column[],
  scramble: Scramble | undefined,
): string {
  if (scramble === undefined) return rows;
  const indexNames = new Set(index.map(({ name }) => name));
  const values = columns.filter(({ name }) => !indexNames.has(name) && !isSystemColumn(name));
  if (values.length === 0) return rows;
  const indexIdentifiers = index.map(({ name }) => identifier(name));
  const replaced = values.map((column) => {
    const value = VALUES[columnKind(column.type)](
      describeColumn(column, indexIdentifiers, scramble),
    );
    const x = identifier(column.name);
    return `CASE WHEN ${x} IS NOT NULL THEN CAST(${value} AS ${sqlType(column.type)}) END AS ${x}`;
  });
  return `(SELECT * REPLACE (${replaced.join(', ')}) FROM ${rows})`;
}

function describeColumn(
  { name, type }: Column,
  index: readonly string[],
  { seed }: Scramble,
): Printed {
  const digest = hash('sha256', `${seed} ${name}`, 'buffer');
  // One shift for all dates of a dataset: the time between two dates stays the same.
  const step = hash('sha256', seed, 'buffer').readUInt32LE(0) % (2 * DAYS_MAX);
  const days = step < DAYS_MAX ? step - DAYS_MAX : step - DAYS_MAX + 1;
  const seedLiteral = literal(digest.toString('hex').slice(0, 32));
  return { x: identifier(name), seed: seedLiteral, days, type: sqlType(type), index };
}

/** 1 or -1. */
const sign = ({ seed, x }: Printed): string =>
  `(1 - 2 * CAST(hash(${x}, ${seed}, 1) % 2 AS BIGINT))`;
/** 5,000 to 45,000 millionths: rounding included at most 5 % of a number of some digits. */
const millionths = ({ seed, x }: Printed): string =>
  `CAST(5000 + hash(${x}, ${seed}) % 40001 AS BIGINT)`;

/**
 * Whole numbers below 20 have no neighbour within 5 %: they move by one, 1 to 2, since a factor of 0 would be
 * no factor. The largest become smaller.
 */
function wholeNumber(printed: Printed): string {
  const { x } = printed;
  const number = `CAST(${x} AS HUGEINT)`;
  const share = `greatest(1, abs(${number}) * ${millionths(printed)} // 1000000)`;
  return `CASE WHEN ${x} = 0 THEN 0
    WHEN abs(${number}) = 1 THEN 2 * ${number}
    WHEN abs(${number}) > 8700000000000000000 THEN ${number} - sign(${x}) * ${share}
    ELSE ${number} + ${sign(printed)} * ${share} END`;
}

/** Keeps the number of decimals. */
function decimalNumber(printed: Printed): string {
  const { x } = printed;
  const share = `${millionths(printed)} / 1000000.0`;
  const text = `CAST(${x} AS VARCHAR)`;
  const after = `length(${text}) - strpos(${text}, '.')`;
  const decimals = `CAST(CASE WHEN ${x} = trunc(${x}) THEN 0 ELSE ${after} END AS INTEGER)`;
  const moved = `${x} * (1 + ${sign(printed)} * ${share})`;
  const step = `${sign(printed)} * pow(10, -(${decimals}))`;
  const near = `round(${moved}, ${decimals})`;
  // JSON drops a last decimal of 0: 12.5 stays a number with a decimal.
  const isShort = `${x} <> trunc(${x}) AND ${near} = round(${near}, ${decimals} - 1)`;
  const rounded = `CASE WHEN ${isShort} THEN round(${near} - ${step}, ${decimals}) ELSE ${near} END`;
  // The last digit alone moves away from 0.
  const unit = `pow(10, -(${decimals}))`;
  const isUnit = `abs(${x}) < 1.5 * ${unit}`;
  const next = `CASE WHEN ${isUnit} THEN 2 * ${x} ELSE ${x} + ${step} END`;
  const neighbour = `round(${next}, ${decimals})`;
  return `CASE WHEN NOT isfinite(${x}) OR ${x} = 0 THEN ${x}
    WHEN abs(${x}) > 1e300 THEN ${x} * (1 - ${share})
    WHEN contains(${text}, 'e') THEN ${moved}
    WHEN (${rounded}) <> ${x} THEN ${rounded} ELSE ${neighbour} END`;
}

/** Moves a number as a double; the largest become smaller, and the rest move by one of the last digit. */
function exactNumber(printed: Printed): string {
  const { x, type } = printed;
  const moved = decimalNumber({ ...printed, x: `CAST(${x} AS DOUBLE)` });
  const smaller = `CAST(${x} * 0.95::DOUBLE AS ${type})`;
  const scale = parseDecimal(type)?.scale ?? 0;
  const unit = `CAST(${scale === 0 ? '1' : `'0.${'1'.padStart(scale, '0')}'`} AS ${type})`;
  const next = `CASE WHEN abs(${x}) = ${unit} THEN 2 * ${x}
    WHEN ${x} > 0 THEN ${x} - ${unit} ELSE ${x} + ${unit} END`;
  const others = [`nullif(TRY_CAST(${moved} AS ${type}), ${x})`, `nullif(${smaller}, ${x})`, next];
  return `CASE WHEN ${x} = 0 THEN ${x} ELSE coalesce(${others.join(', ')}) END`;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CHARACTERS = `${LETTERS}${LETTERS.toUpperCase()}0123456789`;
const NEXT = `${rotateBySeven(LETTERS)}${rotateBySeven(LETTERS.toUpperCase())}${rotateBySeven('0123456789')}`;

function rotateBySeven(text: string): string {
  return text.slice(7) + text.slice(0, 7);
}

/** Makes an anagram. Without one, shifts letters by seven; a text that is a day moves as a day. */
function text(printed: Printed): string {
  const { days, seed, x } = printed;
  const begin = `left(${x}, ${SHUFFLED_MAX})`;
  // Hash one text: a hash of several values is a sum of theirs, and sorts similar positions alike.
  const numbered = `list_transform(string_split(${begin}, ''),
    lambda c, i: {'h': hash(concat(${x}, ${seed}, i)), 'c': c})`;
  const head = `array_to_string(list_transform(list_sort(${numbered}), lambda p: p.c), '')`;
  const rest = `substr(${x}, ${SHUFFLED_MAX + 1})`;
  const masked = `regexp_replace(regexp_replace(${rest}, '\\p{N}', '0', 'g'), '\\p{L}', 'x', 'g')`;
  const tail = `CASE WHEN length(${x}) > ${SHUFFLED_MAX} THEN ${masked} ELSE '' END`;
  const day = `TRY_CAST(left(${x}, 10) AS DATE)`;
  const isDay = `regexp_matches(${x}, '^[12]\\d{3}-\\d\\d-\\d\\d([T ][0-9:.]*Z?)?$')`;
  const next = `nullif(translate(${x}, '${CHARACTERS}', '${NEXT}'), ${x})`;
  // Compute each of them once: a long text is the most expensive of all values.
  const other = `coalesce(nullif(${head}, ${begin}) || ${tail}, ${next}, repeat('x', length(${x})))`;
  return `CASE WHEN ${x} = '' THEN ''
    WHEN ${isDay} AND ${day} IS NOT NULL THEN CAST(${day} + ${days} AS VARCHAR) || substr(${x}, 11)
    ELSE ${other} END`;
}

/** Keeps the members and the kinds of their values: fills the shape that DuckDB reports with new values. */
function document(printed: Printed): string {
  const { seed, x } = printed;
  const number = `CAST(hash(CAST(${x} AS VARCHAR), ${seed}) % 1000 AS VARCHAR)`;
  const letters = `substr(md5(CAST(${x} AS VARCHAR) || ${seed}), 1, 6)`;
  const values = [
    ['VARCHAR', `'"' || ${letters} || '"'`],
    ['U?(BIGINT|HUGEINT)', number],
    ['DOUBLE', `${number} || '.5'`],
    ['BOOLEAN', `'true'`],
    ['NULL|JSON', `'null'`],
  ] as const;
  // A kind is a value: it follows a colon, is in a list, or alone. Names have no bare quotation marks.
  const filled = values.reduce(
    (shape, [kind, value]) =>
      `regexp_replace(${shape}, '(^|[:\\[])"(?:${kind})"', '\\1' || ${value}, 'g')`,
    `CAST(json_structure(${x}) AS VARCHAR)`,
  );
  return `coalesce(TRY(CAST(${filled} AS JSON)), CAST('null' AS JSON))`;
}

/** Keeps dates at the ends of the calendar, where days can't be added. */
const moved = ({ days, x }: Printed): string =>
  `CASE WHEN ${x} BETWEEN DATE '0100-01-01' AND DATE '9900-01-01' THEN ${x} + INTERVAL (${days}) DAY
    ELSE ${x} END`;

/** Keeps dates outside the range in which DuckDB's sum with days, of microseconds, is exact. */
const movedNanoseconds = ({ days, x }: Printed): string =>
  `CASE WHEN ${x} BETWEEN DATE '1700-01-01' AND DATE '2250-01-01' THEN ${x} + INTERVAL (${days}) DAY
    ELSE ${x} END`;

/** Hashes the record: hashing only the value could invert every boolean. */
const truth = ({ index, seed }: Printed): string => `hash(${[...index, seed].join(', ')}) % 2 = 0`;

const VALUES: Readonly<Record<ColumnKind, (printed: Printed) => string>> = {
  int64: wholeNumber,
  int128: exactNumber,
  decimal: exactNumber,
  float64: decimalNumber,
  varchar: text,
  boolean: truth,
  date: moved,
  timestamp: moved,
  timestamp_ns: movedNanoseconds,
  time: ({ x }) => x,
  json: document,
};
