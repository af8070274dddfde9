// Spells the values of conditions as their columns do, so that DuckDB's casts change none.
import { type ColumnType, toDecimalShape } from '../../store/lake/versions/columns.ts';
import { formatDecimal } from '../../store/lake/versions/decimals.ts';
import { instantText } from './seriesPlan.ts';

/** Keeps DuckDB from rounding: 1.5 is not the key 2, and an hour of a day is not the day. Empty: no value. */
export function exactValue(type: ColumnType, value: string): string {
  if (type === 'int64') return Number.isInteger(Number(value)) ? value : '';
  const decimal = toDecimalShape(type);
  if (decimal !== undefined) return formatDecimal(value, decimal) ?? '';
  if (type === 'timestamp_ns') return /\.\d{10}/.test(value) ? '' : value;
  return type === 'date' && !/^[\d/-]+$/.test(value) ? '' : value;
}

/** The latest instant that 64 bits of nanoseconds represent. */
const NANOSECONDS_MAX_MS = 9_223_372_036_854;

/** Formats an instant for a date column: integers are epoch milliseconds. */
export function formatInstant(type: ColumnType, ms: number): string {
  if (type === 'int64') return String(ms);
  if (type !== 'timestamp_ns') return instantText(ms);
  return instantText(Math.min(NANOSECONDS_MAX_MS, Math.max(-NANOSECONDS_MAX_MS, ms)));
}
