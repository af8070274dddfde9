// Converts a stored value to another type without loss: null where that is impossible.
import {
  type ColumnKind,
  columnKind,
  type ColumnType,
  isExactNumber,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import type { DateSpelling } from '../values/dateFormats.ts';
import { buildDate } from '../values/dateReading.ts';
import { castText } from '../values/exactText.ts';
import { nanosecondText } from '../../store/duckdb/sqlText.ts';

/** Allowed conversions by column kind. Texts are spelled like values of answers. */
const CONVERSIONS: Readonly<Record<ColumnKind, readonly ColumnKind[]>> = {
  int64: ['int128', 'decimal', 'float64', 'varchar'],
  int128: ['int64', 'decimal', 'float64', 'varchar'],
  decimal: ['int64', 'int128', 'decimal', 'float64', 'varchar'],
  float64: ['int64', 'int128', 'decimal', 'varchar'],
  boolean: ['varchar'],
  date: ['timestamp', 'timestamp_ns', 'varchar'],
  timestamp: ['date', 'timestamp_ns', 'varchar'],
  timestamp_ns: ['date', 'timestamp', 'varchar'],
  time: ['varchar'],
  varchar: [
    'int64',
    'int128',
    'decimal',
    'float64',
    'boolean',
    'date',
    'timestamp',
    'timestamp_ns',
    'time',
  ],
  json: ['varchar'],
};

export const canConvert = (from: ColumnType, to: ColumnType): boolean =>
  from === to || CONVERSIONS[columnKind(from)].includes(columnKind(to));

/**
 * SQL of the conversion; null also for a null and, unless the value is a text, for an empty text.
 * @param read how texts spell a date
 */
export function buildConversion(
  value: string,
  from: ColumnType,
  to: ColumnType,
  read?: DateSpelling['read'],
): string {
  if (from === to) return value;
  if (to === 'varchar') return toText(value, from);
  if (from === 'varchar') {
    if (to !== 'date' && to !== 'timestamp') return castText(value, to);
    return read === undefined || read.kind === 'cast'
      ? castText(value, to)
      : buildDate(value, read, to);
  }
  if (isExactNumber(to)) return castText(`CAST(${value} AS VARCHAR)`, to);
  if (to === 'float64') return toDouble(value, from);
  if (to === 'timestamp' && from === 'date') return `CAST(${value} AS TIMESTAMP)`;
  const cast = `TRY_CAST(${value} AS ${sqlType(to)})`;
  // The cast is exact, and years out of its range cannot be compared with it.
  if (to === 'timestamp_ns') return cast;
  return `CASE WHEN ${cast} = ${value} THEN ${cast} END`;
}

/** Converts a decimal to a double of the same digits, or to null. */
function toDouble(value: string, from: ColumnType): string {
  const double = `CAST(${value} AS DOUBLE)`;
  if (!isExactNumber(from)) return double;
  return `CASE WHEN ${castText(`CAST(${double} AS VARCHAR)`, from)} = ${value} THEN ${double} END`;
}

/** Spells a value as in the JSON of an answer. */
function toText(value: string, from: ColumnType): string {
  if (from === 'float64') {
    const whole = `CAST(CAST(${value} AS BIGINT) AS VARCHAR)`;
    // Whole numbers are spelled without a fraction, up to 64 bits.
    return `CASE WHEN abs(${value}) < 9e18 AND trunc(${value}) = ${value} THEN ${whole}
      ELSE CAST(${value} AS VARCHAR) END`;
  }
  if (from === 'timestamp_ns') return nanosecondText(value);
  if (from !== 'timestamp') return `CAST(${value} AS VARCHAR)`;
  const format = (fraction: string): string =>
    `strftime(${value}, '%Y-%m-%dT%H:%M:%S.${fraction}Z')`;
  return `CASE WHEN date_trunc('millisecond', ${value}) = ${value} THEN ${format('%g')}
    ELSE ${format('%f')} END`;
}
