// Points of a chart out of records.
import type { Series } from './plot.ts';
import type { Row } from './sheet.ts';

interface Ohlc {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
}

/** The columns of bars, whatever their case; undefined where one is missing. */
export function ohlcOf(names: readonly string[]): Ohlc | undefined {
  const named = (word: string): string | undefined =>
    names.find((name) => name.toLowerCase() === word);
  const [open, high, low, close] = ['open', 'high', 'low', 'close'].map(named);
  return open !== undefined && high !== undefined && low !== undefined && close !== undefined
    ? { open, high, low, close }
    : undefined;
}

export const numbersOf = (rows: readonly Row[], name: string): readonly (number | null)[] =>
  rows.map((row) => (typeof row[name] === 'number' ? row[name] : null));

export const candlesOf = (rows: readonly Row[], { close, high, low, open }: Ohlc): Series => ({
  kind: 'candles',
  open: numbersOf(rows, open),
  high: numbersOf(rows, high),
  low: numbersOf(rows, low),
  close: numbersOf(rows, close),
});

/** Days, times, or milliseconds as seconds; what is none of them is where its row is. */
export const secondsOf = (rows: readonly Row[], name: string): readonly number[] =>
  rows.map((row, index) => secondsOfValue(row[name]) ?? index);

function secondsOfValue(value: unknown): number | undefined {
  if (typeof value === 'number') return value / 1_000;
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}
