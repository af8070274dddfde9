// What a query costs (DESIGN.md "Rules of price and ledger"): its rows, or its bytes where they are
// more, by the highest weight among its datasets.
import { Failure } from '../../store/failure.ts';
import { type BoundTable, datasetsOf } from './boundTable.ts';
import type { SelectPlan } from './selectPlan.ts';

/** Bytes of an answer that cost as much as a row. */
const OBJECT_BYTES = 1_000;

/** Objects of an answer. By bytes as well: many records in one row cost what they take. */
export const objectsOf = (rows: number, bytes: number): number =>
  Math.max(rows, Math.ceil(bytes / OBJECT_BYTES));

/** The highest weight; 0 for a query that names no dataset. */
export const weightOf = (tables: readonly BoundTable[]): number =>
  datasetsOf(tables).reduce((most, { dataset }) => Math.max(most, dataset.weight), 0);

/**
 * Functions that fold many records into one value would take many records for the price of one.
 * @throws Failure InvalidParameter where a dataset costs, unless the operator allows them.
 */
export function checkFolds({ folds }: SelectPlan, tables: readonly BoundTable[]): void {
  if (weightOf(tables) === 0) return;
  const [first] = folds;
  if (first !== undefined) {
    const rule = 'folds many records into one value: it is refused over datasets that cost';
    throw new Failure('InvalidParameter', `"sqlQuery": ${first.name} ${rule}`);
  }
  for (const table of tables) if (table.kind === 'view') checkFolds(table.plan, table.tables);
}
