// Types from values. Inference is monotone: more values can only widen a type, never narrow it.
import type { PropertyType } from '../store/columns.ts';
import type { ColumnMapping, RecordSchema } from '../store/datasets.ts';
import { type DateSpelling, dateSpellingOf } from './dateFormats.ts';

/** 18 digits always fit 64 bits; a leading zero means an identifier, such as a CIK. */
const INTEGER = /^[+-]?(?:0|[1-9]\d{0,17})$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const LEADING_ZERO = /^[+-]?0\d/;
const BOOLEAN = /^(?:true|false)$/i;

export interface Inferred {
  readonly property: PropertyType;
  /** How the values spell their date, when it is one. */
  readonly spelling: DateSpelling | undefined;
}

/** The narrowest type of all values; empty ones say nothing; none at all is a string. */
export function inferType(values: readonly string[]): Inferred {
  const told = values.filter((value) => value !== '');
  const all = (pattern: RegExp): boolean => told.length > 0 && told.every((v) => pattern.test(v));
  const plain = (type: PropertyType['type']): Inferred => ({
    property: { type },
    spelling: undefined,
  });
  if (all(BOOLEAN)) return plain('boolean');
  if (all(INTEGER)) return plain('integer');
  if (all(NUMBER) && !told.some((value) => LEADING_ZERO.test(value))) return plain('number');
  const spelling = dateSpellingOf(told);
  if (spelling === undefined) return plain('string');
  const format = spelling.time ? 'date-time' : 'date';
  return { property: { type: 'string', format }, spelling };
}

/** The next wider type, for a value further down that does not fit: nothing is wider than text. */
export function widen(property: PropertyType): PropertyType {
  return property.type === 'integer' ? { type: 'number' } : { type: 'string' };
}

const KEY_NAMES = ['symbol', 'ticker', 'key', 'act symbol', 'isin', 'figi', 'cusip', 'country'];
const DATE_NAMES = ['date', 'datetime', 'timestamp', 'time', 'month', 'day'];

/** The part each property plays when its owner does not say: by its name, dates also by type. */
export function guessMapping(properties: Readonly<Record<string, PropertyType>>): ColumnMapping {
  const names = Object.keys(properties);
  const named = (wanted: readonly string[], allowed: readonly string[]): string | undefined =>
    wanted.flatMap((word) => allowed.filter((name) => name.toLowerCase() === word))[0];
  const dates = names.filter((name) => properties[name]?.format !== undefined);
  const key = named(
    KEY_NAMES,
    names.filter((name) => properties[name]?.type === 'string'),
  );
  const date = named(DATE_NAMES, dates) ?? dates[0];
  return { ...(key === undefined ? {} : { key }), ...(date === undefined ? {} : { date }) };
}

/** A schema whose indexed properties are required and all others may be null (SPEC.md). */
export function schemaOf(
  properties: Readonly<Record<string, PropertyType>>,
  mapping: ColumnMapping,
): RecordSchema {
  const required = [mapping.key, mapping.subkey, mapping.date].filter((name) => name !== undefined);
  return { type: 'object', properties, required };
}
