// Prints a SeriesPlan as SQL: every identifier quoted, every value bound.
import {
  type Column,
  isSystemColumn,
  type ColumnType,
  ROW_COLUMN,
  sqlType,
  UPDATED_COLUMN,
} from '../../store/lake/versions/columns.ts';
import type { Day } from '../time/days.ts';
import type { Bound } from '../../store/duckdb/protocol.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';
import { excludeRows, withPending } from '../../store/lake/pushes/pendingSql.ts';
import {
  FILE_COLUMN,
  type FileAccess,
  POSITION_COLUMN,
  visibleRows,
} from '../../store/lake/versions/tableSql.ts';
import { type Bind, makeBind } from './binding.ts';
import { type Condition, sortFilesByEnd, mayHold } from './pruning.ts';
import { scrambledRows } from './sandboxValues.ts';
import type { Member } from './seriesMembers.ts';
import type { SeriesPlan } from './seriesPlan.ts';
import { formatInstant, exactValue } from './spelledValues.ts';
import { isSummed, printCollapse, printTransform } from './transforms.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

interface Printed {
  readonly sql: string;
  readonly parameters: readonly Bound[];
}

interface PrintedSeries extends Printed {
  /** Whether the plan's records are wide. */
  readonly wide: boolean;
}

interface PrintOptions {
  /** Terms that come before the members. */
  readonly before?: readonly string[];
  /** Casts to types for a Parquet file: instants as such, sums with all their digits. */
  readonly asFile?: boolean;
  /** Prints the rows of a view instead of a dataset's. */
  readonly relation?: PrintRelation;
}

type PrintRelation = (columns: readonly Column[], bind: Bind) => string;

export function printSeries(
  plan: SeriesPlan,
  place: FileAccess,
  { before = [], asFile = false, relation }: PrintOptions = {},
): PrintedSeries {
  const parameters: Bound[] = [];
  const bind = makeBind(parameters);
  const columns = neededColumns(plan);
  const records = (read: readonly Column[]): string =>
    printTests(plan, printRecords(plan, read, place, bind, relation), bind);
  const wide = isWide(plan, columns);
  const take = wide
    ? printTakeOfWide(plan, columns, records, bind)
    : printTake(plan, printAggregated(plan, records(columns), columns), bind, columns.length);
  const print = asFile ? printFileMember : printMember;
  const members = [...before, ...plan.members.map((member) => print(member, bind, plan))];
  const order = orderTerms(plan, plan.order === 'asc' ? 'ASC' : 'DESC');
  const terms = plan.takes.length === 0 ? order : `${TAKE_COLUMN}, ${order}`;
  const sql = `SELECT ${members.join(', ')} FROM ${take} ORDER BY ${terms}`;
  return { sql, parameters, wide };
}

/** Prints the newest stored records of a plan's keys, or of each of its takes, in pages. */
export function printPages(plan: SeriesPlan, records: number, place: FileAccess): Printed {
  const { name, type } = plan.indexDate;
  const date = identifier(name);
  const number =
    type === 'date' ? `${date} - DATE '1970-01-01'` : `epoch_us(CAST(${date} AS TIMESTAMP))`;
  const before = [printPageTerm(plan), `CAST(${number} AS DOUBLE) AS ${ORDER_COLUMN}`];
  const everything = { pending: [], range: ALL_DAYS, offset: 0, limit: records } as const;
  const whole: SeriesPlan = { ...plan, ...everything, take: 'newest', order: 'desc' };
  return printSeries(whole, place, { before });
}

/** Prints the records of all takes of a plan, one page each. */
export const printTakes = (plan: SeriesPlan, place: FileAccess): Printed =>
  printSeries(plan, place, { before: [printPageTerm(plan), `0 AS ${ORDER_COLUMN}`] });

const printPageTerm = ({ takes }: SeriesPlan): string =>
  `${takes.length === 0 ? '0' : TAKE_COLUMN} AS ${PAGE_COLUMN}`;

/** Prints the count of records that match the conditions on the unique index. */
export function printCount(plan: SeriesPlan, place: FileAccess): Printed {
  const parameters: Bound[] = [];
  const bind = makeBind(parameters);
  const columns = plan.table.columns.filter(
    (column) =>
      column === plan.indexDate ||
      plan.ties.includes(column) ||
      plan.equals.some((equal) => equal.column === column),
  );
  const rows = printRecords({ ...plan, byPlace: false }, columns, place, bind);
  return { sql: `SELECT count(*) AS records FROM ${rows}`, parameters };
}

const ALL_DAYS = { kind: 'days', from: undefined, to: undefined } as const;
const PAGE_COLUMN = '_system_page';
const ORDER_COLUMN = '_system_order';

