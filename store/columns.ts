// The types a dataset's columns may have: JSON-schema words outside, DuckLake words in the
// catalog, DuckDB words in SQL. One table, so that they can't drift apart.
import { Failure } from './failure.ts';

/** Type of a property as its owner states it (INTERFACE.md 3.3). */
export interface PropertyType {
  readonly type: 'number' | 'integer' | 'string' | 'boolean' | 'object' | 'array';
  readonly format?: 'date' | 'date-time';
}

/** DuckLake column types that we write (DuckLake 1.0, "Data Types"). */
export type ColumnType =
  'int64' | 'float64' | 'varchar' | 'boolean' | 'date' | 'timestamp' | 'json';

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
  json: 'JSON',
};

/** When a record was written: in every file, so that `updated` survives compaction. */
export const UPDATED_COLUMN = '_system_updated';
/** Creation time: the date of the unique index where the owner maps no date. */
export const CREATED_COLUMN = '_system_date';

/** Properties of a record. A wider one is refused: past it, Parquet footers cost more than rows. */
export const PROPERTIES_MAX = 10_000;
const NAME = /^[A-Za-z0-9_]{1,128}$/;

export function columnTypeOf(property: PropertyType): ColumnType {
  if (property.type === 'integer') return 'int64';
  if (property.type === 'number') return 'float64';
  if (property.type === 'boolean') return 'boolean';
  if (property.type === 'object' || property.type === 'array') return 'json';
  if (property.format === 'date') return 'date';
  return property.format === 'date-time' ? 'timestamp' : 'varchar';
}

/** The property a column was made for, as far as its type tells. */
export const propertyOf = (type: ColumnType): PropertyType => PROPERTIES[type];

const PROPERTIES: Readonly<Record<ColumnType, PropertyType>> = {
  int64: { type: 'integer' },
  float64: { type: 'number' },
  varchar: { type: 'string' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
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

export const isReserved = (name: string): boolean => /^_system/i.test(name);
