// Reads an answer back from each of its formats with third-party readers: Arrow with apache-arrow, Parquet
// with DuckDB, CSV and PSV with csv-parse, JSON with the language.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { type Data, DataType, tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';

export type Kind = 'text' | 'json' | 'number' | 'integer' | 'boolean' | 'day' | 'instant';

/**
 * Instants are microseconds since 1970, days `YYYY-MM-DD`, objects and arrays their JSON. Zero has no
 * sign: in a Parquet file's dictionary, the lake's too, 0 and -0 are one.
 */
export type Cell = string | number | bigint | boolean | null;

export interface Column {
  readonly name: string;
  /** Undefined for a type that no answer has. */
  readonly kind: Kind | undefined;
}

export interface Decoded {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Arrow has no type for JSON: `isJson` distinguishes it from other text. */
export function readArrow(bytes: Uint8Array, isJson: (name: string) => boolean): Decoded {
  const table = tableFromIPC(bytes);
  const columns = table.schema.fields.map(({ name, type }): Column => {
    const kind = arrowKind(type);
    return { name, kind: kind === 'text' && isJson(name) ? 'json' : kind };
  });
  const rows: Cell[][] = [];
  for (const batch of table.batches) {
    for (let row = 0; row < batch.numRows; row += 1) {
      rows.push(batch.data.children.map((data) => arrowCell(data, row)));
    }
  }
  return { columns, rows };
}

function arrowKind(type: DataType): Kind {
  if (DataType.isUtf8(type)) return 'text';
  if (DataType.isFloat(type)) return 'number';
  if (DataType.isInt(type) || DataType.isDecimal(type)) return 'integer';
  if (DataType.isBool(type)) return 'boolean';
  if (DataType.isDate(type)) return 'day';
  assert.ok(DataType.isTimestamp(type) && type.timezone === 'UTC', String(type));
  return 'instant';
}

/** Reads from the buffers: the library's own getters round instants to doubles. */
function arrowCell(data: Data, row: number): Cell {
  if (!data.getValid(row)) return null;
  const { offset, type } = data;
  const values = data.values as Uint8Array | Uint32Array | BigInt64Array | Float64Array;
  const at = offset + row;
  if (DataType.isUtf8(type)) {
    const ends = data.valueOffsets;
    return Buffer.from(values as Uint8Array)
      .subarray(ends[row], ends[row + 1])
      .toString('utf8');
  }
  if (DataType.isBool(type)) return ((Number(values[at >> 3]) >> (at & 7)) & 1) === 1;
  if (DataType.isDate(type)) return dayText(Number(values[row]));
  if (!DataType.isDecimal(type)) return unsigned(values[row] ?? null);
  const words = (values as Uint32Array).slice(row * 4, row * 4 + 4);
  const whole = [...words].reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(128, whole);
}

const dayText = (days: number): string => {
  const iso = new Date(days * 86_400_000).toISOString();
  return iso.slice(0, iso.indexOf('T'));
};

/** One reader for all files; each file is read once. */
export async function parquetReader(): Promise<{
  read: (bytes: Uint8Array) => Promise<Decoded>;
  close: () => Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-formats-'));
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  let count = 0;
  const read = async (bytes: Uint8Array): Promise<Decoded> => {
    // DuckDB mistakes another file of the same length and second at a path for the one that it has read.
    const path = join(folder, `${(count += 1)}.parquet`);
    await writeFile(path, bytes);
    const reader = await connection.runAndReadAll(`FROM read_parquet('${path}')`);
    const types = reader.columnTypes();
    const columns = reader
      .columnNames()
      .map((name, at) => ({ name, kind: parquetKind(types[at]) }));
    const rows = reader.getRows().map((row) => row.map(parquetCell));
    await rm(path);
    return { columns, rows };
  };
  const close = async (): Promise<void> => {
    connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  };
  return { read, close };
}

const parquetKind = (type: DuckDBType | undefined): Kind | undefined =>
  PARQUET_KINDS[type?.alias ?? String(type)];

const PARQUET_KINDS: Readonly<Record<string, Kind>> = {
  VARCHAR: 'text',
  JSON: 'json',
  DOUBLE: 'number',
  BIGINT: 'integer',
  'DECIMAL(38,0)': 'integer',
  BOOLEAN: 'boolean',
  DATE: 'day',
  'TIMESTAMP WITH TIME ZONE': 'instant',
};

function parquetCell(value: DuckDBValue): Cell {
  if (value instanceof DuckDBDateValue) return dayText(value.days);
  if (value instanceof DuckDBTimestampTZValue) return value.micros;
  if (value instanceof DuckDBDecimalValue) return value.value;
  const plain = ['string', 'number', 'bigint', 'boolean'].includes(typeof value) || value === null;
  assert.ok(plain, `a value of another type: ${String(value)}`);
  return unsigned(value as Cell);
}

export const unsigned = (cell: Cell): Cell => (cell === 0 ? 0 : cell);

/** Strict: every row has the same number of cells, quotes are in valid positions. An empty cell is null. */
export function readDelimited(
  text: string,
  delimiter: string,
  columns: readonly Column[],
): Decoded['rows'] {
  const options = { delimiter, record_delimiter: '\n', relax_column_count: false };
  const [header, ...rows] = parse(text, options);
  assert.deepEqual(
    header,
    columns.map(({ name }) => name),
  );
  return rows.map((row) => row.map((cell, at) => cellOf(cell, columns[at]?.kind ?? 'text')));
}

function cellOf(text: string, kind: Kind | undefined): Cell {
  if (text === '' || kind === 'text' || kind === 'json') return text;
  if (kind === 'number') return numberOf(text);
  if (kind === 'integer') return integerOf(text);
  if (kind === 'day') return dayOf(text);
  if (kind === 'instant') return microsOf(text);
  assert.ok(text === 'true' || text === 'false', text);
  return text === 'true';
}

function numberOf(text: string): number {
  assert.match(text, /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d+)?$/);
  return Number(text);
}