/** Prints the conditions on the current version of a record: they apply after pending records are merged. */
function printTests(plan: SeriesPlan, rows: string, bind: Bind): string {
  const tests = plan.tests.map(({ column, operator, value }) => {
    const place = printValue(column, value, bind);
    const name = identifier(column.name);
    // A missing value differs from every value, and no value equals one that the type can't represent.
    return operator === '<>'
      ? `(${name} IS NULL OR ${name} IS DISTINCT FROM ${place})`
      : `${name} ${operator} ${place}`;
  });
  const ranged = plan.dateColumn === plan.indexDate ? [] : rangeConditions(plan);
  const conditions = [...tests, ...ranged.map((item) => printCondition(item, bind))];
  return conditions.length === 0
    ? rows
    : `(SELECT * FROM ${rows} WHERE ${conditions.join(' AND ')})`;
}

function printAggregated(plan: SeriesPlan, rows: string, columns: readonly Column[]): string {
  const { collapse, dateColumn, indexDate, ties, transform, zone } = plan;
  const series = { dateColumn, indexDate, ties, columns };
  const folded = collapse === undefined ? rows : printCollapse(rows, collapse, series, zone);
  return transform === undefined ? folded : printTransform(folded, transform, series);
}

/** Columns above which records are found by their index first, and then read whole. */
export const WIDE_COLUMNS = 250;

/** Whether a plan's records are so wide that DuckDB's heap for the first of them needs 0.4 MB a column. */
const isWide = ({ collapse, interval, takes, transform }: SeriesPlan, columns: readonly Column[]) =>
  columns.length > WIDE_COLUMNS &&
  collapse === undefined &&
  transform === undefined &&
  interval === 1 &&
  takes.length === 0;

/** Prints the take of wide records: selects index values first, then reads the records that have them. */
function printTakeOfWide(
  plan: SeriesPlan,
  columns: readonly Column[],
  records: (columns: readonly Column[]) => string,
  bind: Bind,
): string {
  const { byPlace, dateColumn, indexDate, tests, ties } = plan;
  const names = new Set([dateColumn, indexDate, ...ties, ...tests.map(({ column }) => column)]);
  const narrow = columns.filter((column) => names.has(column));
  const index = byPlace
    ? [FILE_COLUMN, POSITION_COLUMN]
    : [...ties, indexDate].map(({ name }) => identifier(name));
  // Keys of numbered records may be blank.
  const same = index.map((name) => `found.${name} IS NOT DISTINCT FROM wide.${name}`).join(' AND ');
  const hits = printTake(plan, records(narrow), bind);
  return `(SELECT * FROM ${records(columns)} AS wide WHERE EXISTS (FROM ${hits} AS found WHERE ${same}))`;
}

/** The take that a record belongs to, and its position in it. */
const TAKE_COLUMN = '_system_take';
const PLACE_COLUMN = '_system_place';

function printTake(plan: SeriesPlan, rows: string, bind: Bind, width = 0): string {
  const { interval, limit, offset, takes } = plan;
  const order = orderTerms(plan, plan.take === 'oldest' ? 'ASC' : 'DESC');
  if (takes.length === 0 && interval === 1) {
    const skipped = offset === 0 ? '' : ` OFFSET ${offset}`;
    // With a limit that is not a constant DuckDB does not use its heap: it sorts, in a tenth of the memory.
    const most = width > WIDE_COLUMNS ? `(SELECT ${limit})` : limit;
    return `(SELECT * FROM ${rows} ORDER BY ${order} LIMIT ${most}${skipped})`;
  }
  const numbered = takes.length === 0 ? rows : withTakes(plan, rows, bind);
  const part = takes.length === 0 ? '' : `PARTITION BY ${TAKE_COLUMN} `;
  const place = `row_number() OVER (${part}ORDER BY ${order}) - 1 AS ${PLACE_COLUMN}`;
  const end = (offset + limit) * interval;
  return `(SELECT * FROM (SELECT *, ${place} FROM ${numbered})
    WHERE ${PLACE_COLUMN} % ${interval} = 0 AND ${PLACE_COLUMN} >= ${offset * interval}
      AND ${PLACE_COLUMN} < ${end})`;
}

/** Adds to each row the first take that has its key: by a join, whose time is not the product of both. */
function withTakes({ equals, takes }: SeriesPlan, rows: string, bind: Bind): string {
  const [key] = equals;
  const type = key?.column.type ?? 'varchar';
  const list = (values: readonly (string | number)[]): string =>
    `CAST(CAST(${bind(JSON.stringify(values))} AS JSON) AS VARCHAR[])`;
  const spelled = list(takes.flat().map((value) => exactValue(type, value)));
  const numbers = list(takes.flatMap((spellings, at) => spellings.map(() => at)));
  const keys = `SELECT TRY_CAST(spelled AS ${sqlType(type)}) AS spelled, min(CAST(place AS INTEGER)) AS place
    FROM (SELECT unnest(${spelled}) AS spelled, unnest(${numbers}) AS place) GROUP BY 1`;
  return `(SELECT records.*, keys.place AS ${TAKE_COLUMN} FROM ${rows} AS records
    JOIN (${keys}) AS keys ON records.${identifier(key?.column.name ?? '')} = keys.spelled)`;
}

