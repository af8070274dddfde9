// The answer of a series computed with plain arrays: docs/reference/series.md in the simplest code, without
// the engine. Slow, and short enough to be compared with that page.
import { periodOf, type Span, spanOf, wallDay, within } from './seriesDays.ts';

type Value = string | number | boolean | null;
export type Kind = 'text' | 'number' | 'integer' | 'boolean' | 'date' | 'time';
export type Values = Readonly<Record<string, Value>>;

export interface Shelf {
  readonly id: string;
  readonly weight: number;
  /** In the order of the schema. */
  readonly properties: Readonly<Record<string, Kind>>;
  readonly key?: string;
  readonly subkey?: string;
  readonly date: string;
}

/** A stored record; times are `2024-02-29T12:00:00.000Z`, `_updated` is when it was written. */
export type StoredRecord = Values & { readonly _updated: string };

export interface SeriesRequest {
  readonly door: 'data' | 'time-series';
  /** The segments of the path. */
  readonly keys?: string;
  readonly subkey?: string;
  readonly query: Readonly<Record<string, string>>;
}

interface Moment {
  readonly today: string;
  readonly zone: string;
  readonly rowsMax: number;
}

/** The range of a request, and its page within it. */
interface Interpretation {
  readonly span: Span;
  readonly dated: boolean;
  readonly take: 'newest' | 'oldest';
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
  readonly interval: number;
}

const number = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

const plainDay = (text: string | undefined): string | undefined =>
  text?.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');

/** Undefined: refused. */
export function meantBy(
  { query }: SeriesRequest,
  { today, rowsMax }: Moment,
): Interpretation | undefined {
  const { range, future, sort } = query;
  const [from, to, on] = [plainDay(query['from']), plainDay(query['to']), plainDay(query['on'])];
  const calendar = query['calendar'] === 'true' || query['forward'] === 'true';
  const ways = [range, from ?? to, on, query['next'], future].filter((way) => way !== undefined);
  const counts = ['first', 'last', 'next'].filter((name) => query[name] !== undefined);
  if (ways.length > 1 || counts.length > 1 || (calendar && range === undefined)) return undefined;
  if (from !== undefined && to !== undefined && from > to) return undefined;
  const span = range === undefined ? daysNamed(query, today) : spanOf(range, calendar, today);
  if (span === undefined) return undefined;
  const dated = [range, from, to, on, future].some((way) => way !== undefined);
  const habit = dated && query['calendar'] === 'false' && query['limit'] === '1';
  const count = counts[0] ?? (habit ? 'none' : 'limit');
  const ahead = calendar || future === 'true' || count === 'first' || count === 'next';
  const order = sort?.toLowerCase() === 'asc' || (sort === undefined && ahead) ? 'asc' : 'desc';
  const oldest = count === 'first' || count === 'next' || (count !== 'last' && order === 'asc');
  return {
    span,
    dated,
    order,
    take: oldest ? 'oldest' : 'newest',
    limit: Math.min(number(query[count]) ?? (dated ? rowsMax : 1), rowsMax),
    offset: number(query['offset']) ?? 0,
    interval: number(query['interval']) ?? 1,
  };
}

