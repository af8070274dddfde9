// The time-series door as data: what a request may see and in which order, decided before anything
// is read. Planning is pure; a plan says everything that an engine needs (DESIGN.md idea 7).
import { type Column, CREATED_COLUMN, UPDATED_COLUMN } from '../store/columns.ts';
import type { Dataset } from '../store/datasets.ts';
import { Failure } from '../store/failure.ts';
import type { Table } from '../store/lakeRead.ts';
import type { PendingRow } from '../store/pending.ts';
import { type Day, endOfDay, startOfDay } from './dates.ts';

/** Who may see which records. It is part of every plan, so that no door can forget it. */
export type Visibility =
  | { readonly kind: 'all' }
  /** Records dated before an instant only: delayed data. */
  | { readonly kind: 'before'; readonly ms: number }
  /** Records of one key only. */
  | { readonly kind: 'key'; readonly key: string };

export interface SeriesParameters {
  readonly key?: string;
  readonly subkey?: string;
  readonly from?: Day;
  readonly to?: Day;
  readonly on?: Day;
  readonly first?: number;
  readonly last?: number;
  readonly limit?: number;
  readonly sort?: 'asc' | 'desc';
  /** Members of the answer, by their exact names; all when undefined. */
  readonly filter?: readonly string[];
}

/** Half-open range of instants, or closed range of days: as the date column holds them. */
type DateRange =
  | { readonly kind: 'days'; readonly from?: Day; readonly to?: Day }
  | { readonly kind: 'instants'; readonly fromMs?: number; readonly untilMs?: number };

/** A member of an answered record: its name and where its value comes from. */
export type Member =
  | { readonly kind: 'column'; readonly name: string; readonly column: string }
  | { readonly kind: 'epoch'; readonly name: string; readonly column: string }
  | { readonly kind: 'text'; readonly name: string; readonly text: string };

export interface SeriesPlan {
  readonly table: Table;
  /** Records that are no file yet, beside the table's snapshot. */
  readonly pending: readonly PendingRow[];
  /** Only records that were written or changed since this version. */
  readonly since: Table | undefined;
  readonly visibility: Visibility;
  /** Equality on text columns: any of the spellings. */
  readonly equals: readonly { readonly column: Column; readonly values: readonly string[] }[];
  readonly dateColumn: Column;
  readonly range: DateRange;
  /** Columns that break ties of the date, so that the same request has the same answer. */
  readonly ties: readonly Column[];
  /** Without a unique index only the place in the files tells equal records apart. */
  readonly byPlace: boolean;
  /** Which end of the range is taken, and the order of the answer. */
  readonly take: 'newest' | 'oldest';
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly members: readonly Member[];
}

/** How records are shaped: `/time-series` with its system members inline, `/data` as they came. */
export type SeriesShape = 'time-series' | 'data';

export interface SeriesContext {
  readonly dataset: Dataset;
  readonly table: Table;
  readonly visibility: Visibility;
  readonly pending?: readonly PendingRow[];
  readonly since?: Table | undefined;
  /** Records of one answer at most. */
  readonly rowsMax: number;
  readonly zone: string;
  readonly shape: SeriesShape;
}

/** @throws Failure InvalidParameter naming both of two parameters that contradict each other. */
export function planSeries(parameters: SeriesParameters, context: SeriesContext): SeriesPlan {
  refuseConflicts(parameters);
  const { dataset, table } = context;
  const dateColumn = columnOf(table, dataset.mapping.date ?? CREATED_COLUMN);
  const order = parameters.sort ?? (parameters.first === undefined ? 'desc' : 'asc');
  const byOrder = order === 'asc' ? 'oldest' : 'newest';
  const ends = parameters.first !== undefined ? 'oldest' : 'newest';
  const counted = parameters.first ?? parameters.last;
  const plan = {
    table,
    visibility: context.visibility,
    equals: [
      ...equalTo(table, dataset.mapping.key, parameters.key, 'key'),
      ...equalTo(table, dataset.mapping.subkey, parameters.subkey, 'subkey'),
      ...visibleKey(context),
    ],
    dateColumn,
    range: rangeOf(parameters, dateColumn, context.zone),
    ties: [dataset.mapping.key, dataset.mapping.subkey].flatMap((name) =>
      name === undefined ? [] : [columnOf(table, name)],
    ),
    byPlace: dataset.mapping.key === undefined && dataset.mapping.date === undefined,
    take: counted === undefined ? byOrder : ends,
    order,
    limit: Math.min(
      counted ?? parameters.limit ?? defaultLimit(parameters, context),
      // Leaving some of the changes out would lose them: the next run tells later ones only.
      context.since === undefined ? context.rowsMax : Number.MAX_SAFE_INTEGER,
    ),
    members: filtered(membersOf(dataset, table, context.shape), parameters.filter),
  } as const;
  const pending = wantedOf(context.pending ?? [], plan.equals);
  return { ...plan, pending, since: context.since };
}

