// A table of a query, bound: the records of a dataset that its caller sees, as a sub-select over its
// files and what is pending. Who may see what is part of it, so that no query can leave it out.
import {
  type Column,
  isSystemColumn,
  UPDATED_COLUMN,
} from '../../../store/lake/versions/columns.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../../store/lake/history/history.ts';
import { indexNamesOf, indexOf } from '../../../store/lake/datasets/indexColumns.ts';
import type { DataFile, Table } from '../../../store/lake/versions/lakeRead.ts';
import type { View } from '../../../store/lake/datasets/namedQueries.ts';
import type { PendingRow } from '../../../store/lake/pushes/pendingRows.ts';
import { withPending } from '../../../store/lake/pushes/pendingSql.ts';
import { type RowPlace, visibleRows } from '../../../store/lake/versions/tableSql.ts';
import type { Bind } from '../../plan/binding.ts';
import { type Condition, mayHold } from '../../plan/pruning.ts';
import { scrambledRows } from '../../plan/scramble.ts';
import { instantText, type Visibility } from '../../plan/seriesPlan.ts';
import type { SelectPlan, Hint } from './selectPlan.ts';
import { identifier, literal } from '../../../store/duckdb/sqlText.ts';

/** A dataset as its caller sees it. */
export interface BoundDataset {
  readonly kind: 'dataset';
  readonly dataset: Dataset;
  /** It is another account's: nothing that is free may depend on a value of it. */
  readonly foreign: boolean;
  readonly table: Table;
  readonly pending: readonly PendingRow[];
  readonly moment: Moment;
  /** Sequence of the last row that was pushed into it by then: it tells two answers apart. */
  readonly newest: number;
  readonly visibility: Visibility;
}

/** A view: a query of its own over tables that its owner reads. */
interface BoundView {
  readonly kind: 'view';
  readonly view: View;
  readonly plan: SelectPlan;
  readonly tables: readonly BoundTable[];
}

export type BoundTable = BoundDataset | BoundView;

/** The datasets of tables and of the views among them, however deep. */
export const datasetsOf = (tables: readonly BoundTable[]): readonly BoundDataset[] =>
  tables.flatMap((table) => (table.kind === 'dataset' ? [table] : datasetsOf(table.tables)));

/** The same columns without a record. */
export function emptied(table: BoundTable): BoundTable {
  if (table.kind === 'view') return { ...table, tables: table.tables.map(emptied) };
  return { ...table, table: { ...table.table, files: [], records: 0 }, pending: [] };
}

/** What a record carries besides the owner's properties, as one JSON value. */
const SYSTEM_COLUMN = '_systemRecordProperties';

interface TableAsked extends RowPlace {
  /** Adds the column `_systemRecordProperties`. */
  readonly system: boolean;
}

export function printTable(
  bound: BoundDataset,
  hints: readonly Hint[],
  { holds, pathOf, system }: TableAsked,
  bind: Bind,
): string {
  const { pending, table } = bound;
  const columns = ownColumns(bound);
  const index = indexColumns(bound);
  const updated = table.columns.filter(({ name }) => system && name === UPDATED_COLUMN);
  const read = [...new Set([...columns, ...index, ...updated])];
  const stored = visibleRows(filesFor(bound, hints), read, pathOf, false, holds);
  const real = withPending(stored, read, index, pending, 'true', bind);
  const rows = scrambledRows(real, read, index, bound.visibility.scramble);
  const list = columns.map(printOwn);
  if (system) list.push(`${systemValue(bound)} AS ${identifier(SYSTEM_COLUMN)}`);
  return `(SELECT ${list.join(', ')} FROM ${rows}${visible(bound, bind)})`;
}

/** A 128-bit integer is stored as a decimal; its operators in SQL are those of integers. */
const printOwn = ({ name, type }: Column): string =>
  type === 'int128'
    ? `CAST(${identifier(name)} AS HUGEINT) AS ${identifier(name)}`
    : identifier(name);