function integerOf(text: string): bigint {
  assert.match(text, /^(0|-?[1-9]\d*)$/);
  return BigInt(text);
}

function dayOf(text: string): string {
  assert.match(text, /^\d{4}-\d\d-\d\d$/);
  return text;
}

function microsOf(text: string): bigint {
  const [, whole = '', milli = '', micro = '000'] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{3})(\d{3})?Z$/.exec(text) ?? [];
  assert.ok(whole !== '', text);
  return BigInt(Date.parse(`${whole}.${milli}Z`)) * 1000n + BigInt(micro);
}

/** Strict: an integer is text exactly if a double would lose it; JSON is printed again. */
export function readRecords(
  records: readonly Readonly<Record<string, unknown>>[],
  columns: readonly Column[],
): Decoded['rows'] {
  const names = columns.map(({ name }) => name);
  return records.map((record) => {
    assert.deepEqual(Object.keys(record), names);
    return columns.map(({ kind, name }) => memberOf(record[name], kind));
  });
}

function memberOf(value: unknown, kind: Kind | undefined): Cell {
  if (value === null) return null;
  if (kind === 'json') return JSON.stringify(value);
  if (kind === 'boolean' || kind === 'number') {
    assert.equal(typeof value, kind);
    return value as Cell;
  }
  if (kind === 'integer' && typeof value === 'number') {
    assert.ok(Number.isSafeInteger(value), `${value} was rounded`);
    return BigInt(value);
  }
  assert.equal(typeof value, 'string');
  const text = value as string;
  if (kind !== 'integer') return kind === 'text' ? text : cellOf(text, kind);
  assert.ok(!Number.isSafeInteger(Number(text)), `${text} needs no text`);
  return integerOf(text);
}
