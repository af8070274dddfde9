// Finds the columns of an answer whose value is from one stored record, not collected from several: the
// price of such a text is known before it is read. An uncertain column counts as collected.
import { columnsIn } from '../lower/expressionParts.ts';
import { type BoundTable, columnNames } from '../plan/boundTable.ts';
import type { Expression, Item, Query, SelectQuery } from '../plan/selectPlan.ts';
import {
  type Leaf,
  type LeafScope,
  type Level,
  listOutputs,
  resolve,
  type Scope,
} from './sourceColumns.ts';
import { openScope } from './scopes.ts';

/** Queries that are inspected: a common table may be used many times. */
const QUERIES_MAX = 200;

interface Walk {
  visited: number;
}

/** Returns a flag for each column of the answer; undefined if its columns are unknown. */
export function findSingleRecordColumns(level: Level): readonly boolean[] | undefined {
  const place = { level, common: [], outer: undefined, names: new Map() };
  return checkQuery(level.plan.query, place, { visited: 0 });
}

function checkQuery(query: Query, place: LeafScope, walk: Walk): readonly boolean[] | undefined {
  walk.visited += 1;
  if (walk.visited > QUERIES_MAX) return undefined;
  if (query.kind === 'select') return checkSelect(query, place, walk);
  if (query.how === 'UNION BY NAME') return undefined;
  const within = { ...place, common: [...place.common, ...query.common] };
  const left = checkQuery(query.left, within, walk);
  const right = checkQuery(query.right, within, walk);
  return left?.map((isOne, at) => isOne && right?.[at] === true);
}

function checkSelect(
  query: SelectQuery,
  place: LeafScope,
  walk: Walk,
): readonly boolean[] | undefined {
  const scope = openScope(query, place);
  return listOutputs(query, scope)?.map(({ from, item }) =>
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
      const resolved = resolve(column, scope.leaves, scope);
      if (resolved?.scope !== scope || resolved.keeper === undefined) return false;
      return isColumnOfOne(resolved.keeper, resolved.column, scope, walk);
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
  if (source.kind === 'query') return checkQuery(source.query, scope, walk)?.[at] ?? false;
  if (source.kind === 'common') {
    const place = scope.common.findIndex(({ id }) => id === source.id);
    const commonTable = scope.common[place];
    if (commonTable === undefined) return false;
    const before = { ...scope, common: scope.common.slice(0, place), outer: undefined };
    return checkQuery(commonTable.query, before, walk)?.[at] ?? false;
  }
  return isOfTable(scope.level.tables[source.index], at, scope, walk);
}

function isOfTable(table: BoundTable | undefined, at: number, scope: Scope, walk: Walk): boolean {
  if (table === undefined) return false;
  if (table.kind === 'dataset') return at < columnNames(table).length;
  const place = { ...scope, level: table, common: [], outer: undefined };
  return checkQuery(table.plan.query, place, walk)?.[at] ?? false;
}