/** Pending records that the plan's keys leave: the fewer go to DuckDB the better. */
function wantedOf(
  pending: readonly PendingRow[],
  equals: SeriesPlan['equals'],
): readonly PendingRow[] {
  const texts = equals.filter(({ column }) => column.type === 'varchar');
  if (texts.length === 0 || pending.length === 0) return pending;
  return pending.filter(({ document }) =>
    texts.every(({ column, values }) => values.some((value) => value === document[column.name])),
  );
}

/**
 * Conflicts are refused rather than guessed. `limit` beside `first` or `last` is none: a client
 * library adds `limit=1` to every request (INTERFACE.md 5), and the caller means the other.
 */
function refuseConflicts(parameters: SeriesParameters): void {
  const conflict = (one: string, other: string): never => {
    throw new Failure('InvalidParameter', `"${one}" is not allowed beside "${other}"`);
  };
  if (parameters.first !== undefined && parameters.last !== undefined) conflict('first', 'last');
  if (parameters.on !== undefined && parameters.from !== undefined) conflict('on', 'from');
  if (parameters.on !== undefined && parameters.to !== undefined) conflict('on', 'to');
  const { from, to } = parameters;
  if (from !== undefined && to !== undefined && from > to) {
    throw new Failure('InvalidParameter', '"from" must not be after "to"');
  }
}

/** One record when no date is given (SPEC.md "Time series"), else as many as an answer may have. */
function defaultLimit(parameters: SeriesParameters, context: SeriesContext): number {
  if (context.since !== undefined) return Number.MAX_SAFE_INTEGER;
  const dated = [parameters.from, parameters.to, parameters.on].some((day) => day !== undefined);
  return dated ? context.rowsMax : 1;
}

function equalTo(
  table: Table,
  name: string | undefined,
  value: string | undefined,
  part: string,
): SeriesPlan['equals'] {
  if (value === undefined) return [];
  if (name === undefined) {
    throw new Failure('InvalidParameter', `"${part}" is not allowed: the dataset has no ${part}`);
  }
  const column = columnOf(table, name);
  // Old clients send symbols in lower case (INTERFACE.md 5).
  const values = column.type === 'varchar' ? [...new Set([value, value.toUpperCase()])] : [value];
  return [{ column, values }];
}

function visibleKey({ dataset, table, visibility }: SeriesContext): SeriesPlan['equals'] {
  if (visibility.kind !== 'key') return [];
  return [{ column: columnOf(table, dataset.mapping.key ?? ''), values: [visibility.key] }];
}

function rangeOf(parameters: SeriesParameters, column: Column, zone: string): DateRange {
  const from = parameters.on ?? parameters.from;
  const to = parameters.on ?? parameters.to;
  if (column.type === 'date') {
    return { kind: 'days', ...(from ? { from } : {}), ...(to ? { to } : {}) };
  }
  return {
    kind: 'instants',
    ...(from ? { fromMs: startOfDay(from, zone) } : {}),
    ...(to ? { untilMs: endOfDay(to, zone) } : {}),
  };
}

function membersOf(dataset: Dataset, table: Table, shape: SeriesShape): readonly Member[] {
  const properties = table.columns.filter(
    ({ name }) => dataset.schema.properties[name] !== undefined,
  );
  const own = properties.map(({ name }): Member => ({ kind: 'column', name, column: name }));
  if (shape === 'data') return own;
  const { key, subkey, date } = dataset.mapping;
  const system: readonly Member[] = [
    { kind: 'text', name: 'id', text: dataset.dataset },
    ...(dataset.source === ''
      ? []
      : [{ kind: 'text', name: 'source', text: dataset.source } as const]),
    indexMember('key', key),
    indexMember('subkey', subkey),
    { kind: 'epoch', name: 'date', column: date ?? CREATED_COLUMN },
    { kind: 'epoch', name: 'updated', column: UPDATED_COLUMN },
  ];
  const taken = new Set(system.map(({ name }) => name));
  return [...system, ...own.filter(({ name }) => !taken.has(name))];
}

const indexMember = (name: string, column: string | undefined): Member =>
  column === undefined ? { kind: 'text', name, text: '' } : { kind: 'column', name, column };

/** Names that no record has are passed over, as the original did; attribute case counts. */
function filtered(
  members: readonly Member[],
  filter: readonly string[] | undefined,
): readonly Member[] {
  if (filter === undefined) return members;
  const wanted = new Set(filter);
  const kept = members.filter(({ name }) => wanted.has(name));
  if (kept.length > 0) return kept;
  throw new Failure('InvalidParameter', '"filter" names no attribute of these records');
}

function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((item) => item.name === name);
  if (column === undefined) throw new Failure('NotFound');
  return column;
}
