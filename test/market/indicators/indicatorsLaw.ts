// Law: each indicator matches its definition, on bars of random walks with flat stretches, and for random
// options; it is as long as its bars.
import { INDICATORS } from '../../../market/indicators/indicators.ts';
import { type Indicator } from '../../../market/indicators/indicatorRow.ts';
import { type Report, seeded } from '../../soak/crash/rounds/seeded.ts';
import { type Bars, DEFINITIONS } from './oracle.ts';

const BARS_MOST = 90;
const PERIOD_MOST = 14;

export function indicatorsLaw({ count, seed }: { seed: number; count: number }): Report {
  const { next: random } = seeded(seed);
  const failures: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const bars = walk(random, Math.ceil(random() * BARS_MOST));
    for (const indicator of INDICATORS) failures.push(...wrong(indicator, bars, random));
  }
  return { seed, count, failures: failures.slice(0, 10), notes: [] };
}

function walk(random: () => number, length: number): Bars {
  const bars = { open: [], high: [], low: [], close: [], volume: [] } as Record<
    keyof Bars,
    number[]
  >;
  let last = 1 + random() * 200;
  for (let at = 0; at < length; at += 1) {
    const isFlat = random() < 0.1;
    const step = (): number => (isFlat ? 1 : 1 + (random() - 0.5) / 20);
    const [open, close] = [last * step(), last * step()];
    bars.open.push(open);
    bars.close.push(close);
    bars.high.push(Math.max(open, close) * (isFlat ? 1 : 1 + random() / 50));
    bars.low.push(Math.min(open, close) * (isFlat ? 1 : 1 - random() / 50));
    bars.volume.push(1 + Math.floor(random() * 1_000));
    last = close;
  }
  return bars;
}

function optionsFor({ isOrdered, options }: Indicator, random: () => number): readonly number[] {
  const values = options.map(({ kind, most }) =>
    kind === 'period' ? 1 + Math.floor(random() * PERIOD_MOST) : random() * Math.min(2, most),
  );
  const [short = 0, long = 0, ...rest] = values;
  return isOrdered ? [Math.min(short, long), Math.max(short, long), ...rest] : values;
}

export function wrong(
  indicator: Indicator,
  bars: Bars,
  random: (() => number) | undefined,
): readonly string[] {
  const { inputs, name, options, outputs } = indicator;
  const definition = DEFINITIONS[name];
  if (definition === undefined) return [`${name} has no definition`];
  const values =
    random === undefined ? options.map(({ value }) => value) : optionsFor(indicator, random);
  const got = indicator.compute(
    inputs.map((field) => bars[field]),
    values,
  );
  const expected = definition(bars, values);
  if (got.length !== outputs.length || expected.length !== outputs.length) {
    return [`${name} returns ${got.length} series, not ${outputs.length}`];
  }
  for (const [which, series] of got.entries()) {
    if (series.length !== bars.close.length) return [`${name} has ${series.length} values`];
    const at = series.findIndex((value, bar) => !isSame(value, expected[which]?.[bar]));
    if (at >= 0) {
      const difference = `${series[at]}, not ${expected[which]?.[at]}`;
      return [`${name}(${values.join(', ')}) of bar ${at} of ${series.length} is ${difference}`];
    }
  }
  return [];
}

const isSame = (got: number, expected: number | undefined): boolean =>
  Object.is(got, expected) ||
  (Number.isNaN(got) && expected !== undefined && !Number.isFinite(expected)) ||
  (expected !== undefined &&
    Math.abs(got - expected) <= 1e-7 * Math.max(1, Math.abs(got), Math.abs(expected)));
