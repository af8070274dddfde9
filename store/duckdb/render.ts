// Renders result rows as the bytes of an answer. Values are exact: an integer above 2^53 becomes a JSON
// string, a timestamp keeps its microseconds, JSON properties are returned unchanged.
import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  type DuckDBResult,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import { Failure } from '../base/failure.ts';
import { nextChunk } from './chunks.ts';
import { escapedFormula, isEscaped } from './formulas.ts';
import {
  type Body,
  BODY_BYTES_MAX,
  hasStrings,
  jsonFraming,
  type NumberedPage,
  type Row,
  type TextFormat,
} from './protocol.ts';

type Print = (value: DuckDBValue) => string;

interface Shape {
  readonly open: string;
  readonly close: string;
  readonly separator: string;
  /** One row's text from its values. */
  readonly row: (values: readonly DuckDBValue[]) => string;
}

export async function renderBody(result: DuckDBResult, format: TextFormat): Promise<Body> {
  checkTypes(result);
  const shape = shapeOf(result, format);
  const pieces: Buffer[] = [Buffer.from(shape.open)];
  let objects = 0;
  let bytes = 0;
  for (;;) {
    const chunk = await nextChunk(result);
    if (chunk === undefined) break;
    const text = chunk.getRows().map(shape.row).join(shape.separator);
    const piece = Buffer.from(objects === 0 ? text : shape.separator + text);
    objects += chunk.rowCount;
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw tooLarge();
    pieces.push(piece);
  }
  pieces.push(Buffer.from(shape.close));
  return { objects, bytes: Buffer.concat(pieces) };
}

/** Column types that no format can represent, or that would contain whole records in one value. */
const REFUSED_TYPES: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.UNION,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.BLOB,
  DuckDBTypeId.BIT,
  DuckDBTypeId.ENUM,
]);

/** Checks the types of columns. @throws Failure InvalidParameter for a type that can't be rendered. */
export function checkTypes(result: DuckDBResult): void {
  const names = result.columnNames();
  result.columnTypes().forEach((type, at) => {
    if (!isRefused(type)) return;
    const column = `column ${names[at] ?? ''} is a ${DuckDBTypeId[type.typeId]}`;
    throw new Failure('InvalidParameter', `${column}: name its parts, or cast it`);
  });
}

/** Returns name and DuckDB type of each column. @throws as `checkTypes`. */
export function describeColumns(result: DuckDBResult): readonly Row[] {
  checkTypes(result);
  const types = result.columnTypes();
  return result
    .columnNames()
    .map((name, at) => ({ name, type: types[at]?.alias ?? String(types[at]) }));
}

const isRefused = (type: DuckDBType): boolean =>
  REFUSED_TYPES.has(type.typeId) ||
  (type.typeId === DuckDBTypeId.LIST && 'valueType' in type && isRefused(type.valueType));

/**
 * Renders JSON records with a comma after each. The first column is the number of the record's page, the
 * second one orders the records of a page; neither is a member.
 */
export async function renderPages(result: DuckDBResult): Promise<readonly NumberedPage[]> {
  const names = result.columnNames().slice(2);
  const row = jsonRow(names, printersOf(result, (type) => jsonPrinter(type)).slice(2));
  const pages: NumberedPage[] = [];
  let page = emptyPage(0);
  let bytes = 0;
  for (;;) {
    const chunk = await nextChunk(result);
    if (chunk === undefined) break;
    for (const [numberValue, date, ...values] of chunk.getRows()) {
      const number = Number(numberValue);
      if (number !== page.number) {
        pages.push(filledPage(page));
        page = emptyPage(number);
      }
      const piece = Buffer.from(`${row(values)},`);
      bytes += piece.length;
      if (bytes > BODY_BYTES_MAX) throw tooLarge();
      page.pieces.push(piece);
      page.ends.push((page.ends.at(-1) ?? 0) + piece.length);
      page.dates.push(Number(date));
    }
  }
  return [...pages, filledPage(page)];
}

interface PagePieces {
  readonly number: number;
  readonly pieces: Buffer[];
  readonly ends: number[];
  readonly dates: number[];
}

const emptyPage = (number: number): PagePieces => ({ number, pieces: [], ends: [], dates: [] });

/** Copies the bytes out of Node's shared pool, because pages are cached and sent as they are. */
const filledPage = ({ dates, ends, number, pieces }: PagePieces): NumberedPage => ({
  number,
  bytes: new Uint8Array(Buffer.concat(pieces)),
  ends: Uint32Array.from(ends),
  dates: Float64Array.from(dates),
});

function shapeOf(result: DuckDBResult, format: TextFormat): Shape {
  const framing = jsonFraming(format);
  if (framing === undefined) {
    return delimitedShape(result, delimiterOf(format), isEscaped(format));
  }
  const shape = jsonShape(result, hasStrings(format));
  if (framing === 'json') return shape;
  const { row } = shape;
  return { open: '', close: '', separator: '', row: (values) => `${row(values)}\n` };
}

export const tooLarge = (): Failure =>
  new Failure(
    'TooLarge',
    `the answer is over ${BODY_BYTES_MAX} bytes: narrow it with limit, from, to or filter`,
  );

/** Makes column names unique, because names become members: the second one is called `name_1`. */
export function uniqueNames(names: readonly string[]): readonly string[] {
  const used = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let next = 1; used.has(unique); next += 1) unique = `${name}_${next}`;
    used.add(unique);
    return unique;
  });
}

