// Finds the columns of an answer whose value is made of one stored record, not collected from several:
// what such a text can be paid with is known before it is read. What is not sure counts as collected.
import { columnsIn } from '../lower/expressionParts.ts';
import { type BoundTable, columnNames } from '../plan/boundTable.ts';
import type { Expression, Item, Query, SelectQuery } from '../plan/selectPlan.ts';
import { type Leaf, type LeafScope, type Level, outputsOf, resolve, type Scope } from './leaves.ts';
import { openScope } from './scopes.ts';

/** Queries that are looked into: a common table may be named many times. */
const QUERIES_MAX = 200;

interface Walk {
  visited: number;
}

/** Of each column of the answer; undefined where its columns are not known. */
export function ofOneRecord(level: Level): readonly boolean[] | undefined {
  const place = { level, common: [], outer: undefined, names: new Map() };
  return ofQuery(level.plan.query, place, { visited: 0 });
}

function ofQuery(query: Query, place: LeafScope, walk: Walk): readonly boolean[] | undefined {
  walk.visited += 1;
  if (walk.visited > QUERIES_MAX) return undefined;
  if (query.kind === 'select') return ofSelect(query, place, walk);
  if (query.how === 'UNION BY NAME') return undefined;
  const within = { ...place, common: [...place.common, ...query.common] };
  const left = ofQuery(query.left, within, walk);
  const right = ofQuery(query.right, within, walk);
  return left?.map((isOne, at) => isOne && right?.[at] === true);
}

function ofSelect(
  query: SelectQuery,
  place: LeafScope,
  walk: Walk,
): readonly boolean[] | undefined {
  const scope = openScope(query, place);
  return outputsOf(query, scope)?.map(({ from, item }) =>
    from === undefined
      ? isOfOne(item, scope, walk)
      : isColumnOfOne(from.leaf, from.column, scope, walk),
  );
}

/** Aggregates whose value is one of those of their operand. */
const CHOICES: ReadonlySet<string> = new Set(['any_value', 'first', 'last', 'max', 'min']);

function isOfOne(item: Item | undefined, scope: Scope, walk: Walk): boolean {
  if (item === undefined || item.kind === 'star') return false;
  const columns = columnsIn(chosenIn(item.expression));
  return (
    columns?.every((column) => {
      const found = resolve(column, scope.leaves, scope);
      if (found?.scope !== scope || found.keeper === undefined) return false;
      return isColumnOfOne(found.keeper, found.column, scope, walk);
    }) ?? false
  );
}

function chosenIn(expression: Expression): Expression {
  if (expression.kind !== 'call' || !CHOICES.has(expression.function.name)) return expression;
  const [operand, more] = expression.operands;
  // `max(value, 3)` is a list.
  return operand === undefined || more !== undefined ? expression : operand;
}

function isColumnOfOne(
  { columns, source }: Leaf,
  column: string,
  scope: Scope,
  walk: Walk,
): boolean {
  const at = columns?.indexOf(column) ?? -1;
  if (at < 0) return false;
  if (source.kind === 'values') return true;
  if (source.kind === 'query') return ofQuery(source.query, scope, walk)?.[at] ?? false;
  if (source.kind === 'common') {
    const place = scope.common.findIndex(({ id }) => id === source.id);
    const known = scope.common[place];
    if (known === undefined) return false;
    const before = { ...scope, common: scope.common.slice(0, place), outer: undefined };
    return ofQuery(known.query, before, walk)?.[at] ?? false;
  }
  return isOfTable(scope.level.tables[source.index], at, scope, walk);
}

function isOfTable(table: BoundTable | undefined, at: number, scope: Scope, walk: Walk): boolean {
  if (table === undefined) return false;
  if (table.kind === 'dataset') return at < columnNames(table).length;
  const place = { ...scope, level: table, common: [], outer: undefined };
  return ofQuery(table.plan.query, place, walk)?.[at] ?? false;
}