/** Prints a sub-select of the records that match the plan's conditions, stored and pending ones. */
export function printRecords(
  plan: SeriesPlan,
  columns: readonly Column[],
  place: FileAccess,
  bind: Bind,
  relation?: PrintRelation,
): string {
  const where = printConditions(plan, bind);
  const index = [...plan.ties, plan.indexDate];
  if (plan.since !== undefined) {
    const fresh = printSince(plan, plan.since, columns, place, where, bind);
    return scrambledRows(fresh, columns, index, plan.visibility.scramble);
  }
  const files = sortFilesByEnd(
    prunedFiles(plan),
    plan.dateColumn,
    plan.take === 'oldest' ? 'asc' : 'desc',
  );
  const stored = visibleRows(files, columns, place.pathOf, plan.byPlace, place.holds);
  const rows = relation?.(columns, bind) ?? stored;
  const records = withPending(rows, columns, index, plan.pending, where, bind);
  // The tables of a view are scrambled already.
  if (relation !== undefined) return records;
  return scrambledRows(records, columns, index, plan.visibility.scramble);
}

/** Prints the records that are new or changed since a moment, without those that were visible then. */
function printSince(
  plan: SeriesPlan,
  since: NonNullable<SeriesPlan['since']>,
  columns: readonly Column[],
  place: FileAccess,
  where: string,
  bind: Bind,
): string {
  const index = [...plan.ties, plan.indexDate];
  const updated = plan.table.columns.filter(({ name }) => name === UPDATED_COLUMN);
  const all = [...new Set([...columns, ...index, ...updated])];
  const fresh = rowsSince(plan, since, all, place);
  // Any stored record replaces a pushed one, not only a fresh one.
  const stored = visibleRows(prunedFiles(plan), all, place.pathOf, false, place.holds);
  const rows = withPending(fresh, all, index, plan.pending, where, bind, stored);
  return excludeRows(rows, [...index, ...updated], since.visibleRecords, bind);
}

/** Prints the stored records of newer files that the earlier version did not have. */
function rowsSince(
  plan: SeriesPlan,
  { table }: NonNullable<SeriesPlan['since']>,
  columns: readonly Column[],
  { holds, pathOf }: FileAccess,
): string {
  const { byPlace } = plan;
  const earlierIds = new Set(table.files.map(({ id }) => id));
  const fresh = prunedFiles(plan).filter(({ id }) => !earlierIds.has(id));
  const lost = droppedFiles(plan);
  if (lost.length === 0) return visibleRows(fresh, columns, pathOf, byPlace, holds);
  // Files were compacted: records that they had before are no change.
  const updated = plan.table.columns.filter(({ name }) => name === UPDATED_COLUMN);
  const all = [...new Set([...columns, ...updated])];
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const same = [...plan.ties, plan.indexDate, ...updated].map(
    ({ name }) => `old.${identifier(name)} IS NOT DISTINCT FROM fresh.${identifier(name)}`,
  );
  return `(SELECT ${list} FROM ${visibleRows(fresh, all, pathOf)} AS fresh
    WHERE NOT EXISTS (FROM ${visibleRows(lost, all, pathOf)} AS old WHERE ${same.join(' AND ')}))`;
}

/** Returns the files of the earlier version that the plan's own no longer has. */
export function droppedFiles({ since, table }: SeriesPlan): readonly DataFile[] {
  const currentIds = new Set(table.files.map(({ id }) => id));
  return (since?.table.files ?? []).filter(({ id }) => !currentIds.has(id));
}