function daysNamed(query: SeriesRequest['query'], today: string): Span {
  const [from, to, on] = [plainDay(query['from']), plainDay(query['to']), plainDay(query['on'])];
  if (on !== undefined) return { from: on, to: on };
  if (query['next'] !== undefined) return { from: today };
  if (query['future'] === 'false') return { to: today };
  if (query['future'] === 'true') return { from: dayAfter(today) };
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

const dayAfter = (day: string): string => {
  const noon = Date.parse(`${day}T12:00:00Z`);
  return new Date(noon + 24 * 3_600_000).toISOString().slice(0, 10);
};

/** Name and kind of the property of an attribute; `_updated` in addition to the dataset's own. */
function attribute(shelf: Shelf, name: string): readonly [string, Kind] | undefined {
  const own = Object.hasOwn(shelf.properties, name) ? shelf.properties[name] : undefined;
  if (own !== undefined) return [name, own];
  if (name === 'updated') return ['_updated', 'time'];
  const system = { key: shelf.key, subkey: shelf.subkey, date: shelf.date };
  const column = system[name as keyof typeof system];
  return column === undefined ? undefined : [column, shelf.properties[column] ?? 'text'];
}

/** Undefined: refused. */
export function expected(
  shelf: Shelf,
  records: readonly StoredRecord[],
  request: SeriesRequest,
  moment: Moment,
): readonly object[] | undefined {
  const selection = meantBy(request, moment);
  const { query } = request;
  const by = attribute(shelf, query['dateField'] ?? shelf.date);
  if (selection === undefined || by === undefined) return undefined;
  const [dateName, dateKind] = by;
  if (!['date', 'time', 'integer'].includes(dateKind)) return undefined;
  const dayOf = (row: StoredRecord): string | undefined => {
    const value = row[dateName] ?? null;
    if (value === null) return undefined;
    if (dateKind === 'date') return String(value);
    return wallDay(typeof value === 'number' ? value : Date.parse(String(value)), moment.zone);
  };
  const tests = (query['subattribute']?.split(',') ?? []).map((part) => testOf(shelf, part));
  if (tests.includes(undefined)) return undefined;
  const groups = keysOf(shelf, request);
  if (groups === undefined) return undefined;
  const chosen = records.filter(
    (row) =>
      within(dayOf(row), selection.span) &&
      tests.every((test) => test?.(row)) &&
      isUpdated(row, query['updated'], moment.zone),
  );
  const series = {
    shelf,
    query,
    dateName,
    dayOf,
  };
  const folded = transformed(collapsed(chosen, series), series);
  const members = membersOf(shelf, request);
  if (folded === undefined || members === undefined) return undefined;
  const pickMembers = (row: StoredRecord): object =>
    Object.fromEntries(members.map(([name, read]) => [name, read(row)]));
  return groups.flatMap((fits) =>
    takeRows(folded.filter(fits), selection, (order) => comparer(shelf, dateName, order)).map(
      pickMembers,
    ),
  );
}

type Fits = (row: StoredRecord) => boolean;

/** One group for each requested key, in their order; a record is in the first group that matches. */
function keysOf(shelf: Shelf, { keys, query, subkey }: SeriesRequest): readonly Fits[] | undefined {
  const { key: keyName, subkey: subkeyName } = shelf;
  if (keys !== undefined && keyName === undefined) return undefined;
  if (subkey !== undefined && subkeyName === undefined) return undefined;
  const isNamed = (row: StoredRecord, name: string | undefined, text: string): boolean =>
    spellings(text).some((one) =>
      equals(row[name ?? ''] ?? null, one, shelf.properties[name ?? ''] ?? 'text'),
    );
  const isSubkey: Fits = (row) => subkey === undefined || isNamed(row, subkeyName, subkey);
  if (keys === undefined) return [isSubkey];
  const each = [...new Set(keys.split(query['batchSeparator'] ?? ','))].filter(Boolean);
  const firstOf = (row: StoredRecord): number =>
    each.findIndex((key) => isNamed(row, keyName, key));
  return each.map((_, at) => (row: StoredRecord) => firstOf(row) === at && isSubkey(row));
}

const spellings = (text: string): readonly string[] => [text, text.toUpperCase()];

function testOf(shelf: Shelf, part: string): Fits | undefined {
  const at = part.search(/[|~]/);
  const property = at < 1 ? undefined : attribute(shelf, part.slice(0, at));
  if (property === undefined) return undefined;
  const [name, kind] = property;
  const isEqual = (row: StoredRecord): boolean =>
    equals(row[name] ?? null, part.slice(at + 1), kind);
  return part[at] === '|' ? isEqual : (row) => !isEqual(row);
}

function equals(value: Value, text: string, kind: Kind): boolean {
  if (value === null) return false;
  if (typeof value === 'number') return text.trim() !== '' && Number(text) === value;
  return kind === 'time' ? Date.parse(text) === Date.parse(String(value)) : String(value) === text;
}

function isUpdated({ _updated }: StoredRecord, since: string | undefined, zone: string): boolean {
  if (since === undefined) return true;
  const ms = Date.parse(_updated);
  if (/^\d{12,14}$/.test(since)) return ms >= Number(since);
  return since.includes('T')
    ? ms >= Date.parse(since)
    : wallDay(ms, zone) >= (plainDay(since) ?? '');
}

interface Series {
  readonly shelf: Shelf;
  readonly query: SeriesRequest['query'];
  readonly dateName: string;
  readonly dayOf: (row: StoredRecord) => string | undefined;
}

const tiesOf = ({ key, subkey }: Shelf): readonly string[] =>
  [key, subkey].flatMap((name) => (name === undefined ? [] : [name]));

const groupBy = <T>(items: readonly T[], idOf: (item: T) => string): readonly (readonly T[])[] => [
  ...Map.groupBy(items, idOf).values(),
];

/** Undefined: refused. */
function collapsed(
  rows: readonly StoredRecord[],
  series: Series,
): readonly StoredRecord[] | undefined {
  const { shelf, query, dateName, dayOf } = series;
  const [period, fold = 'last'] = query['collapse']?.toLowerCase().split('|') ?? [];
  if (period === undefined) return rows;
  const numbers = Object.entries(shelf.properties).filter(([, kind]) => isNumber(kind));
  if (fold === 'ohlc' && !numbers.some(([name]) => BAR.test(name))) return undefined;
  const idOf = (row: StoredRecord): string =>
    JSON.stringify([...tiesOf(shelf).map((tie) => row[tie]), periodOf(dayOf(row) ?? '', period)]);
  const dated = rows.filter((row) => dayOf(row) !== undefined);
  return groupBy(dated, idOf).map((group) => {
    const sorted = group.toSorted(comparer(shelf, dateName, 'asc'));
    const last = sorted.at(-1);
    const names = [...Object.keys(shelf.properties), '_updated'];
    const values = names.map((name) => {
      const isKept = name === dateName || tiesOf(shelf).includes(name);
      const all = sorted.map((row) => row[name] ?? null);
      const way = isKept ? 'last' : wayOf(name, shelf.properties[name] ?? 'time', fold);
      return [name, foldOf(all, way)];
    });
    return { ...last, ...Object.fromEntries(values) } as StoredRecord;
  });
}

const BAR = /(open|high|low|close|volume)$/i;
const WAYS = { open: 'open', high: 'max', low: 'min', close: 'close', volume: 'sum' } as const;
const isNumber = (kind: Kind | undefined): boolean => kind === 'number' || kind === 'integer';

function wayOf(name: string, kind: Kind, fold: string): string {
  if (fold === 'first' || fold === 'last') return fold;
  if (!isNumber(kind)) return 'last';
  const part = BAR.exec(name)?.[1]?.toLowerCase();
  return fold === 'ohlc' ? (WAYS[part as keyof typeof WAYS] ?? 'last') : fold;
}

/** Oldest first. */
function foldOf(values: readonly Value[], way: string): Value {
  if (way === 'first') return values[0] ?? null;
  if (way === 'last') return values.at(-1) ?? null;
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length === 0) return null;
  if (way === 'open') return numbers[0] ?? null;
  if (way === 'close') return numbers.at(-1) ?? null;
  if (way === 'sum') return numbers.reduce((sum, value) => sum + value, 0);
  return way === 'min' ? Math.min(...numbers) : Math.max(...numbers);
}

