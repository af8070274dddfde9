// Types from values. Inference is monotone: more values can only widen a type, never narrow it.
import type { PropertyType } from '../store/columns.ts';
import type { ColumnMapping, RecordSchema } from '../store/datasets.ts';
import {
  type DateOrder,
  type DateSpelling,
  dateSpellingOf,
  numericSpellingOf,
} from './dateFormats.ts';

/** 18 digits always fit 64 bits; a leading zero means an identifier, such as a CIK. */
const INTEGER = /^[+-]?(?:0|[1-9]\d{0,17})$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const LEADING_ZERO = /^[+-]?0\d/;
const BOOLEAN = /^(?:true|false)$/i;

/** Characters of a value that is looked at; a longer one is a text, whatever it spells. */
const LOOKED_AT_MAX = 1_000;

export interface Inferred {
  readonly property: PropertyType;
  /** How the values spell their date, when it is one. */
  readonly spelling: DateSpelling | undefined;
  /** How its digits spell a date, should one be wanted there. */
  readonly numeric: DateSpelling | undefined;
}

const TEXT: Inferred = { property: { type: 'string' }, spelling: undefined, numeric: undefined };

/** The narrowest type of all values; empty ones say nothing; none at all is a string. */
export function inferType(values: readonly string[], order?: DateOrder): Inferred {
  const told = values.filter((value) => value !== '');
  if (told.some(({ length }) => length > LOOKED_AT_MAX)) return TEXT;
  const all = (pattern: RegExp): boolean => told.length > 0 && told.every((v) => pattern.test(v));
  const plain = (type: PropertyType['type']): Inferred => ({
    property: { type },
    spelling: undefined,
    numeric: undefined,
  });
  if (all(BOOLEAN)) return plain('boolean');
  if (all(INTEGER)) return { ...plain('integer'), numeric: numericSpellingOf(told) };
  if (all(NUMBER) && !told.some((value) => LEADING_ZERO.test(value))) {
    return { ...plain('number'), numeric: numericSpellingOf(told) };
  }
  const spelling = dateSpellingOf(told, order);
  if (spelling === undefined) return plain('string');
  const format = spelling.time ? 'date-time' : 'date';
  return { property: { type: 'string', format }, spelling, numeric: undefined };
}

/** The type of JSON values: their own, or what their texts spell. */
export function inferJsonType(values: readonly unknown[], order?: DateOrder): Inferred {
  const told = values.filter((value) => value !== null && value !== undefined && value !== '');
  if (told.some((value) => typeof value === 'object')) {
    const arrays = told.every((value) => Array.isArray(value));
    const property: PropertyType = { type: arrays ? 'array' : 'object' };
    return { property, spelling: undefined, numeric: undefined };
  }
  const inferred = inferType(told.map(String), order);
  // Texts that look like numbers stay texts: whoever writes JSON says which is which.
  const texts = told.some((value) => typeof value === 'string');
  if (!texts || inferred.spelling !== undefined) return inferred;
  return { ...inferred, property: { type: 'string' } };
}

/**
 * Where a date is wanted, digits may spell it: the mapped date, or an integer that is named like
 * one and spells one in every record.
 */
export function wantedDates(
  columns: readonly { readonly name: string; readonly inferred: Inferred }[],
  mapping: ColumnMapping | undefined,
): Readonly<Record<string, PropertyType>> {
  return Object.fromEntries(
    columns.map(({ name, inferred }) => {
      const named = DATE_NAMES.includes(name.toLowerCase());
      const wanted = mapping === undefined ? named : mapping.date === name;
      if (!wanted || inferred.numeric === undefined) return [name, inferred.property];
      const format = inferred.numeric.time ? 'date-time' : 'date';
      return [name, { type: 'string', format }];
    }),
  );
}

/** The next wider type, for a value further down that does not fit: nothing is wider than text. */
export function widen(property: PropertyType): PropertyType {
  if (property.type === 'array') return { type: 'object' };
  return property.type === 'integer' ? { type: 'number' } : { type: 'string' };
}

/** Names of properties that are likely to be the date of a record. */
export const DATE_NAMES = ['date', 'datetime', 'timestamp', 'time', 'month', 'day'];

/** A schema whose indexed properties are required and all others may be null (SPEC.md). */
export function schemaOf(
  properties: Readonly<Record<string, PropertyType>>,
  mapping: ColumnMapping,
): RecordSchema {
  const required = [mapping.key, mapping.subkey, mapping.date].filter((name) => name !== undefined);
  return { type: 'object', properties, required };
}
