// Chooses the columns of a chart: those that are drawn, those of candles, and the one of days.
import { LINES_MAX } from './chart.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Why there is no chart, and which option is the cause. */
export interface Refusal {
  readonly kind: 'refused';
  readonly about: 'column' | 'kind' | 'records';
  readonly rule: string;
}

export const makeRefusal = (about: Refusal['about'], rule: string): Refusal => ({
  kind: 'refused',
  about,
  rule,
});

export const isRefusal = (value: object): value is Refusal =>
  'kind' in value && value.kind === 'refused';

/** Columns that are preferred by default. */
const USUAL = ['close', 'price', 'value', 'latestPrice'];
/** Members that the series endpoint adds to every record. */
const SYSTEM: ReadonlySet<string> = new Set(['id', 'source', 'key', 'subkey', 'date', 'updated']);
/** Names that a refusal lists. */
const NAMES_MAX = 20;

export function namesOf(records: readonly Row[]): readonly string[] {
  const names = new Set<string>();
  for (const record of records) for (const name of Object.keys(record)) names.add(name);
  return [...names];
}

export const joinNames = (names: readonly string[]): string =>
  names.length <= NAMES_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`;

/** Whether a text is a number: integers above 2^53 and decimals of over 15 digits are texts in JSON. */
const isLongNumber = (text: string): boolean =>
  text.length >= 16 && /^-?\d{1,40}(?:\.\d{1,40})?$/.test(text);

export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string' && isLongNumber(value)) return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/**
 * Parses the columns that a text names: one, even if its name has commas, as `round(close, 2)` has, or
 * several between commas. Without records (`names` undefined) checks only the form of the text.
 */
export function parseColumns(
  text: string,
  names: readonly string[] | undefined,
): readonly string[] | Refusal {
  if (names?.includes(text) === true) return [text];
  const columns = text.split(',').map((one) => (names?.includes(one) === true ? one : one.trim()));
  if (columns.includes('')) return makeRefusal('column', 'has an empty name');
  const twice = columns.find((one, at) => columns.indexOf(one) !== at);
  if (twice !== undefined) return makeRefusal('column', `names ${twice} twice`);
  if (columns.length > LINES_MAX)
    return makeRefusal('column', `must name at most ${LINES_MAX} attributes`);
  const unknown = names === undefined ? undefined : columns.find((one) => !names.includes(one));
  if (unknown === undefined) return columns;
  const which = columns.length === 1 ? 'is' : `names ${unknown}, which is`;
  return makeRefusal('column', `${which} none of ${joinNames(names ?? [])}`);
}

/** Returns the default column. */
export function usualColumn(
  records: readonly Row[],
  names: readonly string[],
  label: string | undefined,
): string | undefined {
  const numbers = names.filter(
    (name) => name !== label && records.some((record) => typeof record[name] === 'number'),
  );
  return USUAL.find((name) => numbers.includes(name)) ?? numbers.find((name) => !SYSTEM.has(name));
}

export interface BarColumns {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
}

/** Finds the columns of candles, in any letter case; prefers the one in lower case. */
export function barColumns(names: readonly string[]): BarColumns | Refusal {
  const named = (word: string): string | undefined =>
    names.includes(word) ? word : names.find((name) => name.toLowerCase() === word);
  const [open, high, low, close] = ['open', 'high', 'low', 'close'].map(named);
  if (open !== undefined && high !== undefined && low !== undefined && close !== undefined) {
    return { open, high, low, close };
  }
  const missing = ['open', 'high', 'low', 'close'].filter((word) => named(word) === undefined);
  const rule = `candles needs open, high, low and close: missing ${missing.join(', ')}`;
  return makeRefusal('kind', rule);
}

const DAY = /^\d{4}-\d{2}-\d{2}/;
/** Bound of milliseconds since 1970 that count as a date. */
const MS_MAX = 2e13;

const isDay = (name: string, value: unknown): boolean =>
  (typeof value === 'string' && DAY.test(value)) ||
  (name === 'date' && typeof value === 'number' && Math.abs(value) < MS_MAX);

export interface LabelColumn {
  readonly name: string;
  readonly isDay: boolean;
}

/** Chooses the column that labels values: a day, else a text; undefined if there is none. */
export function labelColumn(
  records: readonly Row[],
  names: readonly string[],
  drawnColumns: readonly string[],
): LabelColumn | undefined {
  const others = names.filter((name) => !drawnColumns.includes(name));
  const ordered = others.includes('date') ? ['date', ...others] : others;
  const first = (name: string): unknown =>
    records.find((record) => record[name] !== null && record[name] !== undefined)?.[name];
  const day = ordered.find((name) => isDay(name, first(name)));
  if (day !== undefined) return { name: day, isDay: true };
  const text = ordered.find((name) => typeof first(name) === 'string' && !SYSTEM.has(name));
  return text === undefined ? undefined : { name: text, isDay: false };
}

/** Formats a day, with the time if there is one. */
export function labelOf(record: Row, name: string): string {
  const value = record[name];
  const text = typeof value === 'number' ? new Date(value).toISOString() : String(value ?? '');
  const time = text.replace(/T00:00:00(?:\.0+)?Z$/, '').replace(/(\d)T(\d\d:\d\d)/, '$1 $2');
  const { minute } = record;
  return name === 'date' && typeof minute === 'string' ? `${time} ${minute}` : time;
}