function transformed(
  rows: readonly StoredRecord[] | undefined,
  { shelf, query, dateName }: Series,
): readonly StoredRecord[] | undefined {
  const { transform } = query;
  if (rows === undefined || transform === undefined) return rows;
  const fixedNames = new Set([dateName, ...tiesOf(shelf)]);
  const numbers = Object.keys(shelf.properties).filter(
    (name) => isNumber(shelf.properties[name]) && !fixedNames.has(name),
  );
  const idOf = (row: StoredRecord): string => JSON.stringify(tiesOf(shelf).map((tie) => row[tie]));
  return groupBy(rows, idOf).flatMap((group) => {
    const sorted = group.toSorted(comparer(shelf, dateName, 'asc'));
    const changedColumns = numbers.map((name) => {
      const all = sorted.map((row) => (row[name] ?? null) as number | null);
      return [name, changes(all, transform.toLowerCase())] as const;
    });
    return sorted.map((row, at) => {
      const values = changedColumns.map(([name, all]) => [name, all[at] ?? null]);
      return { ...row, ...Object.fromEntries(values) } as StoredRecord;
    });
  });
}

function changes(
  values: readonly (number | null)[],
  transform: string,
): readonly (number | null)[] {
  const first = values.find((value) => value !== null) ?? 0;
  let sum: number | null = null;
  return values.map((value, at) => {
    if (value !== null) sum = (sum ?? 0) + value;
    if (transform === 'cumul') return sum;
    if (value === null) return null;
    if (transform === 'normalize') return first === 0 ? null : (value / first) * 100;
    const before = values[at - 1] ?? null;
    if (before === null) return null;
    if (transform === 'diff') return value - before;
    return before === 0 ? null : (value - before) / before;
  });
}

