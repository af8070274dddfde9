// Detects where a query chooses among records by more than the record of a row: by missing records (outer
// and ASOF joins), and by their number (nested LIMIT and OFFSET). A row then reveals many records, unless it
// is chosen by index columns alone.
import { indexNames } from '../plan/boundTable.ts';
import {
  columnsIn,
  conjunctsOf,
  expressionsOf,
  expressionsOfItem,
  aggregatesRecords,
} from '../lower/expressionParts.ts';
import { resolveColumns, type Leaf, type Level, type Scope } from './sourceColumns.ts';
import { folded } from '../lower/lowering.ts';
import type { Expression, Join, OrderTerm, SelectQuery } from '../plan/selectPlan.ts';

/** Whether an outer or ASOF join chooses the records of its sides by index columns alone. */
export function joinsByIndex(
  { on, using }: Join,
  side: readonly Leaf[],
  among: readonly Leaf[],
  scope: Scope,
): boolean {
  const [leaf] = side;
  // A nested query may exclude records by their values.
  if (leaf === undefined || side.length > 1 || !isDataset(leaf, scope.level)) return false;
  const named = using.map(folded);
  const isUsed = named.every((name) =>
    among.every(
      (one) => one.columns?.includes(name) === false || isIndexed(one, name, scope.level),
    ),
  );
  return isUsed && conjunctsOf(on).every((condition) => isByIndex(condition, among, scope));
}

/** Whether index columns alone decide which rows a SELECT returns, and in which order. */
export function choosesByIndex(query: SelectQuery, scope: Scope): boolean {
  if (aggregatesRecords(query) || !scope.leaves.every((leaf) => isPlain(leaf, scope.level)))
    return false;
  const items = new Set(query.items.flatMap(expressionsOfItem));
  const ordered = new Set(query.order.map(({ expression }) => expression));
  const choosing = expressionsOf(query).filter((one) => !items.has(one) && !ordered.has(one));
  return (
    query.order.every((order) => isOrderedByIndex(order, scope)) &&
    choosing.every((one) => isByIndex(one, scope.leaves, scope))
  );
}

/** In ORDER BY a number is a position of the list, and a name of the list takes precedence over a column. */
function isOrderedByIndex({ expression }: OrderTerm, scope: Scope): boolean {
  if (expression === 'all' || expression.kind !== 'column') return false;
  const { path } = expression;
  if (path.length === 1 && scope.aliases.has(folded(path[0] ?? ''))) return false;
  return isByIndex(expression, scope.leaves, scope);
}

function isByIndex(expression: Expression, among: readonly Leaf[], scope: Scope): boolean {
  const columns = columnsIn(expression);
  const resolved = columns === undefined ? undefined : resolveColumns(columns, among, scope);
  return (
    resolved?.every(({ column, leaves, scope: { level } }) =>
      leaves.every((leaf) => isIndexed(leaf, column, level)),
    ) === true
  );
}

const isDataset = ({ source }: Leaf, { tables }: Level): boolean =>
  source.kind === 'table' && tables[source.index]?.kind === 'dataset';

const isPlain = (leaf: Leaf, level: Level): boolean =>
  leaf.source.kind === 'values' || isDataset(leaf, level);

/** Whether a column is of the caller's own records, or of the unique index of another account's. */
function isIndexed({ source }: Leaf, column: string, { tables }: Level): boolean {
  if (source.kind === 'values') return true;
  const table = source.kind === 'table' ? tables[source.index] : undefined;
  if (table?.kind !== 'dataset') return false;
  if (!table.foreign) return true;
  return source.columns.length === 0 && indexNames(table).map(folded).includes(column);
}
