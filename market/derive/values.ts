// Values of records as the market's computations need them.
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

/** A day as it is stored: a day, a time or epoch milliseconds. */
export function dayIn(row: Row, name: string): Day {
  const value = row[name];
  if (typeof value === 'number') return dayOfInstant(value);
  return typeof value === 'string' ? value.slice(0, 10) : '';
}

/** The days of many symbols are the same ones, and writing one takes 0.4 µs. */
const days = new Map<number, Day>();
const DAYS_MAX = 4_096;

function dayOfInstant(ms: number): Day {
  const known = days.get(ms);
  if (known !== undefined) return known;
  const day = new Date(ms).toISOString().slice(0, 10);
  if (days.size >= DAYS_MAX) days.clear();
  days.set(ms, day);
  return day;
}

/** Whether a symbol is that security on a day. */
export function holds(row: Row, today: Day): boolean {
  const [from, to] = [dayIn(row, 'validFrom'), dayIn(row, 'validTo')];
  return (from === '' || from <= today) && (to === '' || to >= today);
}

/** An instant, epoch milliseconds; NaN when there is none. */
export function instantIn(row: Row, name: string): number {
  const value = row[name];
  return typeof value === 'number' ? value : Date.parse(String(value));
}

/** Decimals of prices that were multiplied, and of shares of 1. */
const DECIMALS = 6;
/** Decimals of changes in percent, of which clients show two (INTERFACE.md 1 "quote"). */
const PERCENT_DECIMALS = 5;

export function rounded(value: number, decimals = DECIMALS): number {
  const scale = 10 ** decimals;
  const scaled = Math.round(value * scale) / scale;
  // What is too large for the scale has no decimals to lose, and no answer has -0.
  return Number.isFinite(scaled) ? scaled + 0 : value;
}

/** What `to` is more than `from`, as a share of it; null where there is none. */
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

const known = (values: readonly (number | null)[]): readonly number[] =>
  values.filter((value) => value !== null);

export const greatest = (values: readonly (number | null)[]): number | null =>
  known(values).reduce<number | null>(
    (most, one) => (most === null || one > most ? one : most),
    null,
  );

export const least = (values: readonly (number | null)[]): number | null =>
  known(values).reduce<number | null>(
    (most, one) => (most === null || one < most ? one : most),
    null,
  );

export const sumOf = (values: readonly (number | null)[]): number =>
  known(values).reduce((sum, one) => sum + one, 0);

/** Mean of the values there are; null of none. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const all = known(values);
  return all.length === 0 ? null : sumOf(all) / all.length;
}

const WHOLE = /^(?:0|[1-9]\d{0,15})$/;

/** The id of a trade as clients decode it: a number, or the text of a feed whose ids are none. */
export function tradeIdIn(id: unknown): unknown {
  if (typeof id !== 'string' || !WHOLE.test(id)) return id ?? null;
  return Number.isSafeInteger(Number(id)) ? Number(id) : id;
}

/** A list, or the text that stands for one: JSON, or words with commas between. */
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
