// Row of the table of indicators.

/** A value for each bar, oldest first; NaN where there is none. */
export type Series = readonly number[];

/** Input of an indicator. */
export type BarField = 'open' | 'high' | 'low' | 'close' | 'volume';

export interface IndicatorOption {
  readonly name: string;
  readonly value: number;
  /** Bars, a whole number from 1 to PERIOD_MAX; otherwise a number above 0 and at most `most`. */
  readonly kind: 'period' | 'number';
  readonly most: number;
}

export interface Indicator {
  readonly name: string;
  readonly title: string;
  readonly inputs: readonly BarField[];
  readonly options: readonly IndicatorOption[];
  /** Names of its outputs, in their order. */
  readonly outputs: readonly string[];
  /** Whether its first period may not be over its second. */
  readonly isOrdered: boolean;
  /** @returns one series for each output, as long as the inputs */
  readonly compute: (inputs: readonly Series[], options: readonly number[]) => readonly Series[];
}

/** Bars of one window: each is computed anew, so that a longer one would delay other requests. */
const PERIOD_MAX = 500;

export const period = (value: number, name = 'period'): IndicatorOption => ({
  name,
  value,
  kind: 'period',
  most: PERIOD_MAX,
});

export const amount = (name: string, value: number, most: number): IndicatorOption => ({
  name,
  value,
  kind: 'number',
  most,
});
