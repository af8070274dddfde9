// A SeriesPlan as SQL: every identifier quoted, every value bound.
import { type Column, SQL_TYPES, UPDATED_COLUMN } from '../store/columns.ts';
import { identifier } from '../store/duckdb/instance.ts';
import type { Bound } from '../store/duckdb/protocol.ts';
import type { DataFile } from '../store/lakeRead.ts';
import { withPending } from '../store/pendingSql.ts';
import { FILE_COLUMN, type PathOf, POSITION_COLUMN, visibleRows } from '../store/tableSql.ts';
import { compareValues } from '../store/tableStats.ts';
import type { Member, SeriesPlan } from './seriesPlan.ts';

interface Printed {
  readonly sql: string;
  readonly parameters: readonly Bound[];
}

interface Condition {
  readonly column: Column;
  readonly operator: '=' | '>=' | '<=' | '<';
  /** Any of them fits; more than one only with `=`. */
  readonly values: readonly string[];
}

export function printSeries(plan: SeriesPlan, pathOf: PathOf): Printed {
  const parameters: Bound[] = [];
  const bind = (value: Bound): string => `$${parameters.push(value)}`;
  const rows = printRecords(plan, neededColumns(plan), pathOf, bind);
  const taken = `SELECT * FROM ${rows}
    ORDER BY ${orderTerms(plan, plan.take === 'oldest' ? 'ASC' : 'DESC')} LIMIT ${plan.limit}`;
  const members = plan.members.map((member) => printMember(member, bind));
  const order = orderTerms(plan, plan.order === 'asc' ? 'ASC' : 'DESC');
  return { sql: `SELECT ${members.join(', ')} FROM (${taken}) ORDER BY ${order}`, parameters };
}

/** A sub-select of the records that the plan's conditions leave, stored and pending ones. */
export function printRecords(
  plan: SeriesPlan,
  columns: readonly Column[],
  pathOf: PathOf,
  bind: (value: Bound) => string,
): string {
  const rows = rowsSince(plan, columns, pathOf);
  const where = printConditions(plan, bind);
  const index = [...plan.ties, plan.dateColumn];
  return withPending(rows, columns, index, plan.pending, where, bind);
}

/** The stored records; with `since` only those of newer files that its version did not hold. */
function rowsSince(plan: SeriesPlan, columns: readonly Column[], pathOf: PathOf): string {
  const { since, byPlace } = plan;
  const files = prunedFiles(plan);
  if (since === undefined) return visibleRows(files, columns, pathOf, byPlace);
  const known = new Set(since.files.map(({ id }) => id));
  const fresh = files.filter(({ id }) => !known.has(id));
  const lost = lostFiles(plan);
  if (lost.length === 0) return visibleRows(fresh, columns, pathOf, byPlace);
  // Files were put together: what they held before is no change.
  const updated = plan.table.columns.filter(({ name }) => name === UPDATED_COLUMN);
  const all = [...new Set([...columns, ...updated])];
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const same = [...plan.ties, plan.dateColumn, ...updated].map(
    ({ name }) => `old.${identifier(name)} = fresh.${identifier(name)}`,
  );
  return `(SELECT ${list} FROM ${visibleRows(fresh, all, pathOf)} AS fresh
    WHERE NOT EXISTS (FROM ${visibleRows(lost, all, pathOf)} AS old WHERE ${same.join(' AND ')}))`;
}

/** Files of the earlier version that the plan's own has no more. */
export function lostFiles({ since, table }: SeriesPlan): readonly DataFile[] {
  const kept = new Set(table.files.map(({ id }) => id));
  return (since?.files ?? []).filter(({ id }) => !kept.has(id));
}

/** The plan's conditions as one; `print` makes a value's place in the text. */
export function printConditions(plan: SeriesPlan, print: (value: string) => string): string {
  const conditions = conditionsOf(plan).map(({ column, operator, values }) => {
    const type = SQL_TYPES[column.type];
    // A key of another type is no key of this dataset: it finds nothing and fails nothing.
    const bound = values.map((value) => `TRY_CAST(${print(value)} AS ${type})`);
    const test = operator === '=' ? `IN (${bound.join(', ')})` : `${operator} ${bound[0]}`;
    return `${identifier(column.name)} ${test}`;
  });
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

function orderTerms(plan: SeriesPlan, direction: 'ASC' | 'DESC'): string {
  const date = `${identifier(plan.dateColumn.name)} ${direction}`;
  const ties = plan.ties.map(({ name }) => identifier(name));
  const places = plan.byPlace ? [FILE_COLUMN, POSITION_COLUMN] : [];
  return [date, ...ties, ...places].join(', ');
}

function printMember(member: Member, bind: (value: Bound) => string): string {
  const name = identifier(member.name);
  if (member.kind === 'text') return `CAST(${bind(member.text)} AS VARCHAR) AS ${name}`;
  const column = identifier(member.column);
  if (member.kind === 'column') return `${column} AS ${name}`;
  return `epoch_ms(CAST(${column} AS TIMESTAMP)) AS ${name}`;
}

/** Only the columns that a member, a condition or the order names are read. */
function neededColumns(plan: SeriesPlan): readonly Column[] {
  const names = new Set([
    plan.dateColumn.name,
    ...plan.ties.map(({ name }) => name),
    ...plan.equals.map(({ column }) => column.name),
    ...plan.members.flatMap((member) => (member.kind === 'text' ? [] : [member.column])),
  ]);
  return plan.table.columns.filter(({ name }) => names.has(name));
}

function conditionsOf(plan: SeriesPlan): readonly Condition[] {
  const { dateColumn: column, range, visibility } = plan;
  const conditions: Condition[] = plan.equals.map((equal) => ({ ...equal, operator: '=' }));
  const add = (operator: Condition['operator'], value: string | undefined): void => {
    if (value !== undefined) conditions.push({ column, operator, values: [value] });
  };
  if (range.kind === 'days') {
    add('>=', range.from);
    add('<=', range.to);
  } else {
    add('>=', range.fromMs === undefined ? undefined : instantText(range.fromMs));
    add('<', range.untilMs === undefined ? undefined : instantText(range.untilMs));
  }
  if (visibility.kind === 'before' && column.type === 'date') {
    add('<=', instantText(visibility.ms - 1).slice(0, 10));
  } else if (visibility.kind === 'before') add('<', instantText(visibility.ms));
  return conditions;
}

/** `2026-01-31 12:00:00.000`: as DuckDB and the catalog's statistics spell a timestamp. */
const instantText = (ms: number): string =>
  new Date(ms).toISOString().replace('T', ' ').slice(0, -1);

/** Files that may hold a wanted record, by the catalog's least and greatest values. */
export function prunedFiles(plan: SeriesPlan): readonly DataFile[] {
  const conditions = conditionsOf(plan);
  return plan.table.files.filter((file) => conditions.every((item) => mayHold(file, item)));
}

function mayHold(file: DataFile, { column, operator, values }: Condition): boolean {
  const range = file.ranges.get(column.id);
  const { min, max } = range ?? { min: null, max: null };
  if (min === null || max === null) return true;
  if (column.type === 'int64' && !values.every((value) => /^-?\d+$/.test(value))) return true;
  const above = (value: string): boolean => compareValues(column.type, value, min) >= 0;
  const below = (value: string): boolean => compareValues(column.type, value, max) <= 0;
  if (operator === '=') return values.some((value) => above(value) && below(value));
  return values.every(operator === '>=' ? below : above);
}
