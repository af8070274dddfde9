// Builds the shapes of loaded types from the records of their inputs.
import {
  listShape,
  objectShape,
  orNothing,
  type Shape,
  shapeOf,
} from '../../market/types/shape.ts';
import { pascal, recordShape } from '../../market/types/shapes.ts';
import { VIEW_SHAPE } from './offeringView.ts';
import type { StockType } from './stockTypes.ts';

/** A path of a type with a distinct answer; ranges and counts may be in the query instead. */
export interface LoadedVariant {
  /** The path below the name of the type. */
  readonly path: string;
  readonly shape: Shape;
  /** `nothing`: no parameters that select records. */
  readonly takes?: 'nothing';
  /** The path is of the whole market, without a symbol. */
  readonly ofMarket?: true;
}

/** Lists the variants of a type; the one without a path below the name is first. */
export function listLoadedVariants(type: StockType): readonly LoadedVariant[] {
  const record = recordShape(type.dataset);
  const rows = listShape(record);
  if (type.shape === 'record' || type.shape === 'day')
    return [{ path: '', shape: orNothing(record) }];
  if (type.shape === 'newest') return [{ path: '', shape: newestShape(type, record) }];
  if (type.shape === 'days' && type.next === true) {
    const next: LoadedVariant = { path: 'next', shape: orNothing(record), takes: 'nothing' };
    return [{ path: '', shape: rows }, next];
  }
  if (type.shape === 'coming' && type.twice === true) {
    const twice = rawAndViewShape(record, type.dataset);
    return [
      { path: '', shape: twice },
      { path: '', shape: twice, ofMarket: true },
    ];
  }
  return [{ path: '', shape: rows }];
}

function newestShape(type: Extract<StockType, { shape: 'newest' }>, record: Shape): Shape {
  const { bare, beside, only, within } = type;
  const row = bare === true ? withoutSymbol(record) : record;
  const rows = listShape(only === undefined ? row : { type: 'string' });
  if (within === undefined) return rows;
  const others = Object.entries(beside ?? { symbol: '' }).map(
    ([name, value]) => [name, shapeOf(value)] as const,
  );
  const whole = objectShape({ ...Object.fromEntries(others), [within]: rows });
  return orNothing({ $id: pascal(type.name), ...whole });
}

function withoutSymbol({ properties = {}, required = [], ...record }: Shape): Shape {
  const others = Object.entries(properties).filter(([name]) => name !== 'symbol');
  return {
    ...record,
    properties: Object.fromEntries(others),
    required: required.filter((name) => name !== 'symbol'),
  };
}

/** The shape of raw and formatted records; empty if none are loaded. */
const rawAndViewShape = (record: Shape, dataset: string): Shape =>
  orNothing({
    $id: `Twice${pascal(dataset)}`,
    ...objectShape({
      rawData: listShape(record),
      viewData: listShape(VIEW_SHAPE),
      lastUpdate: { type: 'string' },
    }),
  });
