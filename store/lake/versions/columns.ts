// Defines column types: JSON-schema types in the API, DuckLake types in the catalog, DuckDB types in SQL. One
// table keeps them consistent.
import { Failure } from '../../base/failure.ts';
import { type DecimalShape, parseDecimal } from './decimals.ts';

/** Type of a property as its owner states it (INTERFACE.md 3.3). */
export interface PropertyType {
  readonly type: 'number' | 'integer' | 'string' | 'boolean' | 'object' | 'array';
  readonly format?: 'date' | 'date-time' | 'date-time-ns' | 'time' | 'decimal' | 'int128';
  /** Digits of a decimal, at most 38. */
  readonly precision?: number;
  /** Fraction digits of a decimal. */
  readonly scale?: number;
}

type PlainType =
  | 'int64'
  | 'int128'
  | 'float64'
  | 'varchar'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'timestamp_ns'
  | 'time'
  | 'json';

/** DuckLake column types that we write (DuckLake 1.0, "Data Types"). */
export type ColumnType = PlainType | `decimal(${number},${number})`;

/** A column type without its parameters, as a key of tables of types. */
export type ColumnKind = PlainType | 'decimal';

export interface Column {
  /** Field id: unique in the table for its whole life, found in every Parquet file. */
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
}

/** Parquet has no integer of 128 bits: DuckDB would write a HUGEINT as a double. */
const SQL_TYPES: Readonly<Record<PlainType, string>> = {
  int64: 'BIGINT',
  int128: 'DECIMAL(38,0)',
  float64: 'DOUBLE',
  varchar: 'VARCHAR',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  timestamp_ns: 'TIMESTAMP_NS',
  time: 'TIME',
  json: 'JSON',
};

/** Digits of a decimal, and of a 128-bit integer. */
export const DIGITS_MAX = 38;

const isPlain = (type: ColumnType): type is PlainType => Object.hasOwn(SQL_TYPES, type);

export const columnKind = (type: ColumnType): ColumnKind => (isPlain(type) ? type : 'decimal');

/** Returns DuckDB's name of a column type. */
export const sqlType = (type: ColumnType): string =>
  isPlain(type) ? SQL_TYPES[type] : type.toUpperCase();

/** Parses DuckDB's name of a column type; undefined for an unsupported type. */
export function parseSqlType(word: string): ColumnType | undefined {
  const decimal = parseDecimal(word);
  if (decimal !== undefined) return `decimal(${decimal.precision},${decimal.scale})`;
  return (Object.keys(SQL_TYPES) as PlainType[]).find((type) => SQL_TYPES[type] === word);
}

/** Returns the decimal shape of a column type: a 128-bit integer is stored as a decimal. */
export const toDecimalShape = (type: ColumnType): DecimalShape | undefined =>
  type === 'int128' ? { precision: DIGITS_MAX, scale: 0 } : parseDecimal(type);

/** Numbers that a double can't represent exactly: they are transferred as texts. */
export const isExactNumber = (type: ColumnType): boolean =>
  type === 'int128' || columnKind(type) === 'decimal';

export const isNumberType = (type: ColumnType): boolean =>
  type === 'int64' || type === 'float64' || isExactNumber(type);

/** Dates and date-times. */
export const isDateType = (type: ColumnType): type is 'date' | 'timestamp' | 'timestamp_ns' =>
  type === 'date' || type === 'timestamp' || type === 'timestamp_ns';

/** When a record was written: in every file, so that `updated` survives compaction. */
export const UPDATED_COLUMN = '_system_updated';
/** Creation time: the date of the unique index where the owner maps no date. */
export const CREATED_COLUMN = '_system_date';

/**
 * Number of a record in its dataset, in order of arrival, where there is no unique index. Records of one load
 * share a number if key, subkey and date distinguish them; otherwise each has its own.
 */
export const ROW_COLUMN = '_system_row';

/**
 * Number of the source file of a numbered record; 0 for sent records. Null in records of earlier versions. A
 * repeated source is compared with its own records alone.
 */
export const SOURCE_COLUMN = '_system_source';

/** Every other column is the owner's. */
export const isSystemColumn = (name: string): boolean =>
  name === UPDATED_COLUMN ||
  name === CREATED_COLUMN ||
  name === ROW_COLUMN ||
  name === SOURCE_COLUMN;

/**
 * Limit of properties of a record. Wider records are refused: each step of a read needs 16 to 32 KiB a
 * column, so that 1,600 did not fit into the memory of a read process, and 5,000 not into that of any.
 */
