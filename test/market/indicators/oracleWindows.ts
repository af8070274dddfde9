// Components of indicator definitions: windows as slices, averages as sums in closed form.
export type Values = readonly number[];

export const NO = Number.NaN;
export const get = (values: Values, index: number): number => values[index] ?? NO;
export const add = (values: Values): number => values.reduce((sum, value) => sum + value, 0);
export const mean = (values: Values): number => add(values) / values.length;
export const spread = (values: Values): number =>
  Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
export const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

/** Computes a value for each window whose bars all have one. */
export const over = (values: Values, period: number, compute: (window: Values) => number): Values =>
  values.map((_, index) => {
    const window = values.slice(Math.max(0, index - period + 1), index + 1);
    return window.length < period || window.some(Number.isNaN) ? NO : compute(window);
  });

export const zip = (
  left: Values,
  right: Values,
  compute: (a: number, b: number) => number,
): Values => left.map((value, index) => compute(value, get(right, index)));
export const minus = (left: Values, right: Values): Values => zip(left, right, (a, b) => a - b);
export const before = (values: Values, lag: number): Values =>
  values.map((_, index) => get(values, index - lag));
export const from = (values: Values, start: number): Values =>
  values.map((value, index) => (index < start ? NO : value));

/** The sum of all values since the first, each weighted by its age. */
export const decayed = (values: Values, alpha: number): Values => {
  const first = values.findIndex((value) => !Number.isNaN(value));
  return values.map((_, index) => {
    if (first < 0 || index < first) return NO;
    let sum = (1 - alpha) ** (index - first) * get(values, first);
    for (let at = first + 1; at <= index; at += 1) {
      sum += alpha * (1 - alpha) ** (index - at) * get(values, at);
    }
    return sum;
  });
};
export const ema = (values: Values, period: number): Values => decayed(values, 2 / (period + 1));
/** The same, starting with the mean of the first window. */
export const wilder = (values: Values, period: number): Values => {
  const first = values.findIndex((value) => !Number.isNaN(value));
  if (first < 0) return values;
  const start = first + period - 1;
  const seeded = values.map((value, index) =>
    index < start ? NO : index === start ? mean(values.slice(first, start + 1)) : value,
  );
  return decayed(seeded, 1 / period);
};
export const wma = (values: Values, period: number): Values =>
  over(
    values,
    period,
    (window) =>
      add(window.map((value, at) => value * (at + 1))) / add(window.map((_, at) => at + 1)),
  );