/** The owner's own properties, in the order of the table. */
const ownColumns = ({ table }: BoundDataset): readonly Column[] =>
  table.columns.filter(({ name }) => !isSystemColumn(name));

export const columnNames = (bound: BoundDataset): readonly string[] =>
  ownColumns(bound).map(({ name }) => name);

export const indexNames = ({ dataset: { mapping }, table }: BoundDataset): readonly string[] =>
  indexOf(mapping, table);

function indexColumns(bound: BoundDataset): readonly Column[] {
  const names = indexNames(bound);
  return bound.table.columns.filter(({ name }) => names.includes(name));
}

function systemValue({ dataset, table }: BoundDataset): string {
  const { key, subkey, date } = indexNamesOf(dataset.mapping, table);
  const epoch = (name: string): string => `epoch_ms(CAST(${identifier(name)} AS TIMESTAMP))`;
  const parts = [
    ["'id'", literal(dataset.dataset)],
    ["'key'", key === undefined ? "''" : identifier(key)],
    ["'subkey'", subkey === undefined ? "''" : identifier(subkey)],
    ["'date'", epoch(date)],
    ["'updated'", epoch(UPDATED_COLUMN)],
  ];
  return `json_object(${parts.flat().join(', ')})`;
}

function visible(bound: BoundDataset, bind: Bind): string {
  const { dataset, table, visibility } = bound;
  if (visibility.kind === 'all') return '';
  const { key, date } = indexNamesOf(dataset.mapping, table);
  if (visibility.kind === 'key') return ` WHERE ${identifier(key ?? '')} = ${bind(visibility.key)}`;
  const type = table.columns.find(({ name }) => name === date)?.type;
  const column = identifier(date);
  if (type === 'int64') return ` WHERE ${column} < ${bind(visibility.ms)}`;
  if (type === 'date') return ` WHERE ${column} < CAST(${bind(visibility.day)} AS DATE)`;
  return ` WHERE ${column} < CAST(${bind(instantText(visibility.ms))} AS TIMESTAMP)`;
}

/** Files that may hold a record of the query, by the catalog's least and greatest values. */
export function filesFor(bound: BoundDataset, hints: readonly Hint[]): readonly DataFile[] {
  // Of scrambled records only the index is as the statistics say, and what those rule out tells of them.
  const { scramble } = bound.visibility;
  const known = scramble === undefined ? bound.table.columns : indexColumns(bound);
  const columns = new Map(known.map((column) => [column.name.toLowerCase(), column]));
  const conditions = hints.flatMap(({ column, numeric, operator, values }) => {
    const known = columns.get(column.toLowerCase());
    const exact = known === undefined ? [] : values.map((value) => comparable(known, value));
    const all = exact.filter((value) => value !== undefined);
    if (known === undefined || all.length < values.length) return [];
    if (numeric && known.type !== 'int64') return [];
    return [{ column: known, operator, values: all } satisfies Condition];
  });
  return bound.table.files.filter((file) => conditions.every((item) => mayHold(file, item)));
}

/** The same as far as anyone may know: of data of others, by their index columns alone. */
export function toldFiles(bound: BoundDataset, hints: readonly Hint[]): readonly DataFile[] {
  const index = new Set(indexNames(bound).map((name) => name.toLowerCase()));
  const known = hints.filter(({ column }) => !bound.foreign || index.has(column.toLowerCase()));
  return filesFor(bound, known);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/;

/** A literal as the catalog spells values of the column; undefined where DuckDB would convert. */
function comparable({ type }: Column, value: string): string | undefined {
  if (type === 'varchar') return value;
  if (type === 'date') return DAY.test(value) ? value : undefined;
  if (type === 'int64') return /^-?\d{1,18}$/.test(value) ? value : undefined;
  if (type !== 'timestamp' && type !== 'timestamp_ns') return undefined;
  if (DAY.test(value)) return `${value} 00:00:00`;
  return INSTANT.test(value) ? value : undefined;
}
