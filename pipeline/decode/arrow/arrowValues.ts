// Converts values of Arrow columns to exact JSON texts: digits are kept, and so is the part of times that a
// double of milliseconds would lose.
import { type Data, type DataType, TimeUnit, Type } from 'apache-arrow';
import {
  DIGITS_MAX,
  toProperty as columnProperty,
  type PropertyType,
} from '../../../store/lake/versions/columns.ts';
import { asBuffer, viewBytes } from './arrowChecks.ts';

/** Undefined for types that records cannot have: bytes, durations, unions. */
export function toProperty(type: DataType): PropertyType | undefined {
  switch (type.typeId) {
    case Type.Int:
      return { type: 'integer' };
    case Type.Float:
      return { type: 'number' };
    case Type.Decimal:
      return decimalProperty(type as unknown as Details);
    case Type.Bool:
      return { type: 'boolean' };
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
    case Type.Null:
      return { type: 'string' };
    case Type.Time:
      return { type: 'string', format: 'time' };
    case Type.Date:
      return { type: 'string', format: 'date' };
    case Type.Timestamp:
      return { type: 'string', format: 'date-time' };
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
      return areSupported(type.children) ? { type: 'array' } : undefined;
    case Type.Struct:
    case Type.Map:
      return areSupported(type.children) ? { type: 'object' } : undefined;
    case Type.Dictionary:
      return toProperty((type as { dictionary: DataType } & DataType).dictionary);
    default:
      return undefined;
  }
}

/** A decimal with too many digits for any column becomes a text. */
function decimalProperty({ precision = 0, scale = 0 }: Details): PropertyType {
  const fitsColumn = precision <= DIGITS_MAX && scale >= 0 && scale <= precision;
  return fitsColumn ? columnProperty(`decimal(${precision},${scale})`) : { type: 'string' };
}

const INT64_MAX = 2n ** 63n - 1n;

/** The wider type of a column whose values do not fit that of its Arrow type. */
export function widerProperty(data: Data): PropertyType | undefined {
  const { type, values } = data;
  const { bitWidth, isSigned, unit } = type as unknown as Details;
  const isUnsigned = type.typeId === Type.Int && bitWidth === 64 && isSigned === false;
  const isFine = type.typeId === Type.Timestamp && unit === TimeUnit.NANOSECOND;
  if (!isUnsigned && !isFine) return undefined;
  for (let row = 0; row < data.length; row += 1) {
    const value = data.getValid(row) ? BigInt(values[row] ?? 0) : 0n;
    if (isUnsigned && value > INT64_MAX) return columnProperty('int128');
    if (isFine && value % 1000n !== 0n) return columnProperty('timestamp_ns');
  }
  return undefined;
}

const areSupported = (fields: DataType['children']): boolean =>
  fields.every(({ type }: { readonly type: DataType }) => toProperty(type) !== undefined);

/** Returns the value of a row as JSON. */
type TextAt = (row: number) => string;

/** Counts doubles that are no number: JSON has texts in their place. */
export interface NoNumbers {
  count: number;
}

export function columnTexts(data: Data, seen: NoNumbers = { count: 0 }): TextAt {
  const value = valueReader(data, seen);
  return (row) => (data.getValid(row) ? value(row) : 'null');
}

/** Further members of some types. */
interface Details {
  readonly unit?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly bitWidth?: number;
  readonly isSigned?: boolean;
  readonly listSize?: number;
}

const detailsOf = ({ type }: Data): Details => type as unknown as Details;

function valueReader(data: Data, seen: NoNumbers): TextAt {
  const { type, values } = data;
  const { unit = 0 } = detailsOf(data);
  switch (type.typeId) {
    case Type.Int:
      return (row) => String(values[row]);
    case Type.Float:
      return (row) => numberText(floatAt(data, row), seen);
    case Type.Decimal:
      return (row) => exactText(decimalText(data, row));
    case Type.Bool:
      return (row) =>
        String(((values[(row + data.offset) >> 3] ?? 0) >> ((row + data.offset) % 8)) % 2 === 1);
    case Type.Date:
      return (row) => dateText(Number(values[row]) * (unit === 0 ? DAY_MS : 1));
    case Type.Timestamp:
      return (row) => momentText(BigInt(values[row] ?? 0), unit);
    case Type.Time:
      return (row) => `"${clockText(BigInt(values[row] ?? 0), unit)}"`;
    case Type.Dictionary:
      return dictionaryTexts(data, seen);
    case Type.Struct: {
      const names = type.children.map(({ name }: { name: string }) => JSON.stringify(name));
      const texts = data.children.map((child: Data) => columnTexts(child, seen));
      return (row) =>
        `{${texts.map((textAt: TextAt, at: number) => `${names[at]}:${textAt(row)}`).join(',')}}`;
    }
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
    case Type.Map:
      return listTexts(data, seen);
    case Type.Null:
      return () => 'null';
    case Type.Utf8View:
      return (row) => JSON.stringify(viewBytes(data, row)?.toString('utf8') ?? '');
    default:
      return offsetTexts(data);
  }
}

const DAY_MS = 86_400_000;
/** Units per second, by Arrow's unit: seconds, milli-, micro-, nanoseconds. */
const PER_SECOND = [1n, 1_000n, 1_000_000n, 1_000_000_000n];
const SECONDS_MAX = 8_640_000_000_000n;

