// A technical indicator over the bars of a chart (INTERFACE.md 1 "technical indicator").
import { Failure } from '../../store/base/failure.ts';
import type { Indicator, IndicatorOption } from '../indicators/indicatorRow.ts';
import { indicatorOf } from '../indicators/indicators.ts';
import type { Ask, Options, Read } from './ask.ts';
import { chart } from './charts.ts';

type Bar = Readonly<Record<string, unknown>>;

interface Computed {
  /** A value or null for each bar, a list for each output. */
  readonly indicator: readonly (readonly (number | null)[])[];
  readonly chart: readonly object[];
}

/** Undefined where the range has no bars. */
export function indicator(ask: Ask, read: Read): Computed | undefined {
  const found = wanted(ask.options);
  const inputs = inputsOf(found, ask.options);
  const bars = chart(ask, read);
  if (bars.length === 0) return undefined;
  const series = overBars(found, inputs, bars as readonly Bar[]);
  return ask.options.lastIndicator === true
    ? { indicator: series.map((values) => values.slice(-1)), chart: bars.slice(-1) }
    : { indicator: series, chart: bars };
}

/** Bars that lack what the indicator is made of are left out of it, and have null. */
function overBars(
  found: Indicator,
  inputs: readonly number[],
  bars: readonly Bar[],
): Computed['indicator'] {
  const places = [...bars.keys()].filter((at) =>
    found.inputs.every((field) => typeof bars[at]?.[field] === 'number'),
  );
  const columns = found.inputs.map((field) => places.map((at) => Number(bars[at]?.[field])));
  return found.compute(columns, inputs).map((values) => {
    const all = new Array<number | null>(bars.length).fill(null);
    for (const [at, value] of values.entries()) {
      if (Number.isFinite(value)) all[places[at] ?? 0] = value;
    }
    return all;
  });
}

/** @throws Failure InvalidParameter naming what is none, or an input and its rule. */
export function checkIndicator(options: Options): void {
  inputsOf(wanted(options), options);
}

function wanted({ indicator: name = '' }: Options): Indicator {
  const found = indicatorOf(name);
  if (found !== undefined) return found;
  const rule =
    'must be the name of a technical indicator, such as sma; docs/reference/market.md lists them';
  throw new Failure('InvalidParameter', `"indicator" ${rule}`);
}

/** What was given, and defaults for the rest. */
function inputsOf({ isOrdered, name, options }: Indicator, asked: Options): readonly number[] {
  const given = [asked.input1, asked.input2, asked.input3, asked.input4];
  const many = given.findLastIndex((value) => value !== undefined);
  if (many >= options.length) refuse(many, `is not allowed with ${name}`);
  const inputs = options.map((option, at) => checked(option, at, given[at]));
  const [short = 0, long = 0] = inputs;
  if (isOrdered && short > long) refuse(0, `must not be over "input2": ${short} is over ${long}`);
  return inputs;
}

function checked({ kind, most, name, value }: IndicatorOption, at: number, given?: number): number {
  if (given === undefined) return value;
  const isPeriod = kind === 'period';
  const fits = isPeriod ? Number.isInteger(given) && given >= 1 : given > 0;
  if (fits && given <= most) return given;
  const rule = isPeriod
    ? `a whole number from 1 to ${most}`
    : `a number above 0 and at most ${most}`;
  return refuse(at, `(${name}) must be ${rule}`);
}

function refuse(at: number, rule: string): never {
  throw new Failure('InvalidParameter', `"input${at + 1}" ${rule}`);
}

/** It is paid as the chart that it is of, whichever part is shown. */
export const barsOf = (computed: unknown): readonly object[] => (computed as Computed).chart;

export function shownOf({ options }: Ask, computed: unknown): unknown {
  const { indicator: series } = computed as Computed;
  return options.indicatorOnly === true ? { indicator: series } : computed;
}
