// Law: with any rows, and with any missing values, an answer has the documented shape of its variant, with
// all of its attributes and no others.
import { Compile } from 'typebox/schema';
import type { Row } from '../../../market/derive/values.ts';
import type { Input, InputProperty } from '../../../market/inputs/inputRow.ts';
import { INPUTS } from '../../../market/inputs/inputs.ts';
import type { TypeRequest, Options } from '../../../market/types/typeRequest.ts';
import { exampleRow } from '../../../market/types/example.ts';
import { type MarketType, MARKET_TYPES } from '../../../market/types/marketTypes.ts';
import { isOpenAt } from '../../../market/derive/quote.ts';
import { dayAt } from '../../../market/derive/exchangeTime.ts';
import { type Shape, withMembers } from '../../../market/types/shape.ts';
import type { VariantShape, TypeShapes } from '../../../market/types/shapes.ts';
import { addDays } from '../../../query/time/days.ts';
import { type Report, seeded, type Seeded } from '../../soak/crash/rounds/seeded.ts';

interface LawOptions {
  readonly seed: number;
  readonly count: number;
  readonly shapes: TypeShapes;
}

const FIRST_MS = Date.parse('2024-02-01T00:00:00Z');
const DAYS = 60;
const DAY_MS = 86_400_000;
const SYMBOL = 'X';

export function shapesLaw({ count, seed, shapes }: LawOptions): Report {
  const random = seeded(seed);
  const forms = MARKET_TYPES.flatMap((type) =>
    (shapes.get(type.name) ?? []).map((form) => ({ type, form, check: checkOf(form.shape) })),
  );
  const failures: string[] = [];
  let answered = 0;
  for (let at = 0; at < count; at += 1) {
    const nowMs = FIRST_MS + random.between(0, DAYS * DAY_MS);
    const today = dayAt(nowMs);
    const untilMs = nowMs - (random.chance(0.5) ? 0 : 15 * 60_000);
    const feed = new Map(INPUTS.map((input) => [input.id, rowsOf(input, nowMs, random)]));
    for (const { check, form, type } of forms) {
      if (form.during !== undefined && (form.during === 'open') !== isOpenAt(nowMs, today))
        continue;
      const options = { ...optionsOf(type, form, random), ...variantOptions(form, today) };
      const ask: TypeRequest = { symbol: SYMBOL, nowMs, untilMs, today, options };
      const value = type.answer(ask, ({ input }) => feed.get(input) ?? []);
      if (value === undefined) continue;
      answered += 1;
      const answer = JSON.parse(JSON.stringify(type.selectPart?.(ask, value) ?? value)) as unknown;
      const fault = check(answer);
      if (fault !== undefined) failures.push(`feed ${at}: ${type.name} as ${form.name}: ${fault}`);
    }
  }
  if (answered < count) failures.push('hardly anything was answered');
  return { seed, count, failures: failures.slice(0, 10), notes: [`${answered} answers`] };
}

/** Returns a check that reports the fault of a value; undefined if it is valid. */
function checkOf(shape: Shape): (value: unknown) => string | undefined {
  const validator = Compile(closed(shape));
  return (value) => {
    if (validator.Check(value)) return undefined;
    const [, errors] = validator.Errors(value);
    return JSON.stringify(errors.slice(0, 2));
  };
}

function closed({ $id: _, ...shape }: Shape): object {
  const closedShape = withMembers(shape, closed);
  return closedShape.properties === undefined
    ? closedShape
    : { ...closedShape, additionalProperties: false };
}

/** The options of a variant, with the day where it has one. */
const variantOptions = ({ parameters }: VariantShape, today: string): Options => ({
  ...parameters,
  ...(parameters.exactDate === undefined ? {} : { exactDate: today }),
  ...(parameters.expiration === undefined
    ? {}
    : { expiration: today.slice(0, 7).replace('-', '') }),
});

/** The options of a variant, and random other options of its type. */
function optionsOf({ options }: MarketType, { parameters }: VariantShape, random: Seeded): Options {
  const some = ['displayPercent', 'includeToday', 'chartSimplify', 'changeFromClose', 'oddLot'];
  const optionNames = options.filter(
    (name) => some.includes(name) && !Object.hasOwn(parameters, name),
  );
  return Object.fromEntries(optionNames.map((name) => [name, random.chance(0.3)]));
}

const ROWS_MOST = 40;

/** Rows in order of time, each on a day or at a time of its own, before and after now. */
function rowsOf(input: Input, nowMs: number, random: Seeded): readonly Row[] {
  const many = random.pick([0, 1, 2, ROWS_MOST]);
  const lacking = random.pick([0, 0.1, 0.5, 1]);
  const times = Array.from({ length: many }, () => nowMs + random.between(-40, 2) * (DAY_MS / 8));
  return times.toSorted((one, other) => one - other).map((ms) => rowAt(input, ms, lacking, random));
}

function rowAt(input: Input, ms: number, lacking: number, random: Seeded): Row {
  const index: readonly unknown[] = Object.values(input.mapping);
  const members = input.properties.flatMap((one): readonly (readonly [string, unknown])[] => {
    const isKept = index.includes(one.name) || !random.chance(lacking);
    if (!isKept) return random.chance(0.5) ? [] : [[one.name, null]];
    return [[one.name, valueOf(one, ms, random)]];
  });
  return { ...exampleRowOfSymbol(input), ...Object.fromEntries(members) };
}

/** The index members of the example row, whose key is the requested symbol. */
function exampleRowOfSymbol(input: Input): Row {
  const example = exampleRow(input);
  const index: readonly unknown[] = Object.values(input.mapping);
  return Object.fromEntries(Object.entries(example).filter(([name]) => index.includes(name)));
}

function valueOf({ example, name, type }: InputProperty, ms: number, random: Seeded): unknown {
  if (name === 'symbol') return SYMBOL;
  if (type === 'date') return addDays(dayAt(ms), name === 'validTo' ? 400 : 0);
  if (type === 'time' || type === 'instant') return new Date(ms).toISOString();
  if (name === 'minute') return random.pick(['09:30', '12:00', '15:59']);
  if (typeof example === 'number') return random.pick([0, example, -example, example * 1e6, 0.1]);
  if (typeof example === 'boolean') return random.chance(0.5);
  return random.pick([example, '', 'other']);
}
