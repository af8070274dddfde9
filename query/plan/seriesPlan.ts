// Plans a time-series read as data: which records a request may see and in which order, decided before
// anything is read. Planning is pure; a plan has everything that an engine needs (DESIGN.md idea 7).
import {
  type Column,
  isDateType,
  isSystemColumn,
  UPDATED_COLUMN,
} from '../../store/lake/versions/columns.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { findIndexNames } from '../../store/lake/datasets/indexColumns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { endOfDay, startOfDay } from '../time/dates.ts';
import type { Scramble } from './sandboxValues.ts';
import type { Day } from '../time/days.ts';
import type { Days } from '../time/ranges.ts';
import {
  columnOf,
  findMembers,
  findVersionFacts,
  type Member,
  type SeriesShape,
} from './seriesMembers.ts';
import { selectDays, isDated, refuseConflicts, type Take, chooseTake } from './seriesRules.ts';
import { checkCollapse, type Collapse, type Transform } from './transforms.ts';
import type { SeriesParameters } from './seriesParameters.ts';

/**
 * States which records the caller may see, and whether they are scrambled. It is part of every plan, so that
 * no endpoint can forget it.
 */
export type Visibility = (
  | { readonly kind: 'all' }
  /** Records dated before an instant only, or before its day: delayed data. */
  | { readonly kind: 'before'; readonly ms: number; readonly day: Day }
  /** Records of one key only. */
  | { readonly kind: 'key'; readonly key: string }
) & {
  /** Scrambles the values; undefined: as they are. */
  readonly scramble?: Scramble | undefined;
};

/** Half-open range of instants, epoch ms, or closed range of days, by the type of the date column. */
type DateRange =
  | { readonly kind: 'days'; readonly from: Day | undefined; readonly to: Day | undefined }
  | {
      readonly kind: 'instants';
      readonly fromMs: number | undefined;
      readonly untilMs: number | undefined;
    };

/** A condition on any column, evaluated on the current version of a record. */
interface Test {
  readonly column: Column;
  readonly operator: '=' | '<>' | '>=';
  readonly value: string;
}

export interface SeriesPlan extends Take {
  readonly table: Table;
  /** Records that are not in a file yet, in addition to the table's snapshot. */
  readonly pending: readonly PendingRow[];
  /** Only records that were written or changed since this moment. */
  readonly since:
    { readonly table: Table; readonly visibleRecords: readonly PendingRow[] } | undefined;
  readonly visibility: Visibility;
  /** Equality on columns of the unique index: any of the spellings. */
  readonly equals: readonly { readonly column: Column; readonly values: readonly string[] }[];
  /** Spellings of each requested key: every key has its own take. Empty: one take of all. */
  readonly takes: readonly (readonly string[])[];
  /** Key and subkey, as far as the dataset has them. */
  readonly ties: readonly Column[];
  /** The date of the unique index. */
  readonly indexDate: Column;
  /** The column that range and order use. */
  readonly dateColumn: Column;
  readonly range: DateRange;
  readonly tests: readonly Test[];
  /** Some stored record has no date. */
  readonly hasUndated: boolean;
  /** Without a unique index only the position in the files distinguishes equal records. */
  readonly byPlace: boolean;
  readonly collapse: Collapse | undefined;
  readonly transform: Transform | undefined;
  readonly zone: string;
  readonly interval: number;
  readonly offset: number;
  /** Records of each take. */
  readonly limit: number;
  readonly members: readonly Member[];
}

/** An earlier moment: a version, and the records pushed beside it, for some keys or for all. */
export interface Since {
  readonly table: Table;
  readonly visibleRecords: (keys?: readonly string[]) => readonly PendingRow[];
}

export interface SeriesContext {
  readonly dataset: Dataset;
  readonly table: Table;
  readonly visibility: Visibility;
  /** Returns pending records, of these keys only if keys are passed. */
  readonly pending?: (keys?: readonly string[]) => readonly PendingRow[];
  readonly since?: Since | undefined;
  /** Records of one answer at most. */
  readonly rowsMax: number;
  /** The day of the request in `zone`. */
  readonly today: Day;
  readonly zone: string;
  readonly shape: SeriesShape;
}

/** @throws Failure InvalidParameter naming the parameter, or both of two that contradict. */
export function planSeries(parameters: SeriesParameters, context: SeriesContext): SeriesPlan {
  refuseConflicts(parameters);
  const { table, zone } = context;
  const { collapse, transform } = parameters;
  const {
    key,
    subkey,
    date: indexDate,
    ties,
    isIndexed,
    hasUndated,
    membersCache,
  } = findVersionFacts(context);
  const dateColumn = findDateField(parameters.dateField, indexDate, context);
  const { order, take } = chooseTake(parameters);
  const requestedKeys =
    parameters.keys ?? (parameters.key === undefined ? undefined : [parameters.key]);
  const keys = requestedKeys?.map((value) => addUpperCase(key, value));
  const subkeys = parameters.subkey === undefined ? [] : [parameters.subkey];
  if (collapse !== undefined) checkCollapse(collapse, table.columns);
  const equals = [
    ...equalTo(key, keys?.flat(), 'key'),
    ...subkeys.flatMap((value) => equalTo(subkey, addUpperCase(subkey, value), 'subkey')),
    ...visibleKey(context),
  ];
  const { since } = context;
  const pending = selectPending(equals, context, context.pending);
  return {
    table,
    pending,
    since: since && {
      table: since.table,
      visibleRecords: selectPending(equals, context, since.visibleRecords),
    },
    visibility: context.visibility,
    equals,
    takes: keys !== undefined && keys.length > 1 ? keys : [],
    ties,
    indexDate,
    dateColumn,
    range: toDateRange(selectDays(parameters, context.today), dateColumn, zone),
    tests: buildTests(parameters, context),
    hasUndated,
    byPlace: !isIndexed && collapse === undefined && transform === undefined,
    collapse,
    transform,
    zone,
    interval: parameters.interval ?? 1,
    offset: parameters.offset ?? 0,
    take,
    order,
    limit: computeLimit(parameters, context, pending.length),
    members: findMembers(membersCache, context, parameters),
  };
}

