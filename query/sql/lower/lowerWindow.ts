// Lowers window functions of DuckDB's tree to ours.
import type { Lowering } from './lowering.ts';
import { checkedFunction, lowerAll, lowerMaybe, lowerOrders, refuseSchema } from './lowerParts.ts';
import type { Bound, Expression, Frame } from '../plan/selectPlan.ts';
import { type Fields, oneOf, take, textOf } from '../text/tree.ts';

const WINDOW_FIELDS = [
  'function_name',
  'schema',
  'children',
  'partitions',
  'orders',
  'start',
  'end',
  'start_expr',
  'end_expr',
  'offset_expr',
  'default_expr',
  'ignore_nulls',
  'filter_expr',
  'exclude_clause',
  'distinct',
  'arg_orders',
];

export function lowerWindow(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, WINDOW_FIELDS, 'a window');
  const name = textOf(fields['function_name']).toLowerCase();
  const at = to.at(fields);
  refuseSchema(textOf(fields['schema']), at, to);
  const more = [fields['offset_expr'], fields['default_expr']].filter((item) => item !== null);
  const operands = [...lowerAll(fields['children'], to), ...lowerAll(more, to)];
  const sqlFunction = checkedFunction(name, operands, at, to);
  if (sqlFunction.kind === 'scalar' || sqlFunction.noWindow === true)
    to.refuse(at, `${name} is no function of windows`);
  return {
    kind: 'window',
    name,
    operands,
    distinct: fields['distinct'] === true,
    ignoreNulls: fields['ignore_nulls'] === true,
    argumentOrder: lowerOrders(fields['arg_orders'], to),
    filter: lowerMaybe(fields['filter_expr'], to),
    partition: lowerAll(fields['partitions'], to),
    order: lowerOrders(fields['orders'], to),
    frame: frameOf(fields, to),
    at,
  };
}

type BoundWords = readonly [text: string, unit: Frame['unit'] | undefined];

const UNITS = ['ROWS', 'RANGE', 'GROUPS'] as const;
const BOUNDS: ReadonlyMap<string, BoundWords> = new Map<string, BoundWords>([
  ['UNBOUNDED_PRECEDING', ['UNBOUNDED PRECEDING', undefined]],
  ['UNBOUNDED_FOLLOWING', ['UNBOUNDED FOLLOWING', undefined]],
  ...UNITS.map((unit): [string, BoundWords] => [`CURRENT_ROW_${unit}`, ['CURRENT ROW', unit]]),
  ...UNITS.map((unit): [string, BoundWords] => [`EXPR_PRECEDING_${unit}`, ['PRECEDING', unit]]),
  ...UNITS.map((unit): [string, BoundWords] => [`EXPR_FOLLOWING_${unit}`, ['FOLLOWING', unit]]),
]);

const EXCLUDES: ReadonlyMap<string, string> = new Map([
  ['CURRENT_ROW', 'EXCLUDE CURRENT ROW'],
  ['GROUP', 'EXCLUDE GROUP'],
  ['TIES', 'EXCLUDE TIES'],
]);

/** Lowers a frame; undefined for the default frame. */
function frameOf(fields: Fields, to: Lowering): Frame | undefined {
  const [start, startUnit] = oneOf(fields['start'], BOUNDS, 'a frame');
  const [end, endUnit] = oneOf(fields['end'], BOUNDS, 'a frame');
  const excluded = textOf(fields['exclude_clause']);
  const exclude = excluded === 'NO_OTHER' ? undefined : oneOf(excluded, EXCLUDES, 'EXCLUDE');
  const isDefault = start === 'UNBOUNDED PRECEDING' && fields['end'] === 'CURRENT_ROW_RANGE';
  if (isDefault && exclude === undefined) return undefined;
  const unit = startUnit ?? endUnit ?? 'ROWS';
  const bound = (text: string, distance: unknown): Bound => ({
    text,
    distance: lowerMaybe(distance, to),
  });
  return {
    unit,
    start: bound(start, fields['start_expr']),
    end: bound(end, fields['end_expr']),
    exclude,
  };
}
