// Wilder's ranges and directional movement.
import type { Series } from './indicatorRow.ts';
import { at, combined, none, ratio, startingAt, startOf, wilders } from './windows.ts';

export interface Ranges {
  readonly high: Series;
  readonly low: Series;
  readonly close: Series;
}

/** From the lower of a bar's low and the previous close to the higher of its high and that close. */
export const trueRanges = ({ close, high, low }: Ranges): Series =>
  high.map((top, index) => {
    const before = index === 0 ? Number.NaN : at(close, index - 1);
    const bottom = at(low, index);
    return index === 0
      ? top - bottom
      : Math.max(top - bottom, Math.abs(top - before), Math.abs(bottom - before));
  });

/** Movement beyond the previous bar, upwards and downwards: only the larger of them counts. */
function movements({ high, low }: Pick<Ranges, 'high' | 'low'>): readonly [Series, Series] {
  const up = none(high.length);
  const down = none(high.length);
  for (let index = 1; index < high.length; index += 1) {
    const rise = Math.max(0, at(high, index) - at(high, index - 1));
    const fall = Math.max(0, at(low, index - 1) - at(low, index));
    up[index] = rise > fall ? rise : 0;
    down[index] = fall > rise ? fall : 0;
  }
  return [up, down];
}

/** Wilder's running sum: the first has one bar less than a period, as the first bar has no predecessor. */
function runningSum(series: Series, period: number): Series {
  const out = none(series.length);
  let sum = 0;
  for (let index = 1; index < series.length; index += 1) {
    sum = index < period ? sum + at(series, index) : sum - sum / period + at(series, index);
    if (index >= period - 1) out[index] = sum;
  }
  return out;
}

export const movementSums = (
  ranges: Pick<Ranges, 'high' | 'low'>,
  period: number,
): readonly Series[] => movements(ranges).map((series) => runningSum(series, period));

/** Movement upwards and downwards, in percent of the true range. */
export function indicatorsOfDirection(ranges: Ranges, period: number): readonly [Series, Series] {
  const range = runningSum(trueRanges(ranges), period);
  const [up = [], down = []] = movementSums(ranges, period);
  const share = (sum: number, whole: number): number => 100 * ratio(sum, whole);
  return [combined(up, range, share), combined(down, range, share)];
}

export function directionIndex(ranges: Ranges, period: number): Series {
  const [up = [], down = []] = movementSums(ranges, period);
  return combined(up, down, (plus, minus) => 100 * ratio(Math.abs(plus - minus), plus + minus));
}

export const averageDirection = (ranges: Ranges, period: number): Series =>
  wilders(directionIndex(ranges, period), period);

export function directionRating(ranges: Ranges, period: number): Series {
  const average = averageDirection(ranges, period);
  const start = startOf(average) + period - 1;
  const rated = average.map((value, index) => (value + at(average, index - period + 1)) / 2);
  return startingAt(rated, start);
}

export const averageRange = (ranges: Ranges, period: number): Series =>
  wilders(trueRanges(ranges), period);
