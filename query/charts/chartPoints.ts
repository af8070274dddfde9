// Records as the values of a line: which column is drawn, what each value is called, in which order.
import type { Point } from './chartLayout.ts';

type Row = Readonly<Record<string, unknown>>;

type Drawable =
  | {
      readonly kind: 'line';
      readonly column: string | undefined;
      readonly points: readonly Point[];
    }
  | { readonly kind: 'refused'; readonly about: 'column' | 'records'; readonly rule: string };

/** Columns that are drawn first, where nothing is said. */
const USUAL = ['close', 'price', 'value', 'latestPrice'];
/** What the series door adds to every record. */
const SYSTEM: ReadonlySet<string> = new Set(['id', 'source', 'key', 'subkey', 'date', 'updated']);
/** Names that a refusal tells. */
const NAMES_MAX = 20;

/**
 * Oldest first where records have days, else as they come; records without a value are left out.
 * @param column undefined for the one that is most likely meant
 * @param key what all records must have alike: two series make no line
 */
export function drawableOf(
  records: readonly Row[],
  { column, key }: { readonly column?: string | undefined; readonly key?: string | undefined } = {},
): Drawable {
  if (records.length === 0) return { kind: 'line', column, points: [] };
  if (key !== undefined && records.some((record) => record[key] !== records[0]?.[key])) {
    return { kind: 'refused', about: 'records', rule: `draws one line: ask for one ${key}` };
  }
  const names = namesOf(records);
  if (column !== undefined && !names.includes(column)) {
    return { kind: 'refused', about: 'column', rule: `is none of ${told(names)}` };
  }
  const label = labelColumn(records, names, column);
  const drawn = column ?? drawnColumn(records, names, label?.name);
  if (drawn === undefined) {
    return {
      kind: 'refused',
      about: 'column',
      rule: `must name a column of numbers; there are ${told(names)}`,
    };
  }
  const points = records.flatMap((record, at): Point[] => {
    const value = numberOf(record[drawn]);
    if (value === undefined) return [];
    return [{ value, label: label === undefined ? String(at + 1) : labelOf(record, label.name) }];
  });
  if (points.length === 0) {
    return { kind: 'refused', about: 'column', rule: `has no numbers in ${drawn}` };
  }
  if (label?.isDay !== true) return { kind: 'line', column: drawn, points };
  const seen = new Set<string>();
  const twice = points.find((point) => seen.size === seen.add(point.label).size);
  if (twice !== undefined) {
    const rule = `draws one line, and there are several values of ${twice.label}: ask for one`;
    return { kind: 'refused', about: 'records', rule };
  }
  return { kind: 'line', column: drawn, points: points.toSorted(byLabel) };
}

/** JSON tells integers above 2^53 as texts. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string' && /^-?\d{16,40}$/.test(value)) return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function namesOf(records: readonly Row[]): readonly string[] {
  const names = new Set<string>();
  for (const record of records) for (const name of Object.keys(record)) names.add(name);
  return [...names];
}

const told = (names: readonly string[]): string =>
  names.length <= NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`;

const byLabel = (one: Point, other: Point): number =>
  one.label < other.label ? -1 : Number(one.label > other.label);

const DAY = /^\d{4}-\d{2}-\d{2}/;
/** Milliseconds since 1970, of years from 1938 to 2603. */
const MS_MAX = 2e13;

const isDay = (name: string, value: unknown): boolean =>
  (typeof value === 'string' && DAY.test(value)) ||
  (name === 'date' && typeof value === 'number' && Math.abs(value) < MS_MAX);

/** The column that says which value is which: a day, else a text; undefined where none does. */
function labelColumn(
  records: readonly Row[],
  names: readonly string[],
  drawn: string | undefined,
): { readonly name: string; readonly isDay: boolean } | undefined {
  const others = names.filter((name) => name !== drawn);
  const ordered = others.includes('date') ? ['date', ...others] : others;
  const first = (name: string): unknown =>
    records.find((record) => record[name] !== null && record[name] !== undefined)?.[name];
  const day = ordered.find((name) => isDay(name, first(name)));
  if (day !== undefined) return { name: day, isDay: true };
  const text = ordered.find((name) => typeof first(name) === 'string' && !SYSTEM.has(name));
  return text === undefined ? undefined : { name: text, isDay: false };
}

function drawnColumn(
  records: readonly Row[],
  names: readonly string[],
  label: string | undefined,
): string | undefined {
  const numbers = names.filter(
    (name) => name !== label && records.some((record) => typeof record[name] === 'number'),
  );
  return USUAL.find((name) => numbers.includes(name)) ?? numbers.find((name) => !SYSTEM.has(name));
}

/** A day, with the time where there is one. */
function labelOf(record: Row, name: string): string {
  const value = record[name];
  const text = typeof value === 'number' ? new Date(value).toISOString() : String(value ?? '');
  const time = text.replace(/T00:00:00(?:\.0+)?Z$/, '').replace(/(\d)T(\d\d:\d\d)/, '$1 $2');
  const { minute } = record;
  return name === 'date' && typeof minute === 'string' ? `${time} ${minute}` : time;
}
