// Computes the maximum number of rows of a query from the sizes of its tables. Nothing is run.
import type { BoundTable } from '../plan/boundTable.ts';
import { expressionsOfItem } from '../lower/expressionParts.ts';
import { partsOf } from '../lower/querySize.ts';
import type { Expression, Join, Query, SelectQuery, Source } from '../plan/selectPlan.ts';
import type { BoundPlan } from './run.ts';

interface Sizes {
  readonly tables: readonly BoundTable[];
  readonly common: ReadonlyMap<number, number>;
}

export const maxAnswerRows = ({ plan, tables }: Pick<BoundPlan, 'plan' | 'tables'>): number =>
  maxQueryRows(plan.query, { tables, common: new Map() });

function maxQueryRows(query: Query, outer: Sizes): number {
  const sizes = withCommon(query, outer);
  const rows = query.kind === 'select' ? maxSelectRows(query, sizes) : maxSetRows(query, sizes);
  return Math.min(rows, query.limit ?? Infinity);
}

function withCommon({ common }: Query, { common: outer, tables }: Sizes): Sizes {
  let commonSizes = outer;
  for (const { id, query } of common) {
    const rows = maxQueryRows(query, { tables, common: commonSizes });
    commonSizes = new Map([...commonSizes, [id, rows]]);
  }
  return { tables, common: commonSizes };
}

function maxSetRows({ how, left, right }: Extract<Query, { kind: 'set' }>, sizes: Sizes): number {
  const rows = maxQueryRows(left, sizes);
  return how === 'INTERSECT' || how === 'EXCEPT' ? rows : rows + maxQueryRows(right, sizes);
}

function maxSelectRows(query: SelectQuery, sizes: Sizes): number {
  const rows = maxSourceRows(query.from, sizes);
  if (query.groups.length > 0 || query.groupAll) {
    // A set without groups has a row even if there are no records.
    return Math.max(1, query.groupSets.length) * Math.max(1, rows);
  }
  const values = query.items.flatMap(expressionsOfItem);
  const folded = [...values, ...(query.having === undefined ? [] : [query.having])];
  return folded.some(isAggregated) ? 1 : rows;
}

/** Whether it has an aggregate: then all records become one row. */
function isAggregated(expression: Expression): boolean {
  if (expression.kind === 'call') {
    return expression.function.kind === 'aggregate' || expression.operands.some(isAggregated);
  }
  return partsOf(expression).some(isAggregated);
}

function maxSourceRows(source: Source, sizes: Sizes): number {
  if (source.kind === 'nothing') return 1;
  if (source.kind === 'values') return source.rows.length;
  if (source.kind === 'common') return sizes.common.get(source.id) ?? Infinity;
  if (source.kind === 'query') return maxQueryRows(source.query, sizes);
  if (source.kind === 'join') return maxJoinRows(source, sizes);
  const table = sizes.tables[source.index];
  if (table === undefined) return Infinity;
  if (table.kind === 'view') return maxAnswerRows(table);
  return table.table.records + table.pending.length;
}

/** An outer join keeps each record of its side at least once. */
function maxJoinRows({ asOf, how, left, right }: Join, sizes: Sizes): number {
  const [a, b] = [maxSourceRows(left, sizes), maxSourceRows(right, sizes)];
  if (how === 'SEMI' || how === 'ANTI') return a;
  if (asOf) return how === 'RIGHT' || how === 'FULL' ? a + b : a;
  return (
    a * b + (how === 'LEFT' || how === 'FULL' ? a : 0) + (how === 'RIGHT' || how === 'FULL' ? b : 0)
  );
}
