// Momentum of a series: differences, shares, and averages of ups and downs.
import type { Series } from './indicatorRow.ts';
import {
  against,
  at,
  combined,
  exponential,
  lows,
  highs,
  ratio,
  means,
  none,
  packedAt,
  startingAt,
  smoothed,
  startOf,
  sums,
  wilders,
  windowed,
  meanWithin,
} from './windows.ts';

const ups = (series: Series): Series =>
  against(series, 1, (now, before) => Math.max(0, now - before));
const downs = (series: Series): Series =>
  against(series, 1, (now, before) => Math.max(0, before - now));

/** Wilder's relative strength, 0 to 100. */
export const strength = (series: Series, period: number): Series =>
  combined(
    wilders(ups(series), period),
    wilders(downs(series), period),
    (up, down) => 100 * ratio(up, up + down),
  );

/** Range of strengths that is caused by rounding at constant prices. */
const NO_RANGE = 1e-9;

/** Position of the strength between its minimum and maximum. */
export function stochasticStrength(series: Series, period: number): Series {
  const values = strength(series, period);
  const [least, most] = [lows(values, period), highs(values, period)];
  return values.map((value, index) => {
    const range = at(most, index) - at(least, index);
    return range < NO_RANGE ? 0 : (value - at(least, index)) / range;
  });
}

/** Chande's momentum, -100 to 100. */
export const chande = (series: Series, period: number): Series =>
  combined(
    sums(ups(series), period),
    sums(downs(series), period),
    (up, down) => 100 * ratio(up - down, up + down),
  );

/** Shares of the customary averages of 12 and 26 bars, as Appel rounded them. */
const APPEL = { short: 0.15, long: 0.075 } as const;

function emaPair(series: Series, short: number, long: number): readonly [Series, Series] {
  return [exponential(series, short), exponential(series, long)];
}

/** The difference of two averages, its own average, and the difference of both. */
export function convergence(
  series: Series,
  [short, long, signal]: readonly [number, number, number],
): readonly Series[] {
  const isUsual = short === 12 && long === 26;
  const fast = smoothed(series, isUsual ? APPEL.short : 2 / (short + 1));
  const slow = smoothed(series, isUsual ? APPEL.long : 2 / (long + 1));
  const lines = combined(fast, slow, (first, second) => first - second);
  const line = startingAt(lines, startOf(series) + long - 1);
  const signals = exponential(line, signal);
  return [line, signals, combined(line, signals, (first, second) => first - second)];
}

export function priceOscillator(series: Series, short: number, long: number): Series {
  const [fast, slow] = emaPair(series, short, long);
  return startingAt(
    combined(fast, slow, (first, second) => first - second),
    startOf(series) + 1,
  );
}

export function percentOscillator(series: Series, short: number, long: number): Series {
  const [fast, slow] = emaPair(series, short, long);
  return startingAt(
    combined(fast, slow, (first, second) => (100 * (first - second)) / second),
    startOf(series) + 1,
  );
}

/** Change in percent of an average of an average of an average. */
export function tripleRate(series: Series, period: number): Series {
  const [start, lag] = [startOf(series), period - 1];
  // Each average begins with the first whole window of the one before, as TEMA's do.
  const once = exponential(series, period);
  const twice = exponential(startingAt(once, start + lag), period);
  const thrice = exponential(startingAt(twice, start + 2 * lag), period);
  const rates = against(thrice, 1, (now, before) => (100 * (now - before)) / now);
  return startingAt(rates, start + 3 * lag + 1);
}

/** Net move of the series as a share of the sum of its steps. */
export function straightness(series: Series, period: number): Series {
  const steps = against(series, 1, (now, before) => Math.abs(now - before));
  const [least, most] = [lows(series, period), highs(series, period)];
  return sums(steps, period).map((way, index) => ratio(at(most, index) - at(least, index), way));
}

/** Price of half a window ago less the mean. */
export function detrended(series: Series, period: number): Series {
  const back = Math.floor(period / 2) + 1;
  return means(series, period).map((mean, index) => at(series, index - back) - mean);
}

/** Mean distance from the mean. */
export const meanDistance = (series: Series, period: number): Series =>
  windowed(series, period, (values, from, to) => {
    const mean = meanWithin(values, from, to);
    let sum = 0;
    for (let index = from; index <= to; index += 1) sum += Math.abs(packedAt(values, index) - mean);
    return sum / period;
  });

/** Decays from the last peak by a rule. */
export function decaying(series: Series, fallen: (value: number) => number): Series {
  const out = none(series.length);
  let value = -Infinity;
  for (const [index, now] of series.entries()) {
    value = Math.max(now, index === 0 ? now : fallen(value));
    out[index] = value;
  }
  return out;
}

/** 1 where one crosses over the other, or with `both` either way; else 0. */
export const crossings = (left: Series, right: Series, both: boolean): Series => {
  const gap = combined(left, right, (one, other) => one - other);
  return against(gap, 1, (now, before) => {
    const isUp = now > 0 && before <= 0;
    const isDown = now < 0 && before >= 0;
    return isUp || (both && isDown) ? 1 : 0;
  });
};

export const lagged = (series: Series, lag: number): Series =>
  against(series, lag, (_, before) => before);