function jsonShape(result: DuckDBResult, strings: boolean): Shape {
  const prints = printersOf(result, (type) => jsonPrinter(type, strings));
  const row = jsonRow(uniqueNames(result.columnNames()), prints);
  return { open: '[', close: ']', separator: ',', row };
}

function jsonRow(columns: readonly string[], prints: readonly Print[]): Shape['row'] {
  const names = columns.map((name) => `${JSON.stringify(name)}:`);
  return (values) => {
    const members = values.map((value, index) =>
      value === null ? `${names[index]}null` : `${names[index]}${prints[index]?.(value)}`,
    );
    return `{${members.join(',')}}`;
  };
}

/** The delimiter of csv or psv. */
const delimiterOf = (format: TextFormat): ',' | '|' =>
  format === 'csv' || format === 'csvEscaped' ? ',' : '|';

function delimitedShape(result: DuckDBResult, delimiter: ',' | '|', escapes: boolean): Shape {
  const prints = printersOf(result, (type) => {
    const print = cellPrinter(type, delimiter);
    if (!escapes || type.typeId !== DuckDBTypeId.VARCHAR || type.alias === 'JSON') return print;
    return (value) => print(escapedFormula(String(value)));
  });
  const header = uniqueNames(result.columnNames()).map((name) =>
    quotedCell(escapes ? escapedFormula(name) : name, delimiter),
  );
  return {
    open: `${header.join(delimiter)}\n`,
    close: '',
    separator: '',
    row: (values) => {
      const cells = values.map((value, index) => (value === null ? '' : prints[index]?.(value)));
      return `${cells.join(delimiter)}\n`;
    },
  };
}

const printersOf = (result: DuckDBResult, printer: (type: DuckDBType) => Print): readonly Print[] =>
  result.columnTypes().map((type) => printer(type));

/** @param strings renders every decimal as a string, regardless of its digits */
function jsonPrinter(type: DuckDBType, strings = false): Print {
  if (type.alias === 'JSON') return (value) => strictJson(String(value));
  return (value) => {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
    if (typeof value === 'boolean') return String(value);
    if (typeof value === 'bigint') return isSafe(value) ? String(value) : `"${value}"`;
    if (value instanceof DuckDBDecimalValue && isExact(value, strings)) return value.toString();
    if (value instanceof DuckDBListValue && type.typeId === DuckDBTypeId.LIST) {
      const print = jsonPrinter(type.valueType, strings);
      return `[${value.items.map((item) => (item === null ? 'null' : print(item))).join(',')}]`;
    }
    return JSON.stringify(plainText(value));
  };
}

/** DuckDB accepts NaN and trailing commas in JSON: such a value becomes a text. A record has one line. */
function strictJson(text: string): string {
  if (!/nan|inf|,\s*[\]}]|[\r\n]/i.test(text)) return text;
  try {
    JSON.parse(text);
    // Line breaks can only be between tokens; a record of JSON lines has none.
    return text.replaceAll(/[\r\n]+/g, ' ');
  } catch {
    return JSON.stringify(text);
  }
}

function cellPrinter(type: DuckDBType, delimiter: string): Print {
  if (type.alias === 'JSON') return (value) => quotedCell(String(value), delimiter);
  return (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
    const text = value instanceof DuckDBListValue ? jsonPrinter(type)(value) : plainText(value);
    return quotedCell(text, delimiter);
  };
}

const isSafe = (value: bigint): boolean =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);

/** Decimals of up to 15 digits convert to doubles and back without loss. */
const isExact = ({ scale, value }: DuckDBDecimalValue, strings: boolean): boolean =>
  !(strings && scale > 0) && value > -1_000_000_000_000_000n && value < 1_000_000_000_000_000n;

function plainText(value: DuckDBValue): string {
  if (value instanceof DuckDBTimestampTZValue) return timestampText(value.micros);
  if (value instanceof DuckDBTimestampValue) return timestampText(value.micros);
  if (value instanceof DuckDBTimestampNanosecondsValue) return nanosecondText(value.nanos);
  if (value instanceof DuckDBDateValue) return value.toString();
  return String(value);
}

/** The last instant that a JavaScript Date can represent. */
const TIME_MAX_US = 8_640_000_000_000_000_000n;

/** `2024-02-29T23:59:59.123Z`, with six digits only where the microseconds need them. */
function timestampText(micros: bigint): string {
  // Infinity, and years out of range.
  if (micros > TIME_MAX_US || micros < -TIME_MAX_US) return micros > 0n ? 'infinity' : '-infinity';
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const whole = new Date(Number((micros - rest) / 1000n)).toISOString().slice(0, -5);
  const digits = String(rest).padStart(6, '0');
  return `${whole}.${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`;
}

/** The same, with nine digits where the nanoseconds need them. */
function nanosecondText(nanoseconds: bigint): string {
  const rest = ((nanoseconds % 1000n) + 1000n) % 1000n;
  const micros = (nanoseconds - rest) / 1000n;
  if (rest === 0n) return timestampText(micros);
  const digits = String(((micros % 1000n) + 1000n) % 1000n).padStart(3, '0');
  const whole = timestampText(micros - BigInt(digits)).slice(0, -1);
  return `${whole}${digits}${String(rest).padStart(3, '0')}Z`;
}

/** RFC 4180: quotes a text that contains the delimiter, a quote or a line break, or is empty, unlike null. */
function quotedCell(text: string, delimiter: string): string {
  const plain = text !== '' && !text.includes(delimiter) && !/["\r\n]/.test(text);
  return plain ? text : `"${text.replaceAll('"', '""')}"`;
}
