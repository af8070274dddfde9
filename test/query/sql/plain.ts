// A plain DuckDB in this process, and its answers as the values that the server's JSON holds.
import {
  type DuckDBConnection,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { fillPlain } from './shelves.ts';

/** A value of JSON; objects are values of JSON properties. */
export type Cell = unknown;

export interface Table {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Plain extends AsyncDisposable {
  /** @throws DuckDB's error. */
  ask(sql: string): Promise<Table>;
}

export async function openPlain(): Promise<Plain> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  await fillPlain(connection);
  const close = (): Promise<void> => {
    connection.closeSync();
    instance.closeSync();
    return Promise.resolve();
  };
  return { ask: (sql) => tableOf(connection, sql), [Symbol.asyncDispose]: close };
}

async function tableOf(connection: DuckDBConnection, sql: string): Promise<Table> {
  const result = await connection.runAndReadAll(sql);
  const types = result.columnTypes();
  const rows = result.getRows().map((row) =>
    row.map((value, at) => {
      const type = types[at];
      return type === undefined ? null : cellOf(value, type);
    }),
  );
  return { names: result.columnNames(), rows };
}

function cellOf(value: DuckDBValue, type: DuckDBType): Cell {
  if (value === null) return null;
  if (type.alias === 'JSON') return JSON.parse(String(value)) as Cell;
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}`;
  if (value instanceof DuckDBTimestampValue) return instantText(value.micros);
  if (value instanceof DuckDBTimestampTZValue) return instantText(value.micros);
  if (value instanceof DuckDBDecimalValue) return decimalCell(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof DuckDBDateValue) return value.toString();
  return String(value);
}

const DIGITS_MAX = 15;

/** A number where a double holds all digits that were written, text elsewhere. */
function decimalCell(decimal: DuckDBDecimalValue): Cell {
  const digits = decimal.value.toString().replace('-', '').length;
  return digits <= DIGITS_MAX ? Number(decimal.toString()) : decimal.toString();
}

const MICROS = 1_000_000n;

/** Three digits behind the second, six where the microseconds need them. */
function instantText(micros: bigint): string {
  const rest = ((micros % MICROS) + MICROS) % MICROS;
  const second = new Date(Number((micros - rest) / 1_000n)).toISOString().replace('.000Z', '');
  const digits = rest.toString().padStart(6, '0');
  return `${second}.${digits.replace(/000$/, '')}Z`;
}

/** The users' spelling as DuckDB reads it: back-ticks are names, double quotes are texts. */
export function respelled(sql: string): string {
  const parts = /'(?:[^']|'')*'|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|--[^\n]*|\/\*[^]*?\*\//g;
  return sql.replace(parts, (part, text: string | undefined, name: string | undefined) => {
    if (text !== undefined) return `'${text.replaceAll('""', '"').replaceAll("'", "''")}'`;
    if (name !== undefined) return `"${name.replaceAll('``', '`').replaceAll('"', '""')}"`;
    return part;
  });
}

/** Doubles that were summed in another order differ in their last digits. */
const TOLERANCE = 1e-9;

/** The first difference of two answers; undefined when there is none. */
export function difference(got: Table, want: Table): string | undefined {
  if (got.names.join('\t') !== want.names.join('\t') && got.rows.length > 0) {
    return `columns ${got.names.join(', ')}, not ${want.names.join(', ')}`;
  }
  if (got.rows.length !== want.rows.length) {
    return `${got.rows.length} rows, not ${want.rows.length}`;
  }
  for (const [at, row] of want.rows.entries()) {
    const other = got.rows[at] ?? [];
    if (row.length === other.length && row.every((cell, index) => same(other[index], cell)))
      continue;
    return `row ${at + 1} is ${JSON.stringify(other)}, not ${JSON.stringify(row)}`;
  }
  return undefined;
}

function same(one: Cell, other: Cell): boolean {
  if (typeof one !== 'number' || typeof other !== 'number') {
    return JSON.stringify(one) === JSON.stringify(other);
  }
  if (one === other) return true;
  return Math.abs(one - other) <= TOLERANCE * Math.max(Math.abs(one), Math.abs(other));
}

/** Rows in the order of their texts, for answers without an order of their own. */
export const sorted = ({ names, rows }: Table): Table => ({
  names,
  rows: rows.toSorted((one, other) => {
    const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
    return a < b ? -1 : a > b ? 1 : 0;
  }),
});
