// The types a dataset's columns may have: JSON-schema words outside, DuckLake words in the
// catalog, DuckDB words in SQL. One table, so that they can't drift apart.
import { Failure } from '../../base/failure.ts';

/** Type of a property as its owner states it (INTERFACE.md 3.3). */
export interface PropertyType {
  readonly type: 'number' | 'integer' | 'string' | 'boolean' | 'object' | 'array';
  readonly format?: 'date' | 'date-time' | 'time';
}

/** DuckLake column types that we write (DuckLake 1.0, "Data Types"). */
export type ColumnType =
  'int64' | 'float64' | 'varchar' | 'boolean' | 'date' | 'timestamp' | 'time' | 'json';

export interface Column {
  /** Field id: unique in the table for its whole life, found in every Parquet file. */
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
}

export const SQL_TYPES: Readonly<Record<ColumnType, string>> = {
  int64: 'BIGINT',
  float64: 'DOUBLE',
  varchar: 'VARCHAR',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  time: 'TIME',
  json: 'JSON',
};

/** When a record was written: in every file, so that `updated` survives compaction. */
export const UPDATED_COLUMN = '_system_updated';
/** Creation time: the date of the unique index where the owner maps no date. */
export const CREATED_COLUMN = '_system_date';

/**
 * Number of a record in its dataset, in order of arrival, where there is no unique index. Records of one
 * load share a number where key, subkey and date tell them apart; otherwise each has its own.
 */
export const ROW_COLUMN = '_system_row';

/**
 * Which source file a numbered record was read from, as a number; 0 for records that were sent. Null in
 * records of earlier versions. A source that is read again is compared with its own records alone.
 */
export const SOURCE_COLUMN = '_system_source';

/** Every other column is the owner's. */
export const isSystemColumn = (name: string): boolean =>
  name === UPDATED_COLUMN ||
  name === CREATED_COLUMN ||
  name === ROW_COLUMN ||
  name === SOURCE_COLUMN;

/**
 * Properties of a record. A wider one is refused: each step of a read holds 16 to 32 KiB a column, so that
 * 1,600 did not fit the memory of a read process, and 5,000 not that of any.
 */
export const PROPERTIES_MAX = 1_000;
const NAME = /^[A-Za-z0-9_]{1,128}$/;

export function columnTypeOf(property: PropertyType): ColumnType {
  if (property.type === 'integer') return 'int64';
  if (property.type === 'number') return 'float64';
  if (property.type === 'boolean') return 'boolean';
  if (property.type === 'object' || property.type === 'array') return 'json';
  return FORMATS[property.format ?? 'none'];
}

/** Of texts. */
const FORMATS = { date: 'date', 'date-time': 'timestamp', time: 'time', none: 'varchar' } as const;

/** A day, with a time or without one; a time alone is none. */
export const isDated = (property: PropertyType | undefined): boolean =>
  property?.format === 'date' || property?.format === 'date-time';

/** The property a column was made for, as far as its type tells. */
export const propertyOf = (type: ColumnType): PropertyType => PROPERTIES[type];

const PROPERTIES: Readonly<Record<ColumnType, PropertyType>> = {
  int64: { type: 'integer' },
  float64: { type: 'number' },
  varchar: { type: 'string' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
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

/** Characters of a property's name. */
export const PROPERTY_NAME_MAX = 256;

/** @throws Failure InvalidBody when a record would have no property, or too many. */
export function checkPropertyCount(what: string, count: number): void {
  if (count === 0) throw new Failure('InvalidBody', `${what} names no column`);
  if (count > PROPERTIES_MAX) {
    const rule = `at most ${PROPERTIES_MAX} (PROPERTIES_MAX): what is wider could not be read`;
    throw new Failure('InvalidBody', `${what} has over ${PROPERTIES_MAX} columns, ${rule}`);
  }
}

/**
 * Checks the names of a record's properties: real files have spaces and signs in theirs, so only
 * what can not stand beside another or in an answer is refused.
 * @throws Failure InvalidBody naming the property and the rule; `what` says where the names stand.
 */
export function checkPropertyNames(what: string, names: readonly string[]): void {
  checkPropertyCount(what, names.length);
  const seen = new Set<string>();
  for (const name of names) {
    const fault = nameFault(name);
    if (fault !== undefined) throw new Failure('InvalidBody', `${what} has ${fault}`);
    // SQL compares names without case, so two that differ only in case can not stand side by side.
    if (seen.has(name.toLowerCase())) {
      throw new Failure('InvalidBody', `${what} names column ${name} twice`);
    }
    seen.add(name.toLowerCase());
  }
}

function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'an empty column name';
  if (name.length > PROPERTY_NAME_MAX)
    return `a column name of over ${PROPERTY_NAME_MAX} characters`;
  if (/\p{Cc}/u.test(name)) return 'a control character in a column name';
  // DuckDB's own name for a record's place in its file.
  if (name.toLowerCase() === 'file_row_number') return 'the reserved name file_row_number';
  return isReserved(name)
    ? `column ${name}, which begins with the reserved prefix _system`
    : undefined;
}
