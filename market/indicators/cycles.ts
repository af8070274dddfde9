// Trend reversals and waves.
import type { Series } from './indicatorRow.ts';
import { at, highs, lows, none, packedAt, windowed } from './windows.ts';

interface Turn {
  readonly isLong: boolean;
  readonly stop: number;
  readonly extreme: number;
  readonly step: number;
}

/** Wilder's parabolic stop: it approaches the price in steps, and reverses when the price reaches it. */
export function parabolic(high: Series, low: Series, step: number, most: number): Series {
  const out = none(high.length);
  const isLong = at(high, 0) + at(low, 0) <= at(high, 1) + at(low, 1);
  let turn: Turn = {
    isLong,
    stop: isLong ? at(low, 0) : at(high, 0),
    extreme: isLong ? at(high, 0) : at(low, 0),
    step,
  };
  for (let index = 1; index < high.length; index += 1) {
    turn = next(turn, index, high, low, step, most);
    out[index] = turn.stop;
  }
  return out;
}

function next(
  turn: Turn,
  index: number,
  high: Series,
  low: Series,
  step: number,
  most: number,
): Turn {
  const { isLong } = turn;
  const [ahead, behind] = isLong ? [high, low] : [low, high];
  const sign = isLong ? 1 : -1;
  // Not beyond the last two bars.
  const bound = [index - 1, index - 2]
    .filter((one) => one >= 0)
    .map((one) => sign * at(behind, one));
  const moved = turn.stop + turn.step * (turn.extreme - turn.stop);
  const stop = sign * Math.min(sign * moved, ...bound);
  const isNew = sign * at(ahead, index) > sign * turn.extreme;
  const extreme = isNew ? at(ahead, index) : turn.extreme;
  if (sign * at(behind, index) < sign * stop) {
    return { isLong: !isLong, stop: extreme, extreme: at(behind, index), step };
  }
  const faster = Math.min(most, turn.step + step);
  return { isLong, stop, extreme, step: isNew ? Math.max(turn.step, faster) : turn.step };
}

/** Ehlers' Fisher transform of the price in its range; and the previous value. */
export function fisher(high: Series, low: Series, period: number): readonly [Series, Series] {
  const middle = high.map((top, index) => (top + at(low, index)) / 2);
  const [least, most] = [lows(middle, period), highs(middle, period)];
  const [out, before] = [none(high.length), none(high.length)];
  let [value, fish] = [0, 0];
  for (let index = period - 1; index < high.length; index += 1) {
    const range = at(most, index) - at(least, index) || 0.001;
    const place = (at(middle, index) - at(least, index)) / range - 0.5;
    value = Math.max(-0.999, Math.min(0.999, 0.66 * place + 0.67 * value));
    before[index] = fish;
    fish = 0.5 * Math.log((1 + value) / (1 - value)) + 0.5 * fish;
    out[index] = fish;
  }
  return [out, before];
}

/** A smaller part of a wave counts as zero. */
const LEAST_PART = 0.001;
/** As a share of the sum of the values: a smaller part is a rounding error without a sign. */
const ROUNDING = 1e-12;

/** Ehlers' sine of the phase of a wave of `period` bars, and its lead of an eighth. */
export function sineWave(series: Series, period: number): readonly [Series, Series] {
  const phases = windowed(series, period, (values, from, to) => {
    let [real, imaginary, sum] = [0, 0, 0];
    for (let index = from; index <= to; index += 1) {
      const angle = (2 * Math.PI * (to - index)) / period;
      const value = packedAt(values, index);
      real += Math.cos(angle) * value;
      imaginary += Math.sin(angle) * value;
      sum += Math.abs(value);
    }
    const isFlat = Math.abs(real) <= LEAST_PART;
    const isNegative = (part: number): boolean => part < -ROUNDING * sum;
    const phase = isFlat ? Math.PI * (isNegative(imaginary) ? -1 : 1) : Math.atan(imaginary / real);
    return phase + (isNegative(real) ? Math.PI : 0) + Math.PI / 2;
  });
  // A complete wave must have passed.
  const from = phases.map((phase, index) => (index < period ? Number.NaN : phase));
  return [from.map(Math.sin), from.map((phase) => Math.sin(phase + Math.PI / 4))];
}