function numberText(value: number, seen: NoNumbers): string {
  if (Number.isFinite(value)) return JSON.stringify(value);
  seen.count += 1;
  return `"${value}"`;
}

/** Decodes texts unchanged: Arrow's own decoder would drop a byte order mark. */
function offsetTexts({ valueOffsets, values }: Data): TextAt {
  const bytes = asBuffer(values as Uint8Array);
  return (row) =>
    JSON.stringify(
      bytes.toString('utf8', Number(valueOffsets[row]), Number(valueOffsets[row + 1])),
    );
}

function floatAt(data: Data, row: number): number {
  const value = Number(data.values[row]);
  return detailsOf(data).precision === 0 ? decodeHalf(value) : value;
}

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Digits that every JSON reader keeps exactly. */
const DOUBLE_DIGITS = 15;

const exactText = (text: string): string => (text.length > DOUBLE_DIGITS ? `"${text}"` : text);

function decimalText(data: Data, row: number): string {
  const { values } = data;
  const { bitWidth = 128, scale = 0 } = detailsOf(data);
  const words = bitWidth / 32;
  let whole = 0n;
  for (let at = words - 1; at >= 0; at -= 1) {
    whole = (whole << 32n) | BigInt(values[row * words + at] ?? 0);
  }
  whole = BigInt.asIntN(words * 32, whole);
  if (scale <= 0) return String(whole * 10n ** BigInt(-scale));
  const digits = String(whole < 0n ? -whole : whole).padStart(scale + 1, '0');
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function dateText(ms: number): string {
  if (ms % DAY_MS === 0) return `"${dayText(ms / DAY_MS)}"`;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `"${ms}"` : JSON.stringify(date.toISOString());
}

/** Days of 400 years. */
const CYCLE_DAYS = 146_097;

/** ISO 8601, with a sign and six digits of years outside of 0 to 9999. */
function dayText(days: number): string {
  const cycles = Math.floor(days / CYCLE_DAYS);
  const date = new Date((days - cycles * CYCLE_DAYS) * DAY_MS);
  const year = date.getUTCFullYear() + 400 * cycles;
  const isUsual = year >= 0 && year <= 9999;
  const digits = String(Math.abs(year)).padStart(isUsual ? 4 : 6, '0');
  const sign = year < 0 ? '-' : '+';
  return `${isUsual ? '' : sign}${digits}${date.toISOString().slice(4, 10)}`;
}

function momentText(count: bigint, unit: number): string {
  const per = PER_SECOND[unit] ?? 1n;
  const seconds = floorDivide(count, per);
  if (seconds > SECONDS_MAX || seconds < -SECONDS_MAX) return `"${count}"`;
  const start = new Date(Number(seconds) * 1000).toISOString().slice(0, -5);
  const part = unit === 0 ? '' : `.${String(count - seconds * per).padStart(unit * 3, '0')}`;
  return `"${start}${part}Z"`;
}

const floorDivide = (count: bigint, per: bigint): bigint =>
  count / per - (count < 0n && count % per !== 0n ? 1n : 0n);

function clockText(count: bigint, unit: number): string {
  const per = PER_SECOND[unit] ?? 1n;
  const seconds = Number(count / per);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const part = unit === 0 ? '' : `.${String(count % per).padStart(unit * 3, '0')}`;
  return `${two(seconds / 3600)}:${two((seconds / 60) % 60)}:${two(seconds % 60)}${part}`;
}

function dictionaryTexts(data: Data, seen: NoNumbers): TextAt {
  const pieces: readonly Data[] = data.dictionary?.data ?? [];
  const texts = pieces.map((piece) => columnTexts(piece, seen));
  return (row) => {
    let at = Number(data.values[row]);
    for (const [n, { length }] of pieces.entries()) {
      if (at < length) return texts[n]?.(at) ?? 'null';
      at -= length;
    }
    return 'null';
  };
}

function listTexts(data: Data, seen: NoNumbers): TextAt {
  const { children, type, valueOffsets } = data;
  const [child] = children;
  if (child === undefined) return () => '[]';
  const texts = type.typeId === Type.Map ? entryTexts(child, seen) : columnTexts(child, seen);
  const fixed = type.typeId === Type.FixedSizeList ? detailsOf(data).listSize : undefined;
  const [open, close] = type.typeId === Type.Map ? ['{', '}'] : ['[', ']'];
  return (row) => {
    const from = fixed === undefined ? Number(valueOffsets[row]) : row * fixed;
    const to = fixed === undefined ? Number(valueOffsets[row + 1]) : from + fixed;
    const items: string[] = [];
    for (let at = from; at < to; at += 1) items.push(texts(at));
    return `${open}${items.join(',')}${close}`;
  };
}

/** Writes `"key":value` for the entries of a map. */
function entryTexts({ children }: Data, seen: NoNumbers): TextAt {
  const [keys, values] = children.map((child: Data) => columnTexts(child, seen));
  return (row) => {
    const key = keys?.(row) ?? 'null';
    return `${key.startsWith('"') ? key : JSON.stringify(key)}:${values?.(row) ?? 'null'}`;
  };
}
