// Converts records to chart points.
import type { Series } from './plot.ts';
import type { Row } from './sheet.ts';

interface Ohlc {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
}

/** Finds the OHLC columns, ignoring case; undefined if one is missing. */
export function findOhlc(names: readonly string[]): Ohlc | undefined {
  const findColumn = (word: string): string | undefined =>
    names.find((name) => name.toLowerCase() === word);
  const [open, high, low, close] = ['open', 'high', 'low', 'close'].map(findColumn);
  return open !== undefined && high !== undefined && low !== undefined && close !== undefined
    ? { open, high, low, close }
    : undefined;
}

export const toNumbers = (rows: readonly Row[], name: string): readonly (number | null)[] =>
  rows.map((row) => (typeof row[name] === 'number' ? row[name] : null));

export const toCandles = (rows: readonly Row[], { close, high, low, open }: Ohlc): Series => ({
  kind: 'candles',
  open: toNumbers(rows, open),
  high: toNumbers(rows, high),
  low: toNumbers(rows, low),
  close: toNumbers(rows, close),
});

/** Converts days, times or milliseconds to seconds; any other value becomes its row index. */
export const toSeconds = (rows: readonly Row[], name: string): readonly number[] =>
  rows.map((row, index) => parseSeconds(row[name]) ?? index);

function parseSeconds(value: unknown): number | undefined {
  if (typeof value === 'number') return value / 1_000;
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}
