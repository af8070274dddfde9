// Shapes of all variants of all types, with shared names; and shapes of records of inputs, which loaded types
// return.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { listIn } from '../derive/values.ts';
import type { InputProperty, InputType } from '../inputs/inputRow.ts';
import { inputOf } from '../inputs/inputs.ts';
import type { Variant } from './variants.ts';
import { MARKET_TYPES, type MarketType } from './marketTypes.ts';
import { observeType } from './observed.ts';
import { orNull, type Shape, shapeOf, withMembers, withNullTypes } from './shape.ts';

export interface VariantShape extends Variant {
  readonly shape: Shape;
}

/** By the name of the type, in the order of its variants. */
export type TypeShapes = ReadonlyMap<string, readonly VariantShape[]>;

let cachedShapes: Promise<TypeShapes> | undefined;

/**
 * Computed once, since they never change. It takes a few tenths of a second, in several turns of the event
 * loop.
 */
export const typeShapes = (): Promise<TypeShapes> => (cachedShapes ??= allShapes());

async function allShapes(): Promise<TypeShapes> {
  const plain: (VariantShape & { readonly form: Variant; readonly type: MarketType })[] = [];
  for (const type of MARKET_TYPES) {
    for (const form of type.variants) {
      // A type with the same answer as another one is observed once.
      const same = plain.find((one) => one.form === form && one.type.answer === type.answer);
      const shape = same?.shape ?? withNullTypes(observeType(type, form), type.alwaysNull ?? []);
      plain.push({ ...form, form, type, shape });
      await othersTurn();
    }
  }
  const names = new Map<string, Shape>();
  for (const { name, shape, type } of plain) {
    const row = rowOf(shape);
    const text = JSON.stringify(row);
    if (row.type === 'object' && !names.has(text))
      names.set(text, { $id: name, ...served(row, type) });
  }
  const shapes = plain.map((form) => ({ ...form, shape: withNames(form.shape, names) }));
  return Map.groupBy(shapes, ({ type }) => type.name);
}

export type FindShape = (called: string) => Shape;

/** A row, or a complete answer, by its name. */
export function createFindShape(shapes: TypeShapes): FindShape {
  const rows = [...shapes.values()].flat().map(({ name, shape }) => [name, rowOf(shape)] as const);
  const byName = new Map(rows.toReversed());
  return (called) => byName.get(called) ?? {};
}

/** Items of a list, or the shape itself. */
const rowOf = (shape: Shape): Shape => shape.items ?? shape;

/** If answers are loaded by their owner, any attribute except the symbol may be null. */
function served(shape: Shape, { loadedAs }: MarketType): Shape {
  if (loadedAs === undefined) return shape;
  return withMembers(shape, (member, name) => {
    const isScalar = typeof member.type === 'string' && !['object', 'array'].includes(member.type);
    return name !== 'symbol' && isScalar ? orNull(member) : member;
  });
}

const withNames = (shape: Shape, names: ReadonlyMap<string, Shape>): Shape =>
  withMembers(names.get(JSON.stringify(shape)) ?? shape, (member) => withNames(member, names));

/** JSON types of properties. */
const SCALARS: Readonly<Record<Exclude<InputType, 'list'>, string>> = {
  string: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  date: 'string',
  time: 'string',
  instant: 'integer',
};

function propertyShape({ example, required, type }: InputProperty): Shape {
  const shape = type === 'list' ? shapeOf(listIn(example)) : { type: SCALARS[type] };
  return required === true ? shape : orNull(shape);
}

/** `BALANCE_SHEET` and `balance-sheet` as `BalanceSheet`. */
export const pascal = (name: string): string =>
  name.toLowerCase().replaceAll(/(?:^|[-_])(\w)/g, (_, first: string) => first.toUpperCase());

/** A record of an input: required properties are always there, and unknown ones are allowed. */
export function recordShape(dataset: string): Shape {
  const { properties = [] } = inputOf(dataset) ?? {};
  return {
    $id: `${pascal(dataset)}Record`,
    type: 'object',
    properties: Object.fromEntries(properties.map((one) => [one.name, propertyShape(one)])),
    required: properties.flatMap(({ name, required }) => (required === true ? [name] : [])),
  };
}
