// Records of the test environment: other values where a table is scanned, so that whatever is computed
// of them is computed of those (SPEC.md "Authentication" 3, INTERFACE.md 0.2). The columns of the unique
// index stay, since records are asked for and joined by them, and so do the system's own.
//
// A value's new one depends on the seed, the column and the value: the same in every row and call, so
// that asking again does not average it out. Numbers move by up to 5 %, texts are anagrams, days move
// together: test data that nobody takes for the market's, and no encryption.
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

/** Whose values, of which dataset: a secret of the server, so that nobody can undo it by trying. */
export interface Scramble {
  readonly seed: string;
}

/** Days by which dates move: -30 to 30, never 0. */
const DAYS_MAX = 30;
/** Characters that change places; letters and digits after them are all alike. */
const SHUFFLED_MAX = 256;

interface Printed {
  /** The quoted name. */
  readonly x: string;
  /** A literal for `hash`. */
  readonly seed: string;
  readonly days: number;
  /** DuckDB's word for its type. */
  readonly type: string;
  /** Quoted names of the unique index. */
  readonly index: readonly string[];
}

/**
 * The sub-select `rows` with other values.
 * @param columns those of `rows` that a table has
 * @param index of the unique index, among `columns`
 */
export function scrambledRows(
  rows: string,
  columns: readonly Column[],
  index: readonly Column[],
  scramble: Scramble | undefined,
): string {
  if (scramble === undefined) return rows;
  const kept = new Set(index.map(({ name }) => name));
  const values = columns.filter(({ name }) => !kept.has(name) && !isSystemColumn(name));
  if (values.length === 0) return rows;
  const named = index.map(({ name }) => identifier(name));
  const replaced = values.map((column) => {
    const value = VALUES[columnKind(column.type)](printedOf(column, named, scramble));
    const x = identifier(column.name);
    return `CASE WHEN ${x} IS NOT NULL THEN CAST(${value} AS ${sqlType(column.type)}) END AS ${x}`;
  });
  return `(SELECT * REPLACE (${replaced.join(', ')}) FROM ${rows})`;
}

function printedOf({ name, type }: Column, index: readonly string[], { seed }: Scramble): Printed {
  const digest = hash('sha256', `${seed} ${name}`, 'buffer');
  // Of all dates of a dataset: what happened between two stays as long.
  const step = hash('sha256', seed, 'buffer').readUInt32LE(0) % (2 * DAYS_MAX);
  const days = step < DAYS_MAX ? step - DAYS_MAX : step - DAYS_MAX + 1;
  const drawn = literal(digest.toString('hex').slice(0, 32));
  return { x: identifier(name), seed: drawn, days, type: sqlType(type), index };
}

/** 1 or -1. */
const sign = ({ seed, x }: Printed): string =>
  `(1 - 2 * CAST(hash(${x}, ${seed}, 1) % 2 AS BIGINT))`;
/** 5,000 to 45,000 millionths: with what rounding adds at most 5 % of a number of some digits. */
const millionths = ({ seed, x }: Printed): string =>
  `CAST(5000 + hash(${x}, ${seed}) % 40001 AS BIGINT)`;

/** Whole numbers below 20 have no neighbour within 5 %: they move by one. The largest become smaller. */
function wholeNumber(printed: Printed): string {
  const { x } = printed;
  const number = `CAST(${x} AS HUGEINT)`;
  const share = `greatest(1, abs(${number}) * ${millionths(printed)} // 1000000)`;
  return `CASE WHEN ${x} = 0 THEN 0
    WHEN abs(${number}) > 8700000000000000000 THEN ${number} - sign(${x}) * ${share}
    ELSE ${number} + ${sign(printed)} * ${share} END`;
}

/** As many decimals as before. */
function decimalNumber(printed: Printed): string {
  const { x } = printed;
  const share = `${millionths(printed)} / 1000000.0`;
  const text = `CAST(${x} AS VARCHAR)`;
  const after = `length(${text}) - strpos(${text}, '.')`;
  const decimals = `CAST(CASE WHEN ${x} = trunc(${x}) THEN 0 ELSE ${after} END AS INTEGER)`;
  const moved = `${x} * (1 + ${sign(printed)} * ${share})`;
  const step = `${sign(printed)} * pow(10, -(${decimals}))`;
  const near = `round(${moved}, ${decimals})`;
  // A last decimal of 0 would be lost to who reads it: 12.5 stays a number with a decimal.
  const isShort = `${x} <> trunc(${x}) AND ${near} = round(${near}, ${decimals} - 1)`;
  const rounded = `CASE WHEN ${isShort} THEN round(${near} - ${step}, ${decimals}) ELSE ${near} END`;
  const neighbour = `round(${x} + ${step}, ${decimals})`;
  return `CASE WHEN NOT isfinite(${x}) OR ${x} = 0 THEN ${x}
    WHEN abs(${x}) > 1e300 THEN ${x} * (1 - ${share})
    WHEN contains(${text}, 'e') THEN ${moved}
    WHEN (${rounded}) <> ${x} THEN ${rounded} ELSE ${neighbour} END`;
}

