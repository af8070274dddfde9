// Values of conditions as the values of their columns are spelled, so that DuckDB's casts change none.
import { type ColumnType, decimalOf } from '../../store/lake/versions/columns.ts';
import { spellDecimal } from '../../store/lake/versions/decimals.ts';
import { instantText } from './seriesPlan.ts';

/** DuckDB would round: 1.5 is not the key 2, and an hour of a day is not the day. Empty: no value. */
export function unrounded(type: ColumnType, value: string): string {
  if (type === 'int64') return Number.isInteger(Number(value)) ? value : '';
  const decimal = decimalOf(type);
  if (decimal !== undefined) return spellDecimal(value, decimal) ?? '';
  if (type === 'timestamp_ns') return /\.\d{10}/.test(value) ? '' : value;
  return type === 'date' && !/^[\d/-]+$/.test(value) ? '' : value;
}

/** Instants that 64 bits of nanoseconds hold. */
const NANOSECONDS_MAX_MS = 9_223_372_036_854;

/** An instant as a column of dates has it: integers are epoch milliseconds. */
export function spelledInstant(type: ColumnType, ms: number): string {
  if (type === 'int64') return String(ms);
  if (type !== 'timestamp_ns') return instantText(ms);
  return instantText(Math.min(NANOSECONDS_MAX_MS, Math.max(-NANOSECONDS_MAX_MS, ms)));
}
