// Indicators of price and volume together.
import type { Ranges } from './direction.ts';
import type { Series } from './indicatorRow.ts';
import {
  against,
  at,
  combined,
  exponential,
  means,
  none,
  ratio,
  sums,
  startingAt,
} from './windows.ts';

/** Running sum of each bar's contribution, from a start value. */
function accumulated(length: number, first: number, added: (index: number) => number): Series {
  const out = none(length);
  let sum = first;
  for (let index = 0; index < length; index += 1) {
    sum += added(index);
    out[index] = sum;
  }
  return out;
}

/** Volume weighted by the close's position in its bar's range. */
export const accumulation = ({ close, high, low }: Ranges, volume: Series): Series =>
  accumulated(close.length, 0, (index) => {
    const [top, bottom, last] = [at(high, index), at(low, index), at(close, index)];
    return ratio(last - bottom - (top - last), top - bottom) * at(volume, index);
  });

export function accumulationOscillator(line: Series, short: number, long: number): Series {
  const gap = combined(
    exponential(line, short),
    exponential(line, long),
    (fast, slow) => fast - slow,
  );
  return startingAt(gap, long - 1);
}

export const onBalance = (close: Series, volume: Series): Series =>
  accumulated(close.length, 0, (index) =>
    index === 0 ? 0 : Math.sign(at(close, index) - at(close, index - 1)) * at(volume, index),
  );

/** Money flow at rising typical prices, in percent of all. */
export function moneyFlow(typical: Series, volume: Series, period: number): Series {
  const flow = (direction: number): Series =>
    typical.map((price, index) => {
      if (index === 0) return Number.NaN;
      const isThere = Math.sign(price - at(typical, index - 1)) === direction;
      return isThere ? price * at(volume, index) : 0;
    });
  return combined(
    sums(flow(1), period),
    sums(flow(-1), period),
    (up, down) => 100 * ratio(up, up + down),
  );
}

/** Shares in ten thousands, as Arms scaled them. */
const BOX = 10_000;

/** Arms' ease of movement: move of the midpoint relative to the volume. */
export const easeOfMovement = (high: Series, low: Series, volume: Series): Series => {
  const middles = combined(high, low, (top, bottom) => (top + bottom) / 2);
  return against(middles, 1, (now, before) => now - before).map((moved, index) => {
    const box = at(volume, index) / BOX / (at(high, index) - at(low, index));
    return moved / box;
  });
};

/** Start value of volume indexes. */
const BASE = 1_000;

/** Follows the close on days of less volume, or with 1 of more, than the day before. */
export function volumeIndex(close: Series, volume: Series, direction: 1 | -1): Series {
  const out = none(close.length);
  let value = BASE;
  for (let index = 0; index < close.length; index += 1) {
    const change = Math.sign(at(volume, index) - at(volume, index - 1));
    if (change === direction) value *= at(close, index) / at(close, index - 1);
    out[index] = value;
  }
  return out;
}

export const volumeOscillator = (volume: Series, short: number, long: number): Series =>
  combined(means(volume, short), means(volume, long), (fast, slow) => (100 * (fast - slow)) / slow);

/** Klinger's: force of the volume by the trend of the bars, as the difference of two averages. */
export function klinger(
  { close, high, low }: Ranges,
  volume: Series,
  [short, long]: readonly [number, number],
): Series {
  const force = none(close.length);
  let trend = -1;
  let reach = 0;
  const sumAt = (index: number): number => at(high, index) + at(low, index) + at(close, index);
  const widthAt = (index: number): number => at(high, index) - at(low, index);
  for (let index = 1; index < close.length; index += 1) {
    const [now, before] = [sumAt(index), sumAt(index - 1)];
    const direction = now > before ? 1 : now < before ? -1 : trend;
    if (index === 1 || direction !== trend) reach = widthAt(index - 1);
    trend = direction;
    reach += widthAt(index);
    const part = Math.abs(2 * ratio(widthAt(index), reach) - 1);
    force[index] = at(volume, index) * part * 100 * trend;
  }
  return combined(exponential(force, short), exponential(force, long), (fast, slow) => fast - slow);
}

/** Williams': gain of the close from the true low, or loss from the true high. */
export const williamsAccumulation = ({ close, high, low }: Ranges): Series =>
  startingAt(
    accumulated(close.length, 0, (index) => {
      const [now, before] = [at(close, index), at(close, index - 1)];
      if (index === 0 || now === before) return 0;
      return now > before
        ? now - Math.min(before, at(low, index))
        : now - Math.max(before, at(high, index));
    }),
    1,
  );
