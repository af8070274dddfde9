// Moving averages of a series, and bands around them.
import type { Series } from './indicatorRow.ts';
import {
  against,
  at,
  combined,
  deviations,
  exponential,
  means,
  none,
  ratio,
  startingAt,
  startOf,
  sums,
  weighted,
} from './windows.ts';

/** Twice the average less the average of the average, which reduces its lag. */
export function doubleExponential(series: Series, period: number): Series {
  const once = exponential(series, period);
  const twice = exponential(startingAt(once, startOf(once) + period - 1), period);
  const start = startOf(series) + 2 * (period - 1);
  return startingAt(
    combined(once, twice, (first, second) => 2 * first - second),
    start,
  );
}

export function tripleExponential(series: Series, period: number): Series {
  const lag = period - 1;
  const start = startOf(series);
  const once = exponential(series, period);
  const twice = exponential(startingAt(once, start + lag), period);
  const thrice = exponential(startingAt(twice, start + 2 * lag), period);
  const out = once.map((value, index) => 3 * value - 3 * at(twice, index) + at(thrice, index));
  return startingAt(out, start + 3 * lag);
}

/** Weights rise to the middle of the window: the mean of means. */
export function triangular(series: Series, period: number): Series {
  const first = Math.floor(period / 2) + 1;
  return means(means(series, first), period + 1 - first);
}

/** Hull's moving average. */
export function hull(series: Series, period: number): Series {
  const half = weighted(series, Math.max(1, Math.floor(period / 2)));
  const raw = combined(half, weighted(series, period), (short, long) => 2 * short - long);
  return weighted(raw, Math.max(1, Math.floor(Math.sqrt(period))));
}

/** Shares of Kaufman's fastest and slowest average: of 2 and of 30 bars. */
const FASTEST = 2 / 3;
const SLOWEST = 2 / 31;

/** Kaufman's adaptive average: faster for straighter moves. */
export function adaptive(series: Series, period: number): Series {
  const out = none(series.length);
  const start = startOf(series) + period - 1;
  const steps = against(series, 1, (now, before) => Math.abs(now - before));
  const ways = sums(steps, period);
  let value = at(series, start);
  for (let index = start; index < series.length; index += 1) {
    if (index > start) {
      const way = at(ways, index);
      const straight = Math.abs(at(series, index) - at(series, index - period));
      const share = (way === 0 ? 1 : straight / way) * (FASTEST - SLOWEST) + SLOWEST;
      value += share ** 2 * (at(series, index) - value);
    }
    out[index] = value;
  }
  return out;
}

export const volumeWeighted = (series: Series, volume: Series, period: number): Series => {
  const paid = combined(series, volume, (price, shares) => price * shares);
  return combined(sums(paid, period), sums(volume, period), (sum, shares) => sum / shares);
};

/** The exponential average of the series plus its move in half the window. */
export function zeroLag(series: Series, period: number): Series {
  const lag = Math.floor((period - 1) / 2);
  if (lag === 0) return exponential(series, period);
  const out = none(series.length);
  const start = startOf(series) + lag - 1;
  let value = at(series, start);
  out[start] = value;
  for (let index = start + 1; index < series.length; index += 1) {
    const now = at(series, index);
    value += (2 / (period + 1)) * (2 * now - at(series, index - lag) - value);
    out[index] = value;
  }
  return out.slice(0, series.length);
}

/** Chande's: the share depends on the deviation of the short window relative to the long one. */
export function variableIndex(series: Series, short: number, long: number, alpha: number): Series {
  const out = none(series.length);
  const [narrow, wide] = [deviations(series, short), deviations(series, long)];
  const start = Math.max(0, long - 2);
  let value = at(series, start);
  for (let index = start; index < series.length; index += 1) {
    if (index > start) {
      const share = alpha * ratio(at(narrow, index), at(wide, index));
      value += share * (at(series, index) - value);
    }
    out[index] = value;
  }
  return out;
}

/** Lower, middle and upper band. */
export function bands(series: Series, period: number, widths: number): readonly Series[] {
  const middle = means(series, period);
  const width = deviations(series, period);
  return [
    combined(middle, width, (mean, deviation) => mean - widths * deviation),
    middle,
    combined(middle, width, (mean, deviation) => mean + widths * deviation),
  ];
}
