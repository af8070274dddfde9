// A bound table of a query: the records of a dataset that its caller may see, as a sub-select over its
// files and pending records. Visibility is part of it, so that no query can leave it out.
import {
  type Column,
  isSystemColumn,
  UPDATED_COLUMN,
} from '../../../store/lake/versions/columns.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { Moment } from '../../../store/lake/history/history.ts';
import { findIndexNames, listIndexColumns } from '../../../store/lake/datasets/indexColumns.ts';
import type { DataFile, Table } from '../../../store/lake/versions/lakeRead.ts';
import type { View } from '../../../store/lake/datasets/views.ts';
import type { PendingRow } from '../../../store/lake/pushes/pendingRows.ts';
import { withPending } from '../../../store/lake/pushes/pendingSql.ts';
import { type FileAccess, visibleRows } from '../../../store/lake/versions/tableSql.ts';
import type { Bind } from '../../plan/binding.ts';
import { type Condition, mayHold } from '../../plan/pruning.ts';
import { scrambledRows } from '../../plan/sandboxValues.ts';
import { instantText, type Visibility } from '../../plan/seriesPlan.ts';
import type { SelectPlan, Hint } from './selectPlan.ts';
import { identifier, literal } from '../../../store/duckdb/sqlText.ts';

/** A dataset with the caller's visibility. */
export interface BoundDataset {
  readonly kind: 'dataset';
  readonly dataset: Dataset;
  /** It belongs to another account: nothing that is free may depend on one of its values. */
  readonly foreign: boolean;
  readonly table: Table;
  readonly pending: readonly PendingRow[];
  readonly moment: Moment;
  /** Sequence of the last row that was pushed into it by then: it distinguishes two answers. */
  readonly newest: number;
  readonly visibility: Visibility;
}

/** A view: a query over tables that its owner may read. */
interface BoundView {
  readonly kind: 'view';
  readonly view: View;
  readonly plan: SelectPlan;
  readonly tables: readonly BoundTable[];
}

export type BoundTable = BoundDataset | BoundView;

/** Returns the datasets of tables, including those of nested views. */
export const datasetsOf = (tables: readonly BoundTable[]): readonly BoundDataset[] =>
  tables.flatMap((table) => (table.kind === 'dataset' ? [table] : datasetsOf(table.tables)));

/** Returns the table with the same columns and no records. */
export function withoutRecords(table: BoundTable): BoundTable {
  if (table.kind === 'view') return { ...table, tables: table.tables.map(withoutRecords) };
  return { ...table, table: { ...table.table, files: [], records: 0 }, pending: [] };
}

/** The column of a record's system properties, as one JSON value. */
const SYSTEM_COLUMN = '_systemRecordProperties';

interface TableOptions extends FileAccess {
  /** Adds the column `_systemRecordProperties`. */
  readonly system: boolean;
}

export function printTable(
  bound: BoundDataset,
  hints: readonly Hint[],
  { holds, pathOf, system }: TableOptions,
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

/** Casts 128-bit integers, which are stored as decimals, so that SQL operators treat them as integers. */
const printOwn = ({ name, type }: Column): string =>
  type === 'int128'
    ? `CAST(${identifier(name)} AS HUGEINT) AS ${identifier(name)}`
    : identifier(name);

/** Returns the owner's properties, in the order of the table. */
const ownColumns = ({ table }: BoundDataset): readonly Column[] =>
  table.columns.filter(({ name }) => !isSystemColumn(name));

export const columnNames = (bound: BoundDataset): readonly string[] =>
  ownColumns(bound).map(({ name }) => name);

export const indexNames = ({ dataset: { mapping }, table }: BoundDataset): readonly string[] =>
  listIndexColumns(mapping, table);

function indexColumns(bound: BoundDataset): readonly Column[] {
  const names = indexNames(bound);
  return bound.table.columns.filter(({ name }) => names.includes(name));
}

function systemValue({ dataset, table }: BoundDataset): string {
  const { key, subkey, date } = findIndexNames(dataset.mapping, table);
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
  const { key, date } = findIndexNames(dataset.mapping, table);
  if (visibility.kind === 'key') return ` WHERE ${identifier(key ?? '')} = ${bind(visibility.key)}`;
  const type = table.columns.find(({ name }) => name === date)?.type;
  const column = identifier(date);
  if (type === 'int64') return ` WHERE ${column} < ${bind(visibility.ms)}`;
  if (type === 'date') return ` WHERE ${column} < CAST(${bind(visibility.day)} AS DATE)`;
  return ` WHERE ${column} < CAST(${bind(instantText(visibility.ms))} AS TIMESTAMP)`;
}

/** Returns the files that may hold a record of the query, by the catalog's least and greatest values. */
export function filesFor(bound: BoundDataset, hints: readonly Hint[]): readonly DataFile[] {
  // Statistics of scrambled records match only on the index, and pruning by others would reveal values.
  const { scramble } = bound.visibility;
  const reliable = scramble === undefined ? bound.table.columns : indexColumns(bound);
  const columns = new Map(reliable.map((column) => [column.name.toLowerCase(), column]));
  const conditions = hints.flatMap(({ column, numeric, operator, values }) => {
    const target = columns.get(column.toLowerCase());
    const exact = target === undefined ? [] : values.map((value) => comparable(target, value));
    const all = exact.filter((value) => value !== undefined);
    if (target === undefined || all.length < values.length) return [];
    if (numeric && target.type !== 'int64') return [];
    return [{ column: target, operator, values: all } satisfies Condition];
  });
  return bound.table.files.filter((file) => conditions.every((item) => mayHold(file, item)));
}

/** Like `filesFor`, but prunes data of other accounts only by index columns, so that it reveals no value. */
export function prunableFiles(bound: BoundDataset, hints: readonly Hint[]): readonly DataFile[] {
  const index = new Set(indexNames(bound).map((name) => name.toLowerCase()));
  const usable = hints.filter(({ column }) => !bound.foreign || index.has(column.toLowerCase()));
  return filesFor(bound, usable);
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?$/;

/** Spells a literal as the catalog does for the column; undefined if DuckDB would convert it. */
function comparable({ type }: Column, value: string): string | undefined {
  if (type === 'varchar') return value;
  if (type === 'date') return DAY.test(value) ? value : undefined;
  if (type === 'int64') return /^-?\d{1,18}$/.test(value) ? value : undefined;
  if (type !== 'timestamp' && type !== 'timestamp_ns') return undefined;
  if (DAY.test(value)) return `${value} 00:00:00`;
  return INSTANT.test(value) ? value : undefined;
}
