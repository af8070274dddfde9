// Prices of one bar, and arithmetic on each value of a series.
import type { Series } from './indicatorRow.ts';
import { at, ratio } from './windows.ts';

/** The mean of several prices of a bar. */
export const meanPrice = (...series: readonly Series[]): Series =>
  (series[0] ?? []).map(
    (_, index) => series.reduce((sum, one) => sum + at(one, index), 0) / series.length,
  );

/** Position of the close in the range of its bar, relative to the open: -1 to 1. */
export const balance = (open: Series, high: Series, low: Series, close: Series): Series =>
  close.map((value, index) => ratio(value - at(open, index), at(high, index) - at(low, index)));

/** Functions of one value, with their titles. */
export const FUNCTIONS: readonly (readonly [
  name: string,
  title: string,
  compute: (value: number) => number,
])[] = [
  ['abs', 'Absolute value', Math.abs],
  ['acos', 'Arccosine', Math.acos],
  ['asin', 'Arcsine', Math.asin],
  ['atan', 'Arctangent', Math.atan],
  ['ceil', 'Next whole number above', Math.ceil],
  ['cos', 'Cosine', Math.cos],
  ['cosh', 'Hyperbolic cosine', Math.cosh],
  ['exp', 'Exponential', Math.exp],
  ['floor', 'Next whole number below', Math.floor],
  ['ln', 'Natural logarithm', Math.log],
  ['log10', 'Logarithm to the base 10', Math.log10],
  ['round', 'Nearest whole number', Math.round],
  ['sin', 'Sine', Math.sin],
  ['sinh', 'Hyperbolic sine', Math.sinh],
  ['sqrt', 'Square root', Math.sqrt],
  ['tan', 'Tangent', Math.tan],
  ['tanh', 'Hyperbolic tangent', Math.tanh],
  ['todeg', 'Radians in degrees', (value) => (value * 180) / Math.PI],
  ['torad', 'Degrees in radians', (value) => (value * Math.PI) / 180],
  ['trunc', 'Whole part', Math.trunc],
];

/** Of two values, with their titles. */
export const OPERATIONS: readonly (readonly [
  name: string,
  title: string,
  compute: (left: number, right: number) => number,
])[] = [
  ['add', 'Sum of high and low', (left, right) => left + right],
  ['sub', 'High without low', (left, right) => left - right],
  ['mul', 'Product of high and low', (left, right) => left * right],
  ['div', 'High divided by low', (left, right) => left / right],
];