const NONE: readonly PendingRow[] = [];

/** Selects the pending records of the plan's keys, so that few go to DuckDB. */
function selectPending(
  equals: SeriesPlan['equals'],
  { dataset }: SeriesContext,
  pending: SeriesContext['pending'],
): readonly PendingRow[] {
  const ofKey = equals.find(({ column }) => column.name === dataset.mapping.key);
  const rows = pending?.(ofKey?.column.type === 'varchar' ? ofKey.values : undefined) ?? NONE;
  if (rows.length === 0) return rows;
  const texts = equals.filter(({ column }) => column.type === 'varchar');
  const keyValues = texts.map(
    ({ column, values }) => [column.name, new Set<unknown>(values)] as const,
  );
  return rows.filter(({ document }) =>
    keyValues.every(([name, values]) => values.has(document[name])),
  );
}

/** Defaults to one record without a date (SPEC.md "Time series"), else to as many as an answer may have. */
function computeLimit(
  parameters: SeriesParameters,
  context: SeriesContext,
  pending: number,
): number {
  const { rowsMax, since } = context;
  const { first, last, limit, next } = parameters;
  const most = isDated(parameters) ? rowsMax : 1;
  const requested = first ?? last ?? next ?? limit;
  // Return every change: the next run returns later ones only.
  if (since !== undefined)
    return Math.min(requested ?? Infinity, pending + countNewRecordsMax(since, context));
  return Math.min(requested ?? most, rowsMax);
}

/** Bounds the number of new records, so that a call reserves no more memory than it can need. */
function countNewRecordsMax({ table: since }: Since, { table }: SeriesContext): number {
  const earlierIds = new Set(since.files.map(({ id }) => id));
  const fresh = table.files.filter(({ id }) => !earlierIds.has(id));
  return fresh.reduce((sum, { records }) => sum + records, 0);
}

/** Finds the date attribute of a name; integers are epoch milliseconds. */
function findDateField(name: string | undefined, date: Column, context: SeriesContext): Column {
  if (name === undefined) return date;
  const column = findAttribute(name, context);
  if (column !== undefined && (isDateType(column.type) || column.type === 'int64')) return column;
  const rule = 'must name an attribute that is a date, a date-time or epoch milliseconds';
  throw new Failure('InvalidParameter', `"dateField" ${rule}`);
}

function buildTests(parameters: SeriesParameters, context: SeriesContext): readonly Test[] {
  const tests = (parameters.subattributes ?? []).map(({ name, equal, value }): Test => {
    const column = findAttribute(name, context);
    if (column === undefined) {
      throw new Failure('InvalidParameter', `"subattribute" names ${name}, which no record has`);
    }
    return { column, operator: equal ? '=' : '<>', value };
  });
  const { updated } = parameters;
  if (updated === undefined) return tests;
  const column = columnOf(context.table, UPDATED_COLUMN);
  return [...tests, { column, operator: '>=', value: instantText(updated) }];
}

/** Finds the column of an attribute: a property, or a system member that no property hides. */
function findAttribute(name: string, { dataset, table }: SeriesContext): Column | undefined {
  const { key, subkey, date } = findIndexNames(dataset.mapping, table);
  const system: Readonly<Record<string, string | undefined>> = {
    key,
    subkey,
    date,
    updated: UPDATED_COLUMN,
  };
  const own = table.columns.some((item) => item.name === name && !isSystemColumn(name));
  const column = own ? name : Object.hasOwn(system, name) ? system[name] : undefined;
  return table.columns.find((item) => item.name === column);
}

/** Adds the upper-case spelling: old clients send symbols in lower case (INTERFACE.md 5). */
function addUpperCase(column: Column | undefined, value: string): readonly string[] {
  const upper = column?.type === 'varchar' ? value.toUpperCase() : value;
  return upper === value ? [value] : [value, upper];
}

function equalTo(
  column: Column | undefined,
  values: readonly string[] | undefined,
  part: string,
): SeriesPlan['equals'] {
  if (values === undefined) return [];
  if (column === undefined) {
    throw new Failure('InvalidParameter', `"${part}" is not allowed: the dataset has no ${part}`);
  }
  return [{ column, values: values.length === 1 ? values : [...new Set(values)] }];
}

function visibleKey({ dataset, table, visibility }: SeriesContext): SeriesPlan['equals'] {
  if (visibility.kind !== 'key') return [];
  return [{ column: columnOf(table, dataset.mapping.key ?? ''), values: [visibility.key] }];
}

function toDateRange({ from, to }: Days, column: Column, zone: string): DateRange {
  if (column.type === 'date') return { kind: 'days', from, to };
  return {
    kind: 'instants',
    fromMs: from === undefined ? undefined : startOfDay(from, zone),
    untilMs: to === undefined ? undefined : endOfDay(to, zone),
  };
}

/** Outside of these a year is written with a sign and six digits, which no reader parses. */
const LEAST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const MOST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Formats an instant as DuckDB and the catalog's statistics do: `2026-01-31 12:00:00.000`. */
export const instantText = (ms: number): string =>
  new Date(Math.min(MOST_MS, Math.max(LEAST_MS, ms))).toISOString().replace('T', ' ').slice(0, -1);
