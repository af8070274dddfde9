// Infers types from values. Inference is monotone: more values can only widen a type, never narrow it.
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import {
  type DateOrder,
  type DateSpelling,
  dateFormatOf,
  detectDates,
  findNumericSpelling,
  hasNanoseconds,
} from './dateFormats.ts';
import { DIGITS_MAX } from './exactText.ts';
import { isMissing } from './missing.ts';
import { type NumberSpelling, tallyNumbers, numberVerdict } from './numberFormats.ts';

/** 18 digits always fit 64 bits; a leading zero means an identifier, such as a CIK. */
const INTEGER = /^[+-]?(?:0|[1-9]\d{0,17})$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?$/;
const LEADING_ZERO = /^[+-]?0\d/;
/** 12345E107 may be a code, except beside numbers with a point or a signed exponent. */
const EXPONENT_CODE = /^\d+[eE]\d+$/;
const REAL = /\.|[eE][+-]/;
const BOOLEAN = /^(?:true|false)$/i;

/** Characters of a value that is parsed; a longer one is a text regardless of its content. */
const VALUE_CHARACTERS_MAX = 1_000;

export interface Inferred {
  readonly property: PropertyType;
  /** The wider type of a typed column whose values mostly fit `property`. */
  readonly own?: PropertyType;
  /** How the values spell their date, if they are dates. */
  readonly spelling: DateSpelling | undefined;
  /** How digits would spell a date, where one is expected. */
  readonly numeric: DateSpelling | undefined;
  /** How the numbers are written, if a cast would not read them. */
  readonly number?: NumberSpelling;
  /** Some of the texts mean no value (missing.ts). */
  readonly missing?: true;
  /** The values can be read in two ways without deciding between them; the whole file may decide. */
  readonly open?: 'order' | 'number';
}

const TEXT: Inferred = { property: { type: 'string' }, spelling: undefined, numeric: undefined };

const plain = (type: PropertyType['type']): Inferred => ({ ...TEXT, property: { type } });

/**
 * The narrowest type of all values; empty ones are ignored; without any value it is a string.
 * @param nulls texts that mean no value, if they are set
 */
export function inferType(
  values: readonly string[],
  order?: DateOrder,
  nulls?: readonly string[],
): Inferred {
  const filled = values.filter((value) => value !== '');
  if (filled.some(({ length }) => length > VALUE_CHARACTERS_MAX)) return TEXT;
  if (filled.length > 0 && filled.every((value) => BOOLEAN.test(value))) return plain('boolean');
  const cast = castable(filled) ?? inferDates(filled, order);
  if (cast !== undefined) return cast;
  const present = filled.filter((value) => !isMissing(value, nulls));
  if (present.length === filled.length) return inferNumbers(filled) ?? TEXT;
  const inferred = castable(present) ?? inferDates(present, order) ?? inferNumbers(present);
  return inferred === undefined ? TEXT : { ...inferred, missing: true };
}

/** Infers numbers that DuckDB's casts read. */
function castable(values: readonly string[]): Inferred | undefined {
  if (values.length === 0) return undefined;
  const type = isEach(values, INTEGER) ? 'integer' : 'number';
  if (type === 'number' && !isEach(values, NUMBER)) return undefined;
  if (values.some((value) => LEADING_ZERO.test(value))) return undefined;
  const numeric = findNumericSpelling(values);
  if (values.some(isLongNumber) || (type === 'number' && !values.every(fitsDouble))) {
    return { ...TEXT, numeric };
  }
  const areCodes = values.some((value) => EXPONENT_CODE.test(value)) && !values.some(isReal);
  return areCodes ? { ...TEXT, open: 'number' } : { ...plain(type), numeric };
}

/** Whether a number cannot be a code: it has a point, or a sign in its exponent. */
const isReal = (value: string): boolean => REAL.test(value) && NUMBER.test(value);

/** Whether any double keeps the digits. */
const isShort = (value: string): boolean => value.length <= DIGITS_MAX && !/e/i.test(value);

/** Whether a double keeps all digits of a number. */
export const fitsDouble = (value: string): boolean =>
  isShort(value) || significant(value) === significant(String(Number(value)));