/** By its value as a double; the largest become smaller, and what is left by one of its last digit. */
function exactNumber(printed: Printed): string {
  const { x, type } = printed;
  const moved = decimalNumber({ ...printed, x: `CAST(${x} AS DOUBLE)` });
  const smaller = `CAST(${x} * 0.95::DOUBLE AS ${type})`;
  const scale = parseDecimal(type)?.scale ?? 0;
  const unit = `CAST(${scale === 0 ? '1' : `'0.${'1'.padStart(scale, '0')}'`} AS ${type})`;
  const next = `CASE WHEN ${x} > 0 THEN ${x} - ${unit} ELSE ${x} + ${unit} END`;
  const others = [`nullif(TRY_CAST(${moved} AS ${type}), ${x})`, `nullif(${smaller}, ${x})`, next];
  return `CASE WHEN ${x} = 0 THEN ${x} ELSE coalesce(${others.join(', ')}) END`;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CHARACTERS = `${LETTERS}${LETTERS.toUpperCase()}0123456789`;
const NEXT = `${turned(LETTERS)}${turned(LETTERS.toUpperCase())}${turned('0123456789')}`;

function turned(text: string): string {
  return text.slice(7) + text.slice(0, 7);
}

/** An anagram; where there is none the letters after it by seven; a day that is a text as a day. */
function text(printed: Printed): string {
  const { days, seed, x } = printed;
  const begin = `left(${x}, ${SHUFFLED_MAX})`;
  // Of one text: a hash of several values is a sum of theirs, and sorts places that differ by little alike.
  const numbered = `list_transform(string_split(${begin}, ''),
    lambda c, i: {'h': hash(concat(${x}, ${seed}, i)), 'c': c})`;
  const head = `array_to_string(list_transform(list_sort(${numbered}), lambda p: p.c), '')`;
  const rest = `substr(${x}, ${SHUFFLED_MAX + 1})`;
  const masked = `regexp_replace(regexp_replace(${rest}, '\\p{N}', '0', 'g'), '\\p{L}', 'x', 'g')`;
  const tail = `CASE WHEN length(${x}) > ${SHUFFLED_MAX} THEN ${masked} ELSE '' END`;
  const day = `TRY_CAST(left(${x}, 10) AS DATE)`;
  const isDay = `regexp_matches(${x}, '^[12]\\d{3}-\\d\\d-\\d\\d([T ][0-9:.]*Z?)?$')`;
  const next = `nullif(translate(${x}, '${CHARACTERS}', '${NEXT}'), ${x})`;
  // Each of them once: a text of many characters is the dearest of all values.
  const other = `coalesce(nullif(${head}, ${begin}) || ${tail}, ${next}, repeat('x', length(${x})))`;
  return `CASE WHEN ${x} = '' THEN ''
    WHEN ${isDay} AND ${day} IS NOT NULL THEN CAST(${day} + ${days} AS VARCHAR) || substr(${x}, 11)
    ELSE ${other} END`;
}

/** The same members with values of the same kinds: its shape, told by DuckDB, filled anew. */
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
  // A kind is a value: it stands after a colon, in a list, or alone. Names have no bare quotation marks.
  const filled = values.reduce(
    (shape, [kind, value]) =>
      `regexp_replace(${shape}, '(^|[:\\[])"(?:${kind})"', '\\1' || ${value}, 'g')`,
    `CAST(json_structure(${x}) AS VARCHAR)`,
  );
  return `coalesce(TRY(CAST(${filled} AS JSON)), CAST('null' AS JSON))`;
}

/** Dates at the ends of the calendar stay, where days can't be added to them. */
const moved = ({ days, x }: Printed): string =>
  `CASE WHEN ${x} BETWEEN DATE '0100-01-01' AND DATE '9900-01-01' THEN ${x} + INTERVAL (${days}) DAY
    ELSE ${x} END`;

/** DuckDB's sum with days is of microseconds. */
const movedNanoseconds = ({ days, x }: Printed): string =>
  `CASE WHEN ${x} BETWEEN DATE '1700-01-01' AND DATE '2250-01-01' THEN ${x} + INTERVAL (${days}) DAY
    ELSE ${x} END`;

/** By its record: of two values one would otherwise always be the other. */
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
