// A technical indicator over the bars of a chart (INTERFACE.md 1 "technical indicator").
import { Failure } from '../../store/base/failure.ts';
import type { Indicator, IndicatorOption } from '../indicators/indicatorRow.ts';
import { indicatorOf } from '../indicators/indicators.ts';
import type { TypeRequest, Options, Read } from './typeRequest.ts';
import { chart } from './charts.ts';
import { exclusionRule, rangeRule } from '../../store/base/valueRules.ts';

type Bar = Readonly<Record<string, unknown>>;

interface Computed {
  /** A value or null for each bar, a list for each output. */
  readonly indicator: readonly (readonly (number | null)[])[];
  readonly chart: readonly object[];
}

/** Undefined where the range has no bars. */
export function indicator(ask: TypeRequest, read: Read): Computed | undefined {
  const definition = findIndicator(ask.options);
  const options = parseInputs(definition, ask.options);
  const bars = chart(ask, read) as readonly Bar[];
  if (bars.length === 0) return undefined;
  const { inputs } = definition;
  // Bars with all inputs of the indicator; the others have null.
  const places = [...bars.keys()].filter((at) =>
    inputs.every((field) => typeof bars[at]?.[field] === 'number'),
  );
  const columns = inputs.map((field) => places.map((at) => Number(bars[at]?.[field])));
  const outputs = definition.compute(columns, options).map((values) => {
    const all = new Array<number | null>(bars.length).fill(null);
    for (const [at, value] of values.entries()) {
      if (Number.isFinite(value)) all[places[at] ?? 0] = value;
    }
    return all;
  });
  return ask.options.lastIndicator === true
    ? { indicator: outputs.map((values) => values.slice(-1)), chart: bars.slice(-1) }
    : { indicator: outputs, chart: bars };
}

/** @throws Failure InvalidParameter naming an unknown indicator, or an input and its rule. */
export function checkIndicator(options: Options): void {
  parseInputs(findIndicator(options), options);
}

export const INDICATOR_RULE = 'must be the name of a technical indicator';

function findIndicator({ indicator: name = '' }: Options): Indicator {
  const definition = indicatorOf(name);
  if (definition !== undefined) return definition;
  const rule = `${INDICATOR_RULE}, such as sma; docs/reference/market.md lists them`;
  throw new Failure('InvalidParameter', `"indicator" ${rule}`);
}

/** Given options, with defaults for the others. */
function parseInputs(
  { isOrdered, name, options }: Indicator,
  parameters: Options,
): readonly number[] {
  const values = [parameters.input1, parameters.input2, parameters.input3, parameters.input4];
  const many = values.findLastIndex((value) => value !== undefined);
  if (many >= options.length) refuse(many, exclusionRule(name));
  const inputs = options.map((option, at) => parseInput(option, at, values[at]));
  const [short = 0, long = 0] = inputs;
  if (isOrdered && short > long) refuse(0, `must not be over "input2": ${short} is over ${long}`);
  return inputs;
}

function parseInput(
  { kind, most, name, value }: IndicatorOption,
  at: number,
  input?: number,
): number {
  if (input === undefined) return value;
  const isPeriod = kind === 'period';
  const fits = isPeriod ? Number.isInteger(input) && input >= 1 : input > 0;
  if (fits && input <= most) return input;
  const rule = isPeriod ? rangeRule(1, most) : `must be a number above 0 and at most ${most}`;
  return refuse(at, `(${name}) ${rule}`);
}

function refuse(at: number, rule: string): never {
  throw new Failure('InvalidParameter', `"input${at + 1}" ${rule}`);
}

/** It is charged like its chart, for any part that is returned. */
export const selectBars = (computed: unknown): readonly object[] => (computed as Computed).chart;

export function selectPart({ options }: TypeRequest, computed: unknown): unknown {
  const { indicator: series } = computed as Computed;
  return options.indicatorOnly === true ? { indicator: series } : computed;
}
