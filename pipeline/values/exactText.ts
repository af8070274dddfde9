// A text, or a value that has a type, as the value of a property, in SQL: exactly, or not at all.
import {
  type ColumnType,
  decimalOf,
  type PropertyType,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** A time of the day, to the microsecond; zeros behind that are none the less exact. */
const CLOCK = String.raw`([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6}0*)?)?`;

/**
 * Text as a value, exactly: DuckDB's own casts round `12.75` to 13 and `1e-7` to 0, cut a time off its
 * date, a day off its time, and pass over the offset of a timestamp.
 */
export function castText(text: string, type: ColumnType): string {
  if (type === 'int64') {
    const whole = `TRY_CAST(${text} AS BIGINT)`;
    const signs = ['.', 'e', 'E'].map((sign) => `contains(${text}, '${sign}')`).join(' OR ');
    const rounded = `(${signs}) AND TRY_CAST(${text} AS DOUBLE) <> ${whole}`;
    return `CASE WHEN ${rounded} THEN NULL ELSE ${whole} END`;
  }
  const decimal = decimalOf(type);
  if (decimal !== undefined) return castDecimal(text, decimal.scale, sqlType(type));
  if (type === 'timestamp') return `CAST(TRY_CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`;
  if (type === 'timestamp_ns') return castNanoseconds(`trim(CAST(${text} AS VARCHAR))`);
  if (type === 'time') {
    const isClock = `regexp_full_match(CAST(${text} AS VARCHAR), ${literal(CLOCK)})`;
    return `CASE WHEN ${isClock} THEN TRY_CAST(${text} AS TIME) END`;
  }
  if (type !== 'date') return `TRY_CAST(${text} AS ${sqlType(type)})`;
  const day = `TRY_CAST(${text} AS DATE)`;
  const midnight = `TRY_CAST(${text} AS TIMESTAMP) = ${day}`;
  return `CASE WHEN length(${text}) = 10 THEN ${day} WHEN ${midnight} THEN ${day} END`;
}

const DECIMAL = String.raw`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?`;

/** DuckDB's cast rounds what has more digits behind the point than the type. */
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

/** ISO 8601, or what passed since 1970 in a unit that its size tells, as of any date-time. */
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

/** The value of a column that has the type of a property as another type, or null where it is none. */
export function castTyped(value: string, { format, type }: PropertyType, to: ColumnType): string {
  // By its digits: a double is compared with a decimal as doubles are, which many decimals equal.
  const isNumber = type === 'number' || type === 'integer';
  if (decimalOf(to) !== undefined && isNumber) return castText(value, to);
  const cast = `TRY_CAST(${value} AS ${sqlType(to)})`;
  const narrows =
    (to === 'int64' && type === 'number') ||
    (to === 'date' && (format === 'date-time' || format === 'date-time-ns')) ||
    (to === 'timestamp' && format === 'date-time-ns') ||
    (to === 'time' && format === 'time');
  return narrows ? `CASE WHEN ${cast} = ${value} THEN ${cast} END` : cast;
}
