// Converts a pushed JSON record to a pending row, if that is possible without DuckDB: every value has its
// property's own JSON type and the spelling of the column. Any other record takes the exact path of a load,
// which also describes its faults.
import {
  type Column,
  type ColumnKind,
  columnKind,
  type ColumnType,
  toColumnType,
  CREATED_COLUMN,
  toDecimalShape,
  isExactNumber,
  isSystemColumn,
  ROW_COLUMN,
  SOURCE_COLUMN,
} from '../../store/lake/versions/columns.ts';
import { formatDecimal } from '../../store/lake/versions/decimals.ts';
import { normalizeSymbol } from '../../store/lake/datasets/symbolSpelling.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { Push } from '../../store/lake/pushes/pendingRows.ts';
import { isoTime } from '../../store/base/clock.ts';
import { DIGITS_MAX } from '../values/exactText.ts';
import { findHiddenFault } from '../values/hiddenFaults.ts';
import { fitsDouble } from '../values/infer.ts';
import { INDEX_BYTES_MAX } from '../values/relation.ts';

/** Records of one push; more must be a load. */
const RECORDS_MAX = 1_000;
const RECORD_BYTES_MAX = 65_536;

/**
 * Whether the table matches the dataset's schema: a table that was read during a schema change may be older.
 */
export const matchesSchema = ({ columns }: Table, { schema }: Dataset): boolean =>
  columns.every(({ name, type }) => {
    if (isSystemColumn(name)) return true;
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    return property !== undefined && toColumnType(property) === type;
  });

/** A received body, and its parsed value. */
interface PushedBody {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/** Matches numbers in JSON values that JavaScript would write with other digits. */
const REWRITTEN = /(?:\d\.?){16}|\d[eE]|-0/;

/** Matches numbers of JSON, and parts of texts. */
const NUMBERS = /\d[\d.eE+-]*/g;
/** Characters in front of a number that is a value. */
const BEFORE_NUMBER = ':,[- \t\r\n';

/** Whether a double has other digits than a number of the JSON text. */
function hasRounded(text: string): boolean {
  for (const { 0: digits, index } of text.matchAll(NUMBERS)) {
    const isLong = digits.length > DIGITS_MAX || /e/i.test(digits);
    if (isLong && BEFORE_NUMBER.includes(text[index - 1] ?? ' ') && !fitsDouble(digits))
      return true;
  }
  return false;
}

/**
 * Converts the records of a body, an object or an array of them. Undefined if one of them needs the exact
 * path of a load, or the unique index has no date property.
 * @param firstRow reserves numbers for records, in a dataset without unique index
 */
export function toPushes(
  { bytes, value }: PushedBody,
  replaces: boolean,
  dataset: Dataset,
  table: Table,
  symbols: readonly string[] = [],
  firstRow: (count: number) => number = () => 1,
): readonly Push[] | undefined {
  if (dataset.mapping.date === undefined && !dataset.numbered) return undefined;
  const isKept = table.columns.some(({ type }) => type === 'json' || isExactNumber(type));
  const text = bytes.toString('latin1');
  if ((isKept && REWRITTEN.test(text)) || hasRounded(text)) return undefined;
  if (findHiddenFault(text, value) !== undefined) return undefined;
  const records: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (records.length === 0 || records.length > RECORDS_MAX) return undefined;
  if (mixesTimes(records, table.columns)) return undefined;
  const documents: Document[] = [];
  for (const record of records) {
    if (dataset.contract.columns === 'evolve' && hasNew(record, table.columns)) return undefined;
    const document = toDocument(record, table.columns, symbols);
    if (document === undefined) return undefined;
    documents.push(document);
  }
  if (dataset.numbered) return numberedPushes(documents, dataset, table, firstRow);
  const index = indexNames(dataset);
  const pushes: Push[] = [];
  for (const document of documents) {
    const values = toIndex(document, index);
    if (values === undefined) return undefined;
    pushes.push({ index: values, replaces, document });
  }
  return pushes;
}

type Document = Readonly<Record<string, unknown>>;

/** Every record is kept: its number completes the index. */
function numberedPushes(
  documents: readonly Document[],
  dataset: Dataset,
  { columns }: Table,
  firstRow: (count: number) => number,
): readonly Push[] | undefined {
  const names = indexNames(dataset);
  const required = dataset.inferred ? [] : dataset.schema.required;
  const fits = documents.every((document) =>
    names.every(
      (name) =>
        isIndexValue(document[name]) || (document[name] === undefined && !required.includes(name)),
    ),
  );
  if (!fits) return undefined;
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  const system = {
    ...(has(CREATED_COLUMN) ? { [CREATED_COLUMN]: null } : {}),
    ...(has(SOURCE_COLUMN) ? { [SOURCE_COLUMN]: 0 } : {}),
  };
  const first = firstRow(documents.length);
  return documents.map((document, at) => {
    const row = first + at;
    const index = JSON.stringify([...names.map((name) => document[name] ?? null), row]);
    return { index, replaces: true, document: { ...document, ...system, [ROW_COLUMN]: row } };
  });
}

const indexNames = ({ mapping }: Dataset): readonly string[] =>
  [mapping.key, mapping.subkey, mapping.date].filter((name) => name !== undefined);

/** Whether a record has a value for a column that the table does not have. */
const hasNew = (record: unknown, columns: readonly Column[]): boolean =>
  typeof record === 'object' &&
  record !== null &&
  Object.entries(record).some(
    ([name, value]) => value !== null && !columns.some((column) => column.name === name),
  );

/** Whether times are texts in some records and numbers in others: a load decides how all are read. */
const mixesTimes = (records: readonly unknown[], columns: readonly Column[]): boolean =>
  records.length > 1 &&
  columns.some(({ name, type }) => {
    if (type !== 'timestamp' || isSystemColumn(name)) return false;
    const kinds = records.map((record) => typeof (record as Document | null)?.[name]);
    return kinds.includes('number') && kinds.includes('string');
  });

/** Matches the escapes of NUL and of half of a surrogate pair, which no file stores. */
const ESCAPED = /\\u(?:0000|d[89a-f])/;

function toDocument(
  record: unknown,
  columns: readonly Column[],
  symbols: readonly string[],
): Document | undefined {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
  const text = JSON.stringify(record);
  if (Buffer.byteLength(text) > RECORD_BYTES_MAX || ESCAPED.test(text)) return undefined;
  const members: [string, unknown][] = [];
  for (const { name, type } of columns) {
    if (isSystemColumn(name) || !Object.hasOwn(record, name)) continue;
    const raw = (record as Readonly<Record<string, unknown>>)[name];
    if (raw === null) continue;
    const read = VALUES[columnKind(type)];
    const value = read(symbols.includes(name) ? toSymbol(raw) : raw, type);
    if (value === undefined) return undefined;
    members.push([name, value]);
  }
  return Object.fromEntries(members);
}

const ASCII = /^[\x20-\x7e]*$/;

/** Spells a symbol as loads do; undefined for letters whose case depends on the language. */
const toSymbol = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  return ASCII.test(value) ? normalizeSymbol(value) : undefined;
};

