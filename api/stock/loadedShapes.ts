// The shapes of types whose answers are loaded: of the records of their inputs, as each type has them.
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

/** A path of a type whose answer is its own; ranges and counts may as well stand in the query. */
export interface LoadedForm {
  /** Below its name. */
  readonly path: string;
  readonly shape: Shape;
  /** No parameters that say which records. */
  readonly takes?: 'nothing';
  /** In place of a symbol it is of the whole market. */
  readonly ofMarket?: true;
}

/** The one without anything behind the name first. */
export function loadedForms(type: StockType): readonly LoadedForm[] {
  const record = recordShape(type.dataset);
  const rows = listShape(record);
  if (type.shape === 'record' || type.shape === 'day')
    return [{ path: '', shape: orNothing(record) }];
  if (type.shape === 'newest') return [{ path: '', shape: newestShape(type, record) }];
  if (type.shape === 'days' && type.next === true) {
    const next: LoadedForm = { path: 'next', shape: orNothing(record), takes: 'nothing' };
    return [{ path: '', shape: rows }, next];
  }
  if (type.shape === 'coming' && type.twice === true) {
    const twice = twiceOf(record, type.dataset);
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

/** Nothing, where nobody loaded any. */
const twiceOf = (record: Shape, dataset: string): Shape =>
  orNothing({
    $id: `Twice${pascal(dataset)}`,
    ...objectShape({
      rawData: listShape(record),
      viewData: listShape(VIEW_SHAPE),
      lastUpdate: { type: 'string' },
    }),
  });
