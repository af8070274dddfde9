// Computes the minimum number of rows of a query. Nothing is run.
import { aggregatesRecords } from '../lower/expressionParts.ts';
import type { BoundTable } from '../plan/boundTable.ts';
import type { SelectPlan } from '../plan/selectPlan.ts';

interface Bound {
  readonly plan: SelectPlan;
  readonly tables: readonly BoundTable[];
}

/** Returns the rows of one fully visible dataset with a row for each record; 0 for any other query. */
export function minAnswerRows({ plan, tables }: Bound): number {
  const { query } = plan;
  if (query.kind !== 'select' || query.where !== undefined || aggregatesRecords(query)) return 0;
  const table = query.from.kind === 'table' ? tables[query.from.index] : undefined;
  if (table?.kind !== 'dataset' || table.visibility.kind !== 'all') return 0;
  const left = Math.max(0, table.table.records - (query.offset ?? 0));
  return Math.min(left, query.limit ?? Infinity);
}
