// The most rows that a query can answer, from what its tables hold: nothing is run.
import type { BoundTable } from '../plan/boundTable.ts';
import { expressionsOfItem } from '../lower/expressionParts.ts';
import { partsOf } from '../lower/growth.ts';
import type { Expression, Join, Query, SelectQuery, Source } from '../plan/selectPlan.ts';
import type { BoundPlan } from './run.ts';

interface Sizes {
  readonly tables: readonly BoundTable[];
  readonly common: ReadonlyMap<number, number>;
}

export const rowsMost = ({ plan, tables }: Pick<BoundPlan, 'plan' | 'tables'>): number =>
  ofQuery(plan.query, { tables, common: new Map() });

function ofQuery(query: Query, outer: Sizes): number {
  const sizes = withCommon(query, outer);
  const rows = query.kind === 'select' ? ofSelect(query, sizes) : ofSet(query, sizes);
  return Math.min(rows, query.limit ?? Infinity);
}

function withCommon({ common }: Query, { common: outer, tables }: Sizes): Sizes {
  let known = outer;
  for (const { id, query } of common) {
    const rows = ofQuery(query, { tables, common: known });
    known = new Map([...known, [id, rows]]);
  }
  return { tables, common: known };
}

function ofSet({ how, left, right }: Extract<Query, { kind: 'set' }>, sizes: Sizes): number {
  const rows = ofQuery(left, sizes);
  return how === 'INTERSECT' || how === 'EXCEPT' ? rows : rows + ofQuery(right, sizes);
}

function ofSelect(query: SelectQuery, sizes: Sizes): number {
  const rows = ofSource(query.from, sizes);
  if (query.groups.length > 0 || query.groupAll) {
    // A set of no groups has a row even where there are no records.
    return Math.max(1, query.groupSets.length) * Math.max(1, rows);
  }
  const values = query.items.flatMap(expressionsOfItem);
  const folded = [...values, ...(query.having === undefined ? [] : [query.having])];
  return folded.some(isFolded) ? 1 : rows;
}

/** Whether an aggregate is part of it: then all records become one. */
function isFolded(expression: Expression): boolean {
  if (expression.kind === 'call') {
    return expression.function.kind === 'aggregate' || expression.operands.some(isFolded);
  }
  return partsOf(expression).some(isFolded);
}

function ofSource(source: Source, sizes: Sizes): number {
  if (source.kind === 'nothing') return 1;
  if (source.kind === 'values') return source.rows.length;
  if (source.kind === 'common') return sizes.common.get(source.id) ?? Infinity;
  if (source.kind === 'query') return ofQuery(source.query, sizes);
  if (source.kind === 'join') return ofJoin(source, sizes);
  const table = sizes.tables[source.index];
  if (table === undefined) return Infinity;
  if (table.kind === 'view') return rowsMost(table);
  return table.table.records + table.pending.length;
}

/** An outer join keeps each record of its side at least once. */
function ofJoin({ asOf, how, left, right }: Join, sizes: Sizes): number {
  const [a, b] = [ofSource(left, sizes), ofSource(right, sizes)];
  if (how === 'SEMI' || how === 'ANTI') return a;
  if (asOf) return how === 'RIGHT' || how === 'FULL' ? a + b : a;
  return (
    a * b + (how === 'LEFT' || how === 'FULL' ? a : 0) + (how === 'RIGHT' || how === 'FULL' ? b : 0)
  );
}
