// Straight lines through windows, by least squares.
import type { Series } from './indicatorRow.ts';
import { against, at, type Packed, packedAt, windowed } from './windows.ts';

/**
 * The line's value at a bar of each window: 0 is its first, period - 1 its last, period the next one. A
 * window of one bar has a level line.
 */
export const lineAt = (series: Series, period: number, bar: number): Series =>
  windowed(series, period, (values, from, to) => {
    const { middle, slope } = lineWithin(values, from, to);
    return middle + slope * (bar - (period - 1) / 2);
  });

export const slopes = (series: Series, period: number): Series =>
  windowed(series, period, (values, from, to) => lineWithin(values, from, to).slope);

/** In percent of the price: its distance from the forecast of the previous line. */
export function forecastError(series: Series, period: number): Series {
  const foretold = against(lineAt(series, period, period), 1, (_, before) => before);
  return series.map((value, index) => (100 * (value - at(foretold, index))) / value);
}

/** Centered on the window, where sums of bars are zero. */
function lineWithin(
  series: Packed,
  from: number,
  to: number,
): { readonly middle: number; readonly slope: number } {
  const count = to - from + 1;
  const center = (from + to) / 2;
  let [sum, moment] = [0, 0];
  for (let index = from; index <= to; index += 1) {
    sum += packedAt(series, index);
    moment += (index - center) * packedAt(series, index);
  }
  const spread = (count * (count * count - 1)) / 12;
  return { middle: sum / count, slope: spread === 0 ? 0 : moment / spread };
}