/** JSON text of the index values; undefined if one is missing, empty or too long. */
function toIndex(
  document: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string | undefined {
  const values = names.map((name) => (Object.hasOwn(document, name) ? document[name] : undefined));
  return values.every(isIndexValue) ? JSON.stringify(values) : undefined;
}

const isIndexValue = (value: unknown): boolean =>
  value !== undefined &&
  value !== '' &&
  typeof value !== 'object' &&
  (typeof value !== 'string' || Buffer.byteLength(value) <= INDEX_BYTES_MAX);

type Spelled = string | number | boolean | object | undefined;

const DATE = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/;
/** A time of day as DuckDB spells it. */
const CLOCK = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{0,5}[1-9])?$/;

/** Spells a value by its column's type in JSON; undefined: the exact path must read it. */
const VALUES: Readonly<Record<ColumnKind, (value: unknown, type: ColumnType) => Spelled>> = {
  varchar: (value) => (typeof value === 'string' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  int64: (value) => (isExact(value) && Number.isSafeInteger(value) ? value : undefined),
  int128: decimalText,
  decimal: decimalText,
  float64: (value) => (isExact(value) ? value : undefined),
  json: (value) => (typeof value === 'object' && value !== null ? value : undefined),
  date: (value) => (typeof value === 'string' && isDay(value) ? value : undefined),
  timestamp: (value) => (typeof value === 'string' ? toMicroseconds(value) : toInstant(value)),
  timestamp_ns: (value) => (typeof value === 'string' ? toNanoseconds(value) : undefined),
  time: (value) => (typeof value === 'string' && CLOCK.test(value) ? value : undefined),
};

/** Spells a decimal like DuckDB: with all digits of its scale. */
function decimalText(value: unknown, type: ColumnType): string | undefined {
  const shape = toDecimalShape(type);
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  return shape === undefined ? undefined : formatDecimal(String(value), shape);
}

/** Whether a number is kept exactly: JSON has no minus zero, it would become another number. */
const isExact = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0);

const isDay = (text: string): boolean =>
  DATE.test(text) && text >= '0001' && toIso(`${text}T00:00:00.000Z`)?.slice(0, 10) === text;

/** Digits of a second that a timestamp stores. */
const MICROSECOND_DIGITS = 6;

/** Writes six digits after the second only if the microseconds need them, like answers. */
function toMicroseconds(text: string): string | undefined {
  const { fraction, second } = parseInstant(text) ?? {};
  if (second === undefined || fraction === undefined) return undefined;
  if (fraction.length > MICROSECOND_DIGITS) return undefined;
  const digits = fraction.padEnd(MICROSECOND_DIGITS, '0');
  return `${second}.${digits.endsWith('000') ? digits.slice(0, 3) : digits}`;
}

/** Milliseconds since 1970 by their number of digits, as a load reads them (`dateFormats.ts`). */
const EPOCH_MS = { least: 1e11, most: 1e13 - 1 };

function toInstant(value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  if (value < EPOCH_MS.least || value > EPOCH_MS.most) return undefined;
  return isoTime(value).replace('T', ' ').slice(0, -1);
}

/** Whole years that 64 bits of nanoseconds can represent. */
const NANOSECOND_YEARS = { least: '1678', greatest: '2261' };

function toNanoseconds(text: string): string | undefined {
  const { fraction, second } = parseInstant(text) ?? {};
  if (second === undefined || fraction === undefined) return undefined;
  const year = second.slice(0, 4);
  if (year < NANOSECOND_YEARS.least || year > NANOSECOND_YEARS.greatest) return undefined;
  return `${second}.${fraction.padEnd(9, '0')}`;
}

/** The second in UTC as DuckDB spells it, and the digits after it. */
function parseInstant(
  text: string,
): { readonly second: string; readonly fraction: string } | undefined {
  const [, local, fraction = '', zone] = INSTANT.exec(text) ?? [];
  // Date.parse turns 30 February into 1 March.
  if (local === undefined || toIso(`${local}Z`)?.slice(0, 19) !== local) return undefined;
  const utc = toIso(`${local}${zone}`)?.slice(0, 19);
  if (utc === undefined || !/^\d{4}-/.test(utc) || utc < '0001') return undefined;
  return { second: utc.replace('T', ' '), fraction };
}

function toIso(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
