// Rolling windows and recursive smoothing, the building blocks of indicators.
import type { Series } from './indicatorRow.ts';

/** The first bar with a value; the length where there is none. */
export function startOf(series: Series): number {
  const at = series.findIndex((value) => !Number.isNaN(value));
  return at < 0 ? series.length : at;
}

export const at = (series: Series, index: number): number => series[index] ?? Number.NaN;

/** A series in contiguous memory: windows read it repeatedly. */
export type Packed = Float64Array;

export const packedAt = (series: Packed, index: number): number => series[index] ?? Number.NaN;

export const none = (length: number): number[] => new Array<number>(length).fill(Number.NaN);

export const mapped = (series: Series, compute: (value: number) => number): Series =>
  series.map((value) => compute(value));

/** Bar by bar. */
export const combined = (
  left: Series,
  right: Series,
  compute: (left: number, right: number) => number,
): Series => left.map((value, index) => compute(value, at(right, index)));

/** Combines each bar with the one `lag` bars before it. */
export const against = (
  series: Series,
  lag: number,
  compute: (now: number, before: number) => number,
): Series =>
  series.map((value, index) =>
    index < lag ? Number.NaN : compute(value, at(series, index - lag)),
  );

/** One value for each complete window, from its first bar to its last. */
export function windowed(
  series: Series,
  period: number,
  compute: (series: Packed, from: number, to: number) => number,
): Series {
  const out = none(series.length);
  const packed = Float64Array.from(series);
  for (let to = startOf(series) + period - 1; to < series.length; to += 1) {
    out[to] = compute(packed, to - period + 1, to);
  }
  return out;
}

function sumWithin(series: Packed, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index <= to; index += 1) sum += packedAt(series, index);
  return sum;
}

export const meanWithin = (series: Packed, from: number, to: number): number =>
  sumWithin(series, from, to) / (to - from + 1);

/** Variance of the whole window, not of a sample. */
function varianceWithin(series: Packed, from: number, to: number): number {
  const mean = meanWithin(series, from, to);
  let sum = 0;
  for (let index = from; index <= to; index += 1) sum += (packedAt(series, index) - mean) ** 2;
  return sum / (to - from + 1);
}

function leastWithin(series: Packed, from: number, to: number): number {
  let least = packedAt(series, from);
  for (let index = from + 1; index <= to; index += 1)
    least = Math.min(least, packedAt(series, index));
  return least;
}

function mostWithin(series: Packed, from: number, to: number): number {
  let most = packedAt(series, from);
  for (let index = from + 1; index <= to; index += 1)
    most = Math.max(most, packedAt(series, index));
  return most;
}

export const sums = (series: Series, period: number): Series => windowed(series, period, sumWithin);
export const means = (series: Series, period: number): Series =>
  windowed(series, period, meanWithin);
export const variances = (series: Series, period: number): Series =>
  windowed(series, period, varianceWithin);
export const deviations = (series: Series, period: number): Series =>
  mapped(variances(series, period), Math.sqrt);
export const lows = (series: Series, period: number): Series =>
  windowed(series, period, leastWithin);
export const highs = (series: Series, period: number): Series =>
  windowed(series, period, mostWithin);

/** Each value moves the previous one by a share of their difference; it begins with the first value. */
export function smoothed(series: Series, share: number): Series {
  const out = none(series.length);
  const start = startOf(series);
  let value = at(series, start);
  for (let index = start; index < series.length; index += 1) {
    value += share * (at(series, index) - value);
    out[index] = value;
  }
  return out;
}

/** The exponential average over `period` bars. */
export const exponential = (series: Series, period: number): Series =>
  smoothed(series, 2 / (period + 1));

/** Wilder's: the mean of the first window, then each value by a share of 1 / period. */
export function wilders(series: Series, period: number): Series {
  const out = none(series.length);
  const first = startOf(series) + period - 1;
  if (first >= series.length) return out;
  let value = meanWithin(Float64Array.from(series), first - period + 1, first);
  out[first] = value;
  for (let index = first + 1; index < series.length; index += 1) {
    value += (at(series, index) - value) / period;
    out[index] = value;
  }
  return out;
}

/** From a bar on; NaN before it. */
export const startingAt = (series: Series, start: number): Series =>
  series.map((value, index) => (index < start ? Number.NaN : value));

/** A share; zero for zero of zero. */
export const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** The linear weights 1, 2, … to the latest. */
export const weighted = (series: Series, period: number): Series =>
  windowed(series, period, (values, from, to) => {
    let sum = 0;
    for (let index = from; index <= to; index += 1)
      sum += (index - from + 1) * packedAt(values, index);
    return sum / ((period * (period + 1)) / 2);
  });
