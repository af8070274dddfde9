// A file as a relation: how DuckDB reads it, and how each dataset property is derived from it.
import { readCsv } from './readCsv.ts';
import {
  type Column,
  isDateType,
  isExactNumber,
  isNumberType,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import type { DateSpelling } from './dateFormats.ts';
import { buildDate, type DateType, evaluateOnce } from './dateReading.ts';
import { castText, castTyped } from './exactText.ts';
import type { Inferred } from './infer.ts';
import {
  IS_OBJECT,
  JSON_BYTES_MAX,
  JSON_FORMATS,
  type JsonFraming,
  jsonRecords,
} from './jsonRecords.ts';
import { FAULT_MARK, READ_TYPED, type Spelled } from './jsonSpelling.ts';
import { missingTest } from './missing.ts';
import { constantTerms, type NamedColumn, nameInFile, selectAsProperties } from './namedColumns.ts';
import { nestedJson, type NestedType, spellTime } from './nestedValues.ts';
import { plainNumber } from './numberFormats.ts';
import { symbolExpression } from './symbols.ts';
import { zonedInstant, localOnly } from './zonedTimes.ts';
import type { LineSteps, UnreadLines } from '../bytes/unreadLines.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** A column of the file. */
export interface SourceColumn extends NamedColumn {
  readonly inferred: Inferred;
  /** Set if every value of the file is null or has this spelling, and no record repeats the member. */
  readonly spelled?: Spelled | undefined;
  /** All values of the file were inspected to resolve what the sample left open or guessed wrong. */
  readonly settled?: true;
  /** Its texts are symbols, and stored in their spelling (symbols.ts). */
  readonly symbols?: true;
  /** Its dataset has the property: the type was not inferred from this file. */
  readonly isDeclared?: true;
  /** A column of Parquet that is read as another type, since casts or functions do not accept its own. */
  readonly readAs?: 'text' | 'clock' | 'zoned-clock';
  /** Instants of Parquet that are read as timestamps without a zone. */
  readonly isInstant?: true;
  /** The type of lists or objects of Parquet. */
  readonly nested?: NestedType;
  /** Its times have nanoseconds, and its property stores microseconds: further digits are cut. */
  readonly cutsNanoseconds?: true;
}

export type Relation = {
  readonly path: string;
  readonly columns: readonly SourceColumn[];
  /** Ambiguous readings that were decided, for the log of the load. */
  readonly notes?: readonly string[];
  /** The file has a header and nothing else. */
  readonly empty?: true;
  /** Lines of the file that are not read, and offsets between DuckDB's line numbers and the file's. */
  readonly unread?: UnreadLines;
  readonly lineSteps?: LineSteps;
  /** Zone of times that are texts without an offset; UTC where undefined. */
  readonly zone?: string;
  /** Columns of the file that are left out, by their names in the file. */
  readonly leftOut?: readonly string[];
  /** Columns of the original of a rewritten file, with their properties: `date+minute`. */
  readonly rewritten?: Readonly<Record<string, string>>;
  /** Values that are members of the rows already (`makingOnce`): terms by property. */
  readonly computed?: ReadonlyMap<string, string>;
  /** The exact texts that mean no value, if the load sets them; otherwise those of missing.ts. */
  readonly nulls?: readonly string[];
} & (
  | {
      readonly kind: 'csv';
      readonly delimiter: string;
      /** Lines above the header, or above the first record; none when undefined. */
      readonly skip?: number;
      /** Names of the columns in file order; those of `columns` when undefined. */
      readonly layout?: readonly string[];
      /** The first line is a record. */
      readonly headerless?: true;
      /** Lines end in a line feed; a carriage return is part of a cell. */
      readonly endsInFeeds?: true;
      /** No number of the file has an underscore or a negative exponent, which casts read too widely. */
      readonly hasPlainNumbers?: true;
      /** Checks each number for an exponent, since a cast reads 1e400 as infinity. */
      readonly hasExponents?: true;
    }
  | {
      readonly kind: 'json';
      readonly framing: JsonFraming;
      readonly jsonPath: string;
      /** Values are read with the type of their `spelled`, not as text. */
      readonly typed?: true;
    }
  | { readonly kind: 'parquet' }
);

/**
 * Bytes of one record in the file's spelling: a line of CSV, a JSON object, the texts of a Parquet
 * row (INTERFACE.md 3.8). A larger one is rejected.
 */
export const RECORD_BYTES_MAX = 65_536;
export const RECORD_TOO_LARGE = `validation failed: should have at most ${RECORD_BYTES_MAX} bytes`;

/** Bytes of one text of the unique index (INTERFACE.md 3.8). */
export const INDEX_BYTES_MAX = 1_500;

/** Begins the message of an error that a strict expression raised; the column's name follows. */
export const MISFIT_MARK = 'value does not fit property ';

/**
 * The table function that reads the file. Cells of CSV are texts, since DuckDB's own types accept more than
 * ours (exactText.ts); so are members of JSON unless the relation is typed.
 * @param strict a record that is not a JSON object is an error
 */
export function fromClause(
  relation: Relation,
  targets: readonly Column[],
  strict: boolean,
): string {
  const byName = new Map(targets.map((column) => [column.name, column]));
  const typeOf = (source: SourceColumn): string => {
    const target = byName.get(source.name);
    const typed = target !== undefined && castOf(relation, source, target) === undefined;
    return typed ? sqlType(target.type) : 'VARCHAR';
  };
  const constants = constantTerms(relation.columns, typeOf);
  if (relation.kind === 'parquet') return parquetClause(relation, targets, strict, constants);
  if (relation.kind === 'json') {
    return relation.typed === true
      ? typedJsonClause(relation, targets, constants)
      : jsonClause(relation, targets, strict, constants);
  }
  const names = relation.layout ?? relation.columns.map(({ name }) => name);
  const read = readCsv(relation, names, RECORD_BYTES_MAX);
  // DuckDB looks a rejected line's column up among the used columns: an unused one crashes the engine. As
  // texts these are never null, so this condition uses them and drops nothing.
  const unused = names.filter((name) => !byName.has(name));
  const used = unused.map((name) => `${identifier(name)} IS NOT NULL`);
  const rows = used.length === 0 ? read : `(SELECT * FROM ${read} WHERE ${used.join(' AND ')})`;
  return constants.length === 0 ? rows : `(SELECT *, ${constants.join(', ')} FROM ${rows})`;
}

/**
 * A JSON relation that read_json can read typed; undefined if records are not all spelled like the
 * sample. For 1 M records of 7 members the sorted COPY then takes 1.5 s of processor time, instead of
 * 2.3 s where json_transform creates texts that are cast.
 */
export function typedRelation(
  relation: Relation,
  targets: readonly Column[],
): Relation | undefined {
  // A number would lose digits when it is converted to a text.
  if (targets.some(({ type }) => isExactNumber(type))) return undefined;
  const isSpelled =
    relation.kind === 'json' &&
    relation.nulls === undefined &&
    relation.columns.every(({ spelled }) => spelled !== undefined);
  return isSpelled ? { ...relation, typed: true } : undefined;
}

/** A value that `jsonClause` would read differently is an error, such as 30 February. */
function typedJsonClause(
  relation: Extract<Relation, { kind: 'json' }>,
  targets: readonly Column[],
  constants: readonly string[],
): string {
  const read = targets.flatMap((target) => {
    const source = relation.columns.find(({ name }) => name === target.name);
    return source === undefined || source.constant !== undefined ? [] : [{ source, target }];
  });
  const columns = read.map(({ source, target }) => {
    const typed = castOf(relation, source, target) === undefined;
    return `${literal(nameInFile(source))}: '${typed ? sqlType(target.type) : 'VARCHAR'}'`;
  });
  const rows = `read_json(${literal(relation.path)}, format = '${JSON_FORMATS[relation.framing]}',
    records = true, columns = {${columns.join(', ')}},
    maximum_object_size = ${JSON_BYTES_MAX[relation.framing]})`;
  const sources = read.map(({ source }) => source);
  return selectAsProperties(rows, sources, constants);
}

/** The relation for reading where numbers are not checked for infinity. */
export const withExponents = (relation: Relation): Relation =>
  relation.kind === 'csv' ? { ...relation, hasExponents: true } : relation;

function jsonClause(
  relation: Extract<Relation, { kind: 'json' }>,
  targets: readonly Column[],
  strict: boolean,
  constants: readonly string[],
): string {
  const types = new Map(targets.map(({ name, type }) => [name, type]));
  const sources = relation.columns.filter(({ constant }) => constant === undefined);
  const members = sources.map((one) => [
    nameInFile(one),
    types.get(one.name) === 'json' ? 'JSON' : 'VARCHAR',
  ]);
  const shape = literal(JSON.stringify(Object.fromEntries(members)));
  const read = `(SELECT json AS ${RECORD}, unnest(json_transform(json, ${shape}))
    FROM ${jsonRecords(relation)}`;
  const named = (rows: string): string => selectAsProperties(rows, sources, constants, RECORD);
  if (!strict) return named(`${read})`);
  // Outside of json_transform: `error` is volatile, and an expression that contains it is evaluated
  // again for each member that is read (1 M records of 7 members: 7.8 s of processor time,
  // instead of 2.3).
  const good = `${IS_OBJECT} AND strlen(json) <= ${RECORD_BYTES_MAX}`;
  return named(`${read} WHERE CASE WHEN ${good} THEN true ELSE ${MISFIT} END)`);
}

/** `strict`: a record that is too large is an error. */
function parquetClause(
  relation: Relation,
  targets: readonly Column[],
  strict: boolean,
  constants: readonly string[],
): string {
  const file = `read_parquet(${literal(relation.path)})`;
  const sources = relation.columns.filter(({ constant }) => constant === undefined);
  const replaced = sources.flatMap((source) => {
    const name = identifier(nameInFile(source));
    return source.readAs === undefined ? [] : [`${readAs(name, source.readAs)} AS ${name}`];
  });
  const rows =
    replaced.length === 0 ? file : `(SELECT * REPLACE (${replaced.join(', ')}) FROM ${file})`;
  const read = selectAsProperties(rows, sources, constants);
  const bytes = parquetBytes(relation, targets);
  if (!strict || bytes === undefined) return read;
  const good = `CASE WHEN ${bytes} > ${RECORD_BYTES_MAX} THEN ${MISFIT} ELSE true END`;
  return `(SELECT * FROM ${read} WHERE ${good})`;
}

function readAs(name: string, type: NonNullable<SourceColumn['readAs']>): string {
  if (type === 'text') return `CAST(${name} AS VARCHAR)`;
  const text = spellTime(name, type);
  return type === 'clock' ? `CAST(${text} AS TIME_NS)` : text;
}

/** Bytes of a row's texts; undefined if it has none, since numbers alone cannot be too many. */
function parquetBytes(relation: Relation, targets: readonly Column[]): string | undefined {
  const names = new Set(relation.columns.map(({ name }) => name));
  const texts = targets.filter(
    ({ name, type }) => names.has(name) && (type === 'varchar' || type === 'json'),
  );
  const terms = texts.map(({ name, type }) => {
    const text = type === 'json' ? `to_json(${identifier(name)})` : identifier(name);
    return `coalesce(strlen(CAST(${text} AS VARCHAR)), 0)`;
  });
  return terms.length === 0 ? undefined : terms.join(' + ');
}

export const MISFIT = `error(${literal(MISFIT_MARK)})`;
const RECORD = '_system_record';
/** The text of a record that is a text. */
const TEXT = `json_extract_string(${RECORD}, '$')`;
const computedName = (name: string): string => identifier(`_system_made_${name}`);

/** CASE branches with the reasons why a whole record is refused; read_csv refuses such lines itself. */
export function recordFaults(relation: Relation, targets: readonly Column[]): readonly string[] {
  const tooLarge = (bytes: string): string =>
    `WHEN ${bytes} > ${RECORD_BYTES_MAX} THEN ${literal(RECORD_TOO_LARGE)}`;
  if (relation.kind === 'json') {
    return [
      `WHEN ${RECORD} IS NULL THEN 'validation failed: should be JSON'`,
      `WHEN starts_with(${TEXT}, ${literal(FAULT_MARK)}) THEN
        'validation failed: ' || substr(${TEXT}, ${FAULT_MARK.length + 1})`,
      `WHEN json_type(${RECORD}) <> 'OBJECT' THEN 'validation failed: should be object'`,
      tooLarge(`strlen(${RECORD})`),
    ];
  }
  const bytes = relation.kind === 'parquet' ? parquetBytes(relation, targets) : undefined;
  return bytes === undefined ? [] : [tooLarge(bytes)];
}

type DateRead = Exclude<DateSpelling['read'], { readonly kind: 'cast' }>;

/** How the file spells dates; undefined if DuckDB's own cast reads them. */
function findSpelling({ numeric, property, spelling }: Inferred): DateRead | undefined {
  const read = (spelling ?? numeric)?.read;
  if (read !== undefined) return read.kind === 'cast' ? undefined : read;
  // Where a date is expected, each text with only one reading is read.
  const text = property.type === 'string' && property.format === undefined;
  return text ? { kind: 'written' } : undefined;
}

/**
 * The property's value from the file's row. `strict` raises an error that names the column if a
 * value does not fit; otherwise such a value is NULL and `misfit` detects it.
 */
export function buildValue(relation: Relation, target: Column, strict: boolean): string {
  const source = relation.columns.find(({ name }) => name === target.name);
  if (source === undefined) return `CAST(NULL AS ${sqlType(target.type)})`;
  const value = readValue(relation, source, target, strict);
  return source.symbols === true && target.type === 'varchar' ? symbolExpression(value) : value;
}

function readValue(
  relation: Relation,
  source: SourceColumn,
  target: Column,
  strict: boolean,
): string {
  const cast = castOf(relation, source, target);
  if (cast === undefined) return identifier(target.name);
  if (!strict || target.type === 'varchar') return `(${cast})`;
  const failed = `error(${literal(`${MISFIT_MARK}${target.name}`)})`;
  return `CASE WHEN ${hasValue(relation, source, target)} THEN coalesce(${cast}, ${failed}) END`;
}

/** SQL test whether the property has a value in the file that does not fit; undefined if none can. */
export function misfitTest(relation: Relation, target: Column): string | undefined {
  const source = relation.columns.find(({ name }) => name === target.name);
  if (source === undefined) return undefined;
  // A text that means no value is null, and fits.
  const cast = target.type === 'varchar' ? undefined : castOf(relation, source, target);
  return cast === undefined
    ? undefined
    : `${hasValue(relation, source, target)} AND ${cast} IS NULL`;
}

/** SQL test whether the file has a value there, other than a text that means no value. */
function hasValue(relation: Relation, { inferred }: SourceColumn, { name }: Column): string {
  const has = hasValueTest(relation, name);
  const { nulls } = relation;
  if (inferred.missing !== true && nulls === undefined) return has;
  return `${has} AND NOT ${missingTest(identifier(name), nulls)}`;
}

/** SQL test whether the file has a value there: empty text is none, unless the property is text itself. */
export function hasValueTest(relation: Relation, column: string): string {
  const name = identifier(column);
  return relation.kind === 'parquet' ? `${name} IS NOT NULL` : `nullif(${name}, '') IS NOT NULL`;
}

/** For a SELECT of all columns and of `computed`: each value is computed once, even if used repeatedly. */
export function computeOnce(relation: Relation, targets: readonly Column[]): Relation {
  const computed = new Map<string, string>();
  for (const target of targets) {
    const source = relation.columns.find(({ name }) => name === target.name);
    const cast = source && castOf(relation, source, target);
    if (cast !== undefined) computed.set(target.name, `${cast} AS ${computedName(target.name)}`);
  }
  return { ...relation, computed };
}

/** The expression of the value; undefined: DuckDB reads it directly. */
function castOf(relation: Relation, source: SourceColumn, target: Column): string | undefined {
  if (relation.computed?.has(target.name) === true) return computedName(target.name);
  const { missing, number } = source.inferred;
  const cell = identifier(target.name);
  const { nulls } = relation;
  const isNamed = nulls !== undefined && nulls.length > 0 && relation.kind !== 'parquet';
  const isMarked = isNamed || (missing === true && target.type !== 'varchar');
  const name = isMarked && target.type !== 'json' ? unlessMissing(cell, nulls) : cell;
  if (relation.kind === 'parquet') return castValue(name, relation, source, target);
  if (relation.kind === 'json' && relation.typed === true && source.spelled !== undefined) {
    if (READ_TYPED[source.spelled].includes(target.type)) return undefined;
  }
  if (isDateType(target.type)) return castDate(name, relation, source, target.type);
  if (target.type === 'varchar') return isNamed ? name : undefined;
  if (target.type === 'json') {
    return relation.kind === 'json' ? undefined : `TRY_CAST(nullif(${name}, '') AS JSON)`;
  }
  const isDeclared = source.isDeclared === true;
  if (isNumberType(target.type) && number !== undefined) {
    const exact = (digits: string): string => castText(digits, target.type, { isDeclared });
    return evaluateOnce(plainNumber(name, number.style), 'digits', exact);
  }
  const { hasExponents = false, hasPlainNumbers } = relation.kind === 'csv' ? relation : {};
  const isPlain = hasPlainNumbers === true && !isMarked;
  return castText(name, target.type, { isDeclared, isPlain, hasExponents });
}

/** A time with nanoseconds as one with microseconds, rounded down. */
const toMicroseconds = (nanoseconds: string): string =>
  evaluateOnce(nanoseconds, 'fine', (fine) => {
    const count = `epoch_ns(${fine})`;
    return `make_timestamp((${count} - (${count} % 1000 + 1000) % 1000) // 1000)`;
  });

const unlessMissing = (cell: string, nulls: Relation['nulls']): string =>
  `CASE WHEN NOT ${missingTest(cell, nulls)} THEN ${cell} END`;

function castDate(
  text: string,
  relation: Pick<Relation, 'zone'>,
  source: Pick<SourceColumn, 'inferred' | 'cutsNanoseconds'>,
  type: DateType,
): string {
  const date = castExactDate(text, relation, source, type);
  if (source.cutsNanoseconds !== true || type !== 'timestamp') return date;
  const nanoseconds = castExactDate(text, relation, source, 'timestamp_ns');
  return `coalesce(${date}, ${toMicroseconds(nanoseconds)})`;
}

function castExactDate(
  text: string,
  { zone }: Pick<Relation, 'zone'>,
  { inferred }: Pick<SourceColumn, 'inferred'>,
  type: DateType,
): string {
  const read = findSpelling(inferred);
  const date = read === undefined ? castText(text, type) : buildDate(text, read, type);
  // A column of nanoseconds may have counts since 1970 beside texts.
  const value =
    type === 'timestamp_ns' && read !== undefined
      ? `coalesce(${castText(text, type)}, ${date})`
      : date;
  if (zone === undefined || type === 'date' || read?.kind === 'epoch') return value;
  return zonedInstant(text, value, read, zone, type);
}

/** The local time of a property, null if the text has an offset; undefined if its times have no zone. */
export function localTime(relation: Relation, target: Column): string | undefined {
  const { zone: _, ...own } = relation;
  const source = relation.columns.find(({ name }) => name === target.name);
  if (source === undefined || !isDateType(target.type) || target.type === 'date') return undefined;
  const { property, spelling } = source.inferred;
  // Parquet has its own times.
  if (relation.kind === 'parquet' && property.format !== undefined && !spelling) return undefined;
  const date = castOf(own, source, target);
  const read = findSpelling(source.inferred);
  if (date === undefined) return undefined;
  const instant = target.type === 'timestamp_ns' ? `CAST(${date} AS TIMESTAMP)` : date;
  return localOnly(identifier(target.name), instant, read);
}

/** Whether the values of a column of a Parquet file are texts. */
export const hasTexts = ({ property: { format, type }, spelling }: Inferred): boolean =>
  type === 'string' && (format === undefined || spelling !== undefined);

/** Converts a typed value of a Parquet file to the property's type without loss. */
function castValue(
  value: string,
  relation: Relation,
  source: SourceColumn,
  target: Column,
): string {
  const { cutsNanoseconds, inferred } = source;
  const { nested } = source;
  if (target.type === 'json') {
    return nested === undefined ? `to_json(${value})` : nestedJson(value, nested);
  }
  if (target.type === 'varchar' && nested !== undefined) {
    return `CAST(${nestedJson(value, nested)} AS VARCHAR)`;
  }
  if (target.type === 'varchar' && source.isInstant === true) return spellTime(value, 'instant');
  if (hasTexts(inferred) && target.type !== 'varchar') {
    return isDateType(target.type)
      ? castDate(value, relation, source, target.type)
      : castText(value, target.type);
  }
  if (cutsNanoseconds === true && target.type === 'timestamp') return toMicroseconds(value);
  return castTyped(value, inferred.own ?? inferred.property, target.type);
}