/** Digits between leading and trailing zeros, without the exponent. */
function significant(value: string): string {
  const exponent = value.toLowerCase().indexOf('e');
  const digits = value.slice(0, exponent < 0 ? value.length : exponent).replaceAll(/\D/g, '');
  let [from, to] = [0, digits.length];
  while (digits[from] === '0') from += 1;
  while (to > from && digits[to - 1] === '0') to -= 1;
  return digits.slice(from, to);
}

const isEach = (values: readonly string[], pattern: RegExp): boolean =>
  values.every((value) => pattern.test(value));

function inferDates(values: readonly string[], order: DateOrder | undefined): Inferred | undefined {
  const verdict = detectDates(values, order);
  if (verdict === undefined) return undefined;
  return typeof verdict === 'string' ? { ...TEXT, open: 'order' } : inferredDates(verdict);
}

export const inferredDates = (spelling: DateSpelling): Inferred => ({
  property: { type: 'string', format: dateFormatOf(spelling) },
  spelling,
  numeric: undefined,
});

function inferNumbers(values: readonly string[]): Inferred | undefined {
  const tally = values.length === 0 ? undefined : tallyNumbers(values);
  const verdict = tally === undefined ? undefined : numberVerdict(tally);
  if (verdict === 'ambiguous') return { ...TEXT, open: 'number' };
  return verdict === undefined ? undefined : inferredNumbers(verdict);
}

export const inferredNumbers = (number: NumberSpelling): Inferred => ({
  ...plain(number.whole ? 'integer' : 'number'),
  number,
});

/** The type of JSON values: their own, or the type that their texts spell. */
export function inferJsonType(
  values: readonly unknown[],
  order?: DateOrder,
  nulls?: readonly string[],
): Inferred {
  const filled = values.filter((value) => value !== null && value !== undefined && value !== '');
  if (filled.some((value) => typeof value === 'object')) {
    const arrays = filled.every((value) => Array.isArray(value));
    return plain(arrays ? 'array' : 'object');
  }
  // 1e400 is a valid JSON number that JavaScript parses as infinity.
  const isNumber = (value: unknown): boolean =>
    typeof value === 'number' && !Number.isFinite(value);
  if (filled.length > 0 && filled.every(isNumber)) return { ...plain('number'), missing: true };
  const inferred = inferType(filled.map(String), order, nulls);
  // Texts that look like numbers stay texts: a JSON writer distinguishes them.
  const texts = filled.filter((value) => typeof value === 'string');
  if (texts.length === 0 || inferred.spelling !== undefined || inferred.open === 'order') {
    return inferred;
  }
  const numbers = texts.length < filled.length && texts.every((text) => isMissing(text, nulls));
  return numbers && inferred.number === undefined ? inferred : TEXT;
}

/**
 * Types with dates where they are expected, which digits may spell: the mapped date, or an integer with the
 * name of a date that spells one in every record.
 */
export function withExpectedDates(
  columns: readonly { readonly name: string; readonly inferred: Inferred }[],
  mapping: ColumnMapping | undefined,
): Readonly<Record<string, PropertyType>> {
  return Object.fromEntries(
    columns.map(({ name, inferred }) => {
      const named = DATE_NAMES.includes(name.toLowerCase());
      const isExpected = mapping === undefined ? named : mapping.date === name;
      if (!isExpected || inferred.numeric === undefined) return [name, inferred.property];
      return [name, { type: 'string', format: dateFormatOf(inferred.numeric) }];
    }),
  );
}

/** Whether a number has too many digits for any type: it is an identifier, which must be kept unchanged. */
const isLongNumber = (value: string): boolean => /^[+-]?\d{19,400}$/.test(value);

/** The next wider type, for a value that does not fit; text is the widest. */
export function widen(property: PropertyType, value: string): PropertyType {
  if (property.type === 'array') return { type: 'object' };
  if (property.format === 'date-time' && hasNanoseconds(value)) {
    return { type: 'string', format: 'date-time-ns' };
  }
  const number = property.type === 'integer' && isReal(value) && !LEADING_ZERO.test(value);
  return number ? { type: 'number' } : { type: 'string' };
}

/** Names of properties that are likely to be the date of a record. */
export const DATE_NAMES = ['date', 'datetime', 'timestamp', 'time', 'month', 'day'];