type Compare = (a: StoredRecord, b: StoredRecord) => number;

const compared = (a: Value, b: Value): number =>
  a === b || a === null || b === null ? 0 : a < b ? -1 : 1;

/** Orders by date, records without one last; records of one date by key, subkey and their own date. */
function comparer(shelf: Shelf, dateName: string, order: 'asc' | 'desc'): Compare {
  const seconds = [...tiesOf(shelf), shelf.date];
  return (a, b) => {
    const [one, other] = [a[dateName] ?? null, b[dateName] ?? null];
    if ((one === null) !== (other === null)) return one === null ? 1 : -1;
    const first = compared(one, other) * (order === 'asc' ? 1 : -1);
    if (first !== 0) return first;
    return seconds.map((name) => compared(a[name] ?? null, b[name] ?? null)).find(Boolean) ?? 0;
  };
}

/** Takes rows from the newest or the oldest end; returns them in the requested order. */
function takeRows(
  rows: readonly StoredRecord[],
  { interval, limit, offset, order, take }: Interpretation,
  by: (order: 'asc' | 'desc') => Compare,
): readonly StoredRecord[] {
  const sorted = rows.toSorted(by(take === 'oldest' ? 'asc' : 'desc'));
  const every = sorted.filter((_, at) => at % interval === 0);
  return every.slice(offset, offset + limit).toSorted(by(order));
}

type Reads = readonly [string, (row: StoredRecord) => Value];

/** The members of an answer; undefined if `filter` names none of them. */
function membersOf(shelf: Shelf, { door, query }: SeriesRequest): readonly Reads[] | undefined {
  const own = Object.keys(shelf.properties).map((name): Reads => [
    name,
    (row) => row[name] ?? null,
  ]);
  const text = (name: string | undefined) => (row: StoredRecord) =>
    name === undefined ? '' : (row[name] ?? null);
  const system: readonly Reads[] = [
    ['id', () => shelf.id],
    ['key', text(shelf.key)],
    ['subkey', text(shelf.subkey)],
    ['date', (row) => epoch(row[shelf.date] ?? null)],
    ['updated', (row) => epoch(row._updated)],
  ];
  const names = new Set(system.map(([name]) => name));
  const all = door === 'data' ? own : [...system, ...own.filter(([name]) => !names.has(name))];
  const filterNames = query['filter']?.split(',');
  const members = all.filter(([name]) => filterNames === undefined || filterNames.includes(name));
  return members.length === 0 ? undefined : members;
}

const epoch = (value: Value): number | null => (value === null ? null : Date.parse(String(value)));
