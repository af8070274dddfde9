// The fewest rows that a query answers: nothing is run.
import { foldsRecords } from '../lower/expressionParts.ts';
import type { BoundTable } from '../plan/boundTable.ts';
import type { SelectPlan } from '../plan/selectPlan.ts';

interface Bound {
  readonly plan: SelectPlan;
  readonly tables: readonly BoundTable[];
}

/** Of one dataset whose records are all seen and each a row; of any other query nothing is sure. */
export function rowsSure({ plan, tables }: Bound): number {
  const { query } = plan;
  if (query.kind !== 'select' || query.where !== undefined || foldsRecords(query)) return 0;
  const table = query.from.kind === 'table' ? tables[query.from.index] : undefined;
  if (table?.kind !== 'dataset' || table.visibility.kind !== 'all') return 0;
  const left = Math.max(0, table.table.records - (query.offset ?? 0));
  return Math.min(left, query.limit ?? Infinity);
}
