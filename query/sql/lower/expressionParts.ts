// Finds parts of expressions and queries, to determine what a query reads: columns, sub-selects, aggregates.
import { partsOf } from './querySize.ts';
import type { Expression, Item, Query, SelectQuery, Source } from '../plan/selectPlan.ts';

export type ColumnName = Extract<Expression, { readonly kind: 'column' }>;
export type SubSelect = Extract<Expression, { readonly kind: 'exists' | 'scalar' | 'any' }>;

const isSubSelect = (expression: Expression): expression is SubSelect =>
  expression.kind === 'exists' || expression.kind === 'scalar' || expression.kind === 'any';

/** Returns the expression and all its parts, except those of sub-selects. */
const allIn = (expression: Expression): readonly Expression[] => [
  expression,
  ...partsOf(expression).flatMap(allIn),
];

export const subSelectsIn = (expression: Expression): readonly SubSelect[] =>
  allIn(expression).filter(isSubSelect);

/** Returns the expressions that an item of a select list computes. */
export const expressionsOfItem = (item: Item): readonly Expression[] =>
  item.kind === 'value' ? [item.expression] : item.replace.map(({ expression }) => expression);

/** Returns the column names that an item defines. */
export const definedNames = (item: Item): readonly string[] => {
  if (item.kind === 'value') return item.alias === undefined ? [] : [item.alias];
  return [...item.replace.map(({ name }) => name), ...item.rename.map(({ to }) => to)];
};

/** Whether an item expands to several columns. */
export const isSeveral = (item: Item): boolean => item.kind === 'star' || item.several === true;

export const hasColumns = (expression: Expression): boolean =>
  allIn(expression).some(({ kind }) => kind === 'columns');

/** Whether its value is computed from several records: it has an aggregate or a window. */
const isAggregated = (expression: Expression): boolean =>
  allIn(expression).some(
    (part) =>
      part.kind === 'window' ||
      part.kind === 'grouping' ||
      (part.kind === 'call' && part.function.kind !== 'scalar'),
  );

/** Whether it has a window. */
const hasWindow = (expression: Expression): boolean =>
  allIn(expression).some(({ kind }) => kind === 'window');

/** Returns the columns that it names; undefined if it reads more than one record, or has a `COLUMNS`. */
export function columnsIn(expression: Expression): readonly ColumnName[] | undefined {
  if (isAggregated(expression) || subSelectsIn(expression).length > 0) return undefined;
  if (hasColumns(expression)) return undefined;
  return allIn(expression).filter((part) => part.kind === 'column');
}

/** Replaces the columns of an expression for which `columnsIn` returns a list. */
export function renameColumnsIn(
  expression: Expression,
  nameOf: (column: ColumnName) => string,
): Expression {
  const change = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    const { kind } = value as { readonly kind?: unknown };
    if (kind === 'column') {
      const column = value as ColumnName;
      return { ...column, path: [nameOf(column)] };
    }
    // A function of the allow-list is kept as it is; `columnsIn` excludes sub-selects.
    if (kind === 'scalar' || kind === 'aggregate') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one)]));
  };
  return change(expression) as Expression;
}

/** Splits a condition into those that must all be true. */
export function conjunctsOf(condition: Expression | undefined): readonly Expression[] {
  if (condition === undefined) return [];
  const isAll = condition.kind === 'logic' && condition.operator === 'AND';
  return isAll ? condition.operands.flatMap(conjunctsOf) : [condition];
}

export const conjunction = (conditions: readonly Expression[]): Expression | undefined =>
  conditions.length > 1 ? { kind: 'logic', operator: 'AND', operands: conditions } : conditions[0];

/** Returns the expressions that see each row: the select list, orders, and filters of groups and windows. */
const valuesOf = ({ having, items, order, qualify }: SelectQuery): readonly Expression[] => [
  ...items.flatMap(expressionsOfItem),
  ...orderedBy(order),
  ...[having, qualify].filter((one) => one !== undefined),
];

const orderedBy = (order: Query['order']): readonly Expression[] =>
  order.flatMap(({ expression }) => (expression === 'all' ? [] : [expression]));

export const isGrouped = ({ groupAll, groups, groupSets }: SelectQuery): boolean =>
  groupAll || groups.length > 0 || groupSets.length > 0;

/** Whether a row of its answer is computed from several records, or reveals several. */
export const aggregatesRecords = (query: SelectQuery): boolean =>
  isGrouped(query) ||
  query.distinct ||
  query.distinctOn.length > 0 ||
  query.having !== undefined ||
  query.qualify !== undefined ||
  valuesOf(query).some(isAggregated);

/** Whether a condition on its answer may be applied to its sources, by its keys if it has groups. */
export const isTransparent = (query: SelectQuery): boolean =>
  query.limit === undefined &&
  query.offset === undefined &&
  query.distinctOn.length === 0 &&
  query.groupSets.length <= 1 &&
  query.qualify === undefined &&
  !valuesOf(query).some(hasWindow) &&
  (isGrouped(query) || !valuesOf(query).some(isAggregated));

/** Returns every expression of a query except those of its sources' own queries. */
export function expressionsOf(query: Query): readonly Expression[] {
  if (query.kind === 'set') return orderedBy(query.order);
  const { distinctOn, from, groups, where } = query;
  const all = [...valuesOf(query), ...distinctOn, ...groups, ...inSource(from)];
  return where === undefined ? all : [...all, where];
}

function inSource(source: Source): readonly Expression[] {
  if (source.kind === 'values') return source.rows.flat();
  if (source.kind !== 'join') return [];
  const on = source.on === undefined ? [] : [source.on];
  return [...inSource(source.left), ...inSource(source.right), ...on];
}