/** Prints the plan's conditions on the unique index as one; `print` returns a value's placeholder. */
export function printConditions(plan: SeriesPlan, print: (value: string) => string): string {
  const conditions = indexConditions(plan).map((condition) => printCondition(condition, print));
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

function printCondition(
  { column, operator, values }: Condition,
  print: (value: string) => string,
): string {
  const bound = values.map((value) => printValue(column, value, print));
  const test = operator === '=' ? `IN (${bound.join(', ')})` : `${operator} ${bound[0]}`;
  return `${identifier(column.name)} ${test}`;
}

/** Casts with TRY_CAST: a value of another type matches nothing and raises no error. */
const printValue = ({ type }: Column, value: string, print: (value: string) => string): string =>
  `TRY_CAST(${print(exactValue(type, value))} AS ${sqlType(type)})`;

function orderTerms(plan: SeriesPlan, direction: 'ASC' | 'DESC'): string {
  const date = `${identifier(plan.dateColumn.name)} ${direction}`;
  const second = plan.dateColumn === plan.indexDate ? [] : [plan.indexDate];
  // The last arrival of a date is the newest; without dates the order is that of the file.
  const rows = isSystemColumn(plan.dateColumn.name) ? 'ASC' : direction;
  const ties = [...plan.ties, ...second].map(({ name }) =>
    name === ROW_COLUMN ? `${identifier(name)} ${rows}` : identifier(name),
  );
  const places = plan.byPlace ? [FILE_COLUMN, POSITION_COLUMN] : [];
  return [date, ...ties, ...places].join(', ');
}

function printMember(member: Member, bind: Bind): string {
  const name = identifier(member.name);
  if (member.kind !== 'object') return `${printSource(member, bind)} AS ${name}`;
  const members = member.members.map((item) => `${literal(item.name)}, ${printSource(item, bind)}`);
  return `json_object(${members.join(', ')}) AS ${name}`;
}

/** Casts: DuckDB would write a sum of integers as a double, and an instant as a time without a zone. */
function printFileMember(member: Member, bind: Bind, plan: SeriesPlan): string {
  if (member.kind !== 'column') return printMember(member, bind);
  const column = plan.table.columns.find(({ name }) => name === member.column);
  const exact = column !== undefined && isSummed(column, plan) ? 'DECIMAL(38, 0)' : undefined;
  const type = column?.type === 'timestamp' ? 'TIMESTAMPTZ' : exact;
  if (type === undefined) return printMember(member, bind);
  return `CAST(${identifier(member.column)} AS ${type}) AS ${identifier(member.name)}`;
}

function printSource(source: Exclude<Member, { kind: 'object' }>, bind: Bind): string {
  if (source.kind === 'text') return `CAST(${bind(source.text)} AS VARCHAR)`;
  const column = identifier(source.column);
  return source.kind === 'column' ? column : `epoch_ms(CAST(${column} AS TIMESTAMP))`;
}

/** Returns the columns that a member, a condition or the order uses; only these are read. */
function neededColumns(plan: SeriesPlan): readonly Column[] {
  const members = plan.members.flatMap((item) => (item.kind === 'object' ? item.members : [item]));
  const names = new Set([
    plan.dateColumn.name,
    plan.indexDate.name,
    ...plan.ties.map(({ name }) => name),
    ...plan.equals.map(({ column }) => column.name),
    ...plan.tests.map(({ column }) => column.name),
    ...members.flatMap((member) => (member.kind === 'text' ? [] : [member.column])),
  ]);
  return plan.table.columns.filter(({ name }) => names.has(name));
}

/** Returns the conditions on columns of the unique index, whose values never change in a record. */
function indexConditions(plan: SeriesPlan): readonly Condition[] {
  const { dateColumn, indexDate: column, visibility } = plan;
  const conditions: Condition[] = plan.equals.map((equal) => ({ ...equal, operator: '=' }));
  if (dateColumn === column) conditions.push(...rangeConditions(plan));
  if (visibility.kind === 'before') {
    const value = beforeText(column.type, visibility);
    conditions.push({ column, operator: '<', values: [value] });
  }
  return conditions;
}

/** Returns the bound that a date of a type must be below to be visible. */
function beforeText(
  type: ColumnType,
  { day, ms }: { readonly ms: number; readonly day: Day },
): string {
  if (type === 'date') return day;
  return formatInstant(type, ms);
}

/** Returns the conditions that all records of an answer meet, on any column. */
export function allConditions(plan: SeriesPlan): readonly Condition[] {
  const ranged = plan.dateColumn === plan.indexDate ? [] : rangeConditions(plan);
  return [...indexConditions(plan), ...ranged].map(({ values, ...condition }) => ({
    ...condition,
    values: values.map((value) => exactValue(condition.column.type, value)),
  }));
}

function rangeConditions({ dateColumn: column, range }: SeriesPlan): readonly Condition[] {
  const spelled = (ms: number): string => formatInstant(column.type, ms);
  const pairs = [
    ['>=', range.kind === 'days' ? range.from : range.fromMs],
    ['<=', range.kind === 'days' ? range.to : undefined],
    ['<', range.kind === 'days' ? undefined : range.untilMs],
  ] as const;
  return pairs.flatMap(([operator, value]) =>
    value === undefined
      ? []
      : [{ column, operator, values: [typeof value === 'number' ? spelled(value) : value] }],
  );
}

/** Returns the files that may hold matching records, by the catalog's least and greatest values. */
export function prunedFiles(plan: SeriesPlan): readonly DataFile[] {
  const conditions = indexConditions(plan);
  return plan.table.files.filter((file) => conditions.every((item) => mayHold(file, item)));
}
