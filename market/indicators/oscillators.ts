// Position of the price within the highs and lows of windows.
import type { Ranges } from './direction.ts';
import { trueRanges } from './direction.ts';
import type { Series } from './indicatorRow.ts';
import {
  against,
  at,
  combined,
  highs,
  lows,
  means,
  type Packed,
  packedAt,
  ratio,
  startingAt,
  startOf,
  sums,
  windowed,
} from './windows.ts';

/** The price in the range of a window, smoothed, and the average of that. */
export function stochastic(
  { close, high, low }: Ranges,
  [kPeriod, kSlowing, dPeriod]: readonly [number, number, number],
): readonly Series[] {
  const [least, most] = [lows(low, kPeriod), highs(high, kPeriod)];
  const fast = close.map(
    (value, index) => 100 * ratio(value - at(least, index), at(most, index) - at(least, index)),
  );
  const k = means(fast, kSlowing);
  const d = means(k, dPeriod);
  return [startingAt(k, startOf(d)), d];
}

/** Williams' %R, -100 to 0. */
export function percentRange({ close, high, low }: Ranges, period: number): Series {
  const [least, most] = [lows(low, period), highs(high, period)];
  return close.map(
    (value, index) => -100 * ratio(at(most, index) - value, at(most, index) - at(least, index)),
  );
}

/** How many bars ago the newest extreme was, in percent of the period; down, then up. */
export function aroon(high: Series, low: Series, period: number): readonly [Series, Series] {
  const age = (isNewer: (value: number, best: number) => boolean) => {
    return (series: Packed, from: number, to: number): number => {
      let place = from;
      for (let index = from; index <= to; index += 1) {
        if (isNewer(packedAt(series, index), packedAt(series, place))) place = index;
      }
      return (100 * (period - (to - place))) / period;
    };
  };
  return [
    windowed(
      low,
      period + 1,
      age((value, best) => value <= best),
    ),
    windowed(
      high,
      period + 1,
      age((value, best) => value >= best),
    ),
  ];
}

/** Lambert's: distance of the typical price from its mean, in mean distances. */
export function channel(typical: Series, period: number): Series {
  const values = windowed(typical, period, (series, from, to) => {
    let sum = 0;
    for (let index = from; index <= to; index += 1) sum += packedAt(series, index);
    const mean = sum / period;
    let distance = 0;
    for (let index = from; index <= to; index += 1)
      distance += Math.abs(packedAt(series, index) - mean);
    return ratio(packedAt(series, to) - mean, 0.015 * (distance / period));
  });
  return startingAt(values, startOf(typical) + 2 * (period - 1));
}

/** Weights of the short, the middle and the long window. */
const ULTIMATE = [4, 2, 1] as const;

/** Williams' ultimate oscillator: buying pressure against true range in three windows. */
export function ultimate(ranges: Ranges, periods: readonly [number, number, number]): Series {
  const { close, low } = ranges;
  const ofFirst = startingAt(trueRanges(ranges), 1);
  const pressure = close.map((value, index) =>
    index === 0 ? Number.NaN : value - Math.min(at(low, index), at(close, index - 1)),
  );
  const shares = periods.map((period) =>
    combined(sums(pressure, period), sums(ofFirst, period), ratio),
  );
  return close.map((_, index) => {
    const sum = ULTIMATE.reduce(
      (all, weight, which) => all + weight * at(shares[which] ?? [], index),
      0,
    );
    return (100 * sum) / 7;
  });
}

/** Williams' awesome oscillator: means of 5 and of 34 median prices. */
export const awesome = (median: Series): Series =>
  combined(means(median, 5), means(median, 34), (short, long) => short - long);

/** Change of the average range over its own period, in percent. */
export function rangeChange(averages: Series, period: number): Series {
  const changes = against(averages, period, (now, before) => 100 * ratio(now - before, before));
  return startingAt(changes, 2 * period - 1);
}
