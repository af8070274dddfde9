// Width of prices: within bars, and between them.
import type { Series } from './indicatorRow.ts';
import {
  against,
  combined,
  deviations,
  exponential,
  mapped,
  ratio,
  startingAt,
  sums,
} from './windows.ts';

/** Trading days of a year. */
const YEAR_BARS = 252;

/** Annualized standard deviation of changes. */
export function volatility(series: Series, period: number): Series {
  const changes = against(series, 1, (now, before) => now / before - 1);
  return mapped(deviations(changes, period), (value) => value * Math.sqrt(YEAR_BARS));
}

/** Bars of the averages of Dorsey's index. */
const MASS_BARS = 9;

/** Dorsey's mass index: sums of an average range relative to its own average. */
export function massIndex(high: Series, low: Series, period: number): Series {
  const width = combined(high, low, (top, bottom) => top - bottom);
  const once = exponential(width, MASS_BARS);
  const twice = exponential(startingAt(once, MASS_BARS - 1), MASS_BARS);
  return sums(startingAt(combined(once, twice, ratio), 2 * (MASS_BARS - 1)), period);
}

export const standardError = (series: Series, period: number): Series =>
  mapped(deviations(series, period), (value) => value / Math.sqrt(period));
