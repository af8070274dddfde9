// Reads typed values from records, and does arithmetic with missing values.
import type { Day } from '../../query/time/days.ts';

/** A record of an input, by the input's names of properties. */
export type Row = Readonly<Record<string, unknown>>;

export function numberIn(row: Row | undefined, name: string): number | null {
  const value = row?.[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function textIn(row: Row | undefined, name: string): string | null {
  const value = row?.[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Parses a day from a day, a time or epoch milliseconds. */
export function dayIn(row: Row, name: string): Day {
  const value = row[name];
  if (typeof value === 'number') return dayOfInstant(value);
  return typeof value === 'string' ? value.slice(0, 10) : '';
}

/** Cache: many symbols have the same days, and formatting one takes 0.4 µs. */
const days = new Map<number, Day>();
const DAYS_MAX = 4_096;

function dayOfInstant(ms: number): Day {
  const cached = days.get(ms);
  if (cached !== undefined) return cached;
  const day = new Date(ms).toISOString().slice(0, 10);
  if (days.size >= DAYS_MAX) days.clear();
  days.set(ms, day);
  return day;
}

/** Whether a symbol refers to that security on a day. */
export function holds(row: Row, today: Day): boolean {
  const [from, to] = [dayIn(row, 'validFrom'), dayIn(row, 'validTo')];
  return (from === '' || from <= today) && (to === '' || to >= today);
}

/** An instant, epoch milliseconds; NaN when there is none. */
export function instantIn(row: Row, name: string): number {
  const value = row[name];
  return typeof value === 'number' ? value : Date.parse(String(value));
}

/** Decimals of adjusted prices, and of shares of 1. */
const DECIMALS = 6;
/** Decimals of changes in percent, of which clients show two (INTERFACE.md 1 "quote"). */
const PERCENT_DECIMALS = 5;

export function rounded(value: number, decimals = DECIMALS): number {
  const scale = 10 ** decimals;
  const scaled = Math.round(value * scale) / scale;
  // A value too large for the scale has no decimals, and no answer contains -0.
  return Number.isFinite(scaled) ? scaled + 0 : value;
}

/** Change from `from` to `to`, as a share of `from`; null without one of them. */
export function shareOf(
  from: number | null,
  to: number | null,
  decimals = PERCENT_DECIMALS,
): number | null {
  if (from === null || to === null || from === 0) return null;
  return rounded(to / from - 1, decimals);
}

export const difference = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : rounded(to - from);

const withoutNulls = (values: readonly (number | null)[]): readonly number[] =>
  values.filter((value) => value !== null);

export const greatest = (values: readonly (number | null)[]): number | null =>
  withoutNulls(values).reduce<number | null>(
    (most, one) => (most === null || one > most ? one : most),
    null,
  );

export const least = (values: readonly (number | null)[]): number | null =>
  withoutNulls(values).reduce<number | null>(
    (most, one) => (most === null || one < most ? one : most),
    null,
  );

export const sumOf = (values: readonly (number | null)[]): number =>
  withoutNulls(values).reduce((sum, one) => sum + one, 0);

/** Mean of the values that are not null; null for none. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const all = withoutNulls(values);
  return all.length === 0 ? null : sumOf(all) / all.length;
}

const WHOLE = /^(?:0|[1-9]\d{0,15})$/;

/** The id of a trade as clients decode it: a number, or the text of a feed with other ids. */
export function tradeIdIn(id: unknown): unknown {
  if (typeof id !== 'string' || !WHOLE.test(id)) return id ?? null;
  return Number.isSafeInteger(Number(id)) ? Number(id) : id;
}

/** Parses a list from JSON or from words with commas. */
export function listIn(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (text === '') return [];
  if (!text.startsWith('[')) return text.split(',').map((word) => word.trim());
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : value;
  } catch {
    return value;
  }
}