export const PROPERTIES_MAX = 1_000;
const NAME = /^[A-Za-z0-9_]{1,128}$/;

export function toColumnType(property: PropertyType): ColumnType {
  const { format, precision = 0, scale = 0 } = property;
  if (property.type === 'integer') return format === 'int128' ? 'int128' : 'int64';
  if (property.type === 'number') {
    return format === 'decimal' ? `decimal(${precision},${scale})` : 'float64';
  }
  if (property.type === 'boolean') return 'boolean';
  if (property.type === 'object' || property.type === 'array') return 'json';
  return TEXT_FORMATS.get(format ?? '') ?? 'varchar';
}

const TEXT_FORMATS: ReadonlyMap<string, PlainType> = new Map([
  ['date', 'date'],
  ['date-time', 'timestamp'],
  ['date-time-ns', 'timestamp_ns'],
  ['time', 'time'],
]);

/** Describes a property's type in one word for users. */
export const describeProperty = ({ format, precision, scale, type }: PropertyType): string =>
  format === 'decimal' ? `decimal(${precision},${scale})` : (format ?? type);

/** Whether the property is a date or a date-time; a time of day is not. */
export const isDated = (property: PropertyType | undefined): boolean =>
  property?.format === 'date' ||
  property?.format === 'date-time' ||
  property?.format === 'date-time-ns';

/** Returns the property of a column type, as far as the type determines it. */
export const toProperty = (type: ColumnType): PropertyType =>
  isPlain(type) ? PROPERTIES[type] : { type: 'number', format: 'decimal', ...parseDecimal(type) };

const PROPERTIES: Readonly<Record<PlainType, PropertyType>> = {
  int64: { type: 'integer' },
  int128: { type: 'integer', format: 'int128' },
  float64: { type: 'number' },
  varchar: { type: 'string' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
  timestamp_ns: { type: 'string', format: 'date-time-ns' },
  time: { type: 'string', format: 'time' },
  json: { type: 'object' },
};

/**
 * Checks the name of a dataset or a workspace: letters, digits, underscore (SPEC.md "Workspace
 * datasets"), not beginning with `_system` in any case.
 * @throws Failure InvalidBody naming what is wrong with which name.
 */
export function checkName(what: string, name: string): void {
  if (!NAME.test(name)) {
    throw new Failure('InvalidBody', `${what} must be 1 to 128 letters, digits or underscores`);
  }
  if (isReserved(name)) {
    throw new Failure('InvalidBody', `${what} must not begin with the reserved prefix _system`);
  }
}

const isReserved = (name: string): boolean => /^_system/i.test(name);

/** Limit of characters of a property's name. */
export const PROPERTY_NAME_MAX = 256;

/** @throws Failure InvalidBody when a record would have no property, or too many. */
export function checkPropertyCount(what: string, count: number): void {
  if (count === 0) throw new Failure('InvalidBody', `${what} names no column`);
  if (count > PROPERTIES_MAX) {
    const rule = `at most ${PROPERTIES_MAX} (PROPERTIES_MAX): wider records can't be read`;
    throw new Failure('InvalidBody', `${what} has over ${PROPERTIES_MAX} columns, ${rule}`);
  }
}

/**
 * Checks the names of a record's properties. Real files have spaces and signs in names, so only names that
 * collide with others, or can't be part of an answer, are refused.
 * @throws Failure InvalidBody naming the property and the rule; `what` names the source of the names.
 */
export function checkPropertyNames(what: string, names: readonly string[]): void {
  checkPropertyCount(what, names.length);
  const seen = new Set<string>();
  for (const name of names) {
    const fault = findNameFault(name);
    if (fault !== undefined) throw new Failure('InvalidBody', `${what} has ${fault}`);
    // SQL compares names without case, so names that differ only in case collide.
    if (seen.has(name.toLowerCase())) {
      throw new Failure('InvalidBody', `${what} names column ${name} twice`);
    }
    seen.add(name.toLowerCase());
  }
}

function findNameFault(name: string): string | undefined {
  if (name.trim() === '') return 'an empty column name';
  if (name.length > PROPERTY_NAME_MAX)
    return `a column name of over ${PROPERTY_NAME_MAX} characters`;
  if (/\p{Cc}/u.test(name)) return 'a control character in a column name';
  // DuckDB's own name for a record's position in its file.
  if (name.toLowerCase() === 'file_row_number') return 'the reserved name file_row_number';
  return isReserved(name)
    ? `column ${name}, which begins with the reserved prefix _system`
    : undefined;
}
