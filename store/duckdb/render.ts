// Result rows as the bytes of an answer. Values survive exactly: an integer past 2^53 becomes JSON
// text, a timestamp keeps its microseconds, JSON properties go out as they came in.
import {
  type DuckDBDataChunk,
  DuckDBDateValue,
  type DuckDBResult,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { Failure } from '../failure.ts';
import type { Body, Page, TextFormat } from './protocol.ts';

/** Largest rendered body; a bigger one is refused with 413 and the advice to narrow the request. */
export const BODY_BYTES_MAX = 64 * 1024 ** 2;

type Print = (value: DuckDBValue) => string;

interface Shape {
  readonly open: string;
  readonly close: string;
  readonly separator: string;
  /** One row's text from its values. */
  readonly row: (values: readonly DuckDBValue[]) => string;
}

export async function renderBody(result: DuckDBResult, format: TextFormat): Promise<Body> {
  const shape = shapeOf(result, format);
  const pieces: Buffer[] = [Buffer.from(shape.open)];
  let objects = 0;
  let bytes = 0;
  for (;;) {
    const chunk: DuckDBDataChunk | null = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
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

/** JSON records with a comma after each; the first column orders them and is no member. */
export async function renderPage(result: DuckDBResult): Promise<Page> {
  const names = result.columnNames().slice(1);
  const row = jsonRow(names, printersOf(result, jsonPrinter).slice(1));
  const pieces: Buffer[] = [];
  const ends: number[] = [];
  const dates: number[] = [];
  let bytes = 0;
  for (;;) {
    const chunk: DuckDBDataChunk | null = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    for (const [date, ...values] of chunk.getRows()) {
      const piece = Buffer.from(`${row(values)},`);
      bytes += piece.length;
      if (bytes > BODY_BYTES_MAX) throw tooLarge();
      pieces.push(piece);
      ends.push(bytes);
      dates.push(Number(date));
    }
  }
  // Copied out of Node's shared pool: a page is sent as it is kept.
  const all = new Uint8Array(Buffer.concat(pieces));
  return { bytes: all, ends: Uint32Array.from(ends), dates: Float64Array.from(dates) };
}

function shapeOf(result: DuckDBResult, format: TextFormat): Shape {
  if (format === 'json') return jsonShape(result);
  if (format !== 'jsonl') return delimitedShape(result, format);
  const { row } = jsonShape(result);
  return { open: '', close: '', separator: '', row: (values) => `${row(values)}\n` };
}

export const tooLarge = (): Failure =>
  new Failure(
    'TooLarge',
    `the answer is over ${BODY_BYTES_MAX} bytes: narrow it with limit, from, to or filter`,
  );

function jsonShape(result: DuckDBResult): Shape {
  const row = jsonRow(result.columnNames(), printersOf(result, jsonPrinter));
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

function delimitedShape(result: DuckDBResult, format: 'csv' | 'psv'): Shape {
  const delimiter = format === 'csv' ? ',' : '|';
  const prints = printersOf(result, (type) => cellPrinter(type, delimiter));
  const header = result.columnNames().map((name) => quotedCell(name, delimiter));
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
  result.columnTypes().map(printer);

function jsonPrinter(type: DuckDBType): Print {
  if (type.alias === 'JSON') return (value) => String(value);
  return (value) => {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
    if (typeof value === 'boolean') return String(value);
    if (typeof value === 'bigint') return isSafe(value) ? String(value) : `"${value}"`;
    return JSON.stringify(plainText(value));
  };
}

function cellPrinter(type: DuckDBType, delimiter: string): Print {
  if (type.alias === 'JSON') return (value) => quotedCell(String(value), delimiter);
  return (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
    return quotedCell(plainText(value), delimiter);
  };
}

const isSafe = (value: bigint): boolean =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);

function plainText(value: DuckDBValue): string {
  if (value instanceof DuckDBTimestampValue) return timestampText(value.micros);
  if (value instanceof DuckDBDateValue) return value.toString();
  return String(value);
}

/** `2024-02-29T23:59:59.123Z`, with six digits only where the microseconds need them. */
function timestampText(micros: bigint): string {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const whole = new Date(Number((micros - rest) / 1000n)).toISOString().slice(0, -5);
  const digits = String(rest).padStart(6, '0');
  return `${whole}.${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`;
}

/** RFC 4180: quoted when it holds the delimiter, a quote or a line break. */
function quotedCell(text: string, delimiter: string): string {
  const plain = !text.includes(delimiter) && !/["\r\n]/.test(text);
  return plain ? text : `"${text.replaceAll('"', '""')}"`;
}
