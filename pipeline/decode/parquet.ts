// Opens Parquet files, and maps their types to property types.
import { join } from 'node:path';
import {
  checkPropertyNames,
  DIGITS_MAX,
  parseSqlType,
  toProperty as columnProperty,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import { parseDecimal } from '../../store/lake/versions/decimals.ts';
import { Failure, isDiskFull, reasonOf, toDiskFullFailure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import type { Binary } from '../bytes/reading.ts';
import type { Workbench } from '../bytes/workbench.ts';
import type { Relation } from '../values/relation.ts';
import { decode } from './child/decoders.ts';
import {
  footerBytes,
  isFineClock,
  isFineInstant,
  isInt96,
  leavesOf,
  readSchema,
  type SchemaNode,
  type TimesTask,
} from './pages/parquetFooter.ts';
import { hasChecksums, UNREADABLE_PARQUET } from './pages/parquetPages.ts';
import { type LeafKind, parseNested } from '../values/nestedValues.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { BINARY_HINT, notTextSentence, unstorableSentence } from '../bytes/columnFaults.ts';
import { ENCRYPTED_PARQUET } from '../bytes/noData.ts';

/** Maximum column chunks whose checksums are compared. */
const CHUNKS_MAX = 100_000;

const ENCRYPTED = `the body is ${ENCRYPTED_PARQUET}`;
const DAMAGED = `${UNREADABLE_PARQUET}: damaged or cut short`;

/**
 * The relation of a Parquet file.
 * @param binary how its columns of bytes are decoded
 * @throws Failure InvalidBody for a damaged file, or one with types that records cannot have
 */
export async function parquetRelation(
  path: string,
  binary: Binary | undefined,
  bench: Workbench,
): Promise<Relation> {
  const schema = await schemaOf(path, bench);
  for (const node of schema) refuseWideDecimals(node, []);
  const source = await exactTimes(path, schema, bench);
  const described = await describe(source, bench);
  if (await hasChecksums(path)) await checkChunks(path, bench);
  const bytes = described.flatMap((row) =>
    row['column_type'] === 'BLOB' ? [String(row['column_name'])] : [],
  );
  if (binary === undefined || bytes.length === 0) return toRelation(source, described, schema);
  const copy = await decodeBytes(source, bytes, binary, bench);
  const note = `columns of bytes are read as ${binary}: ${bytes.join(', ')}`;
  const relation = toRelation(copy, await describe(copy, bench), schema);
  return { ...relation, notes: [note, ...(relation.notes ?? [])] };
}

/** Bytes of a footer that are parsed in a millisecond, without a separate process. */
const SMALL_BYTES = 32 * 1024;

async function schemaOf(path: string, bench: Workbench): Promise<readonly SchemaNode[]> {
  if ((await footerBytes(path)) <= SMALL_BYTES) return readSchema(path);
  const decoded = await decode({ kind: 'footer', from: path }, bench);
  return decoded.kind === 'schema' ? decoded.schema : [];
}

/** The file, or a copy with times that DuckDB reads to the nanosecond. */
async function exactTimes(
  path: string,
  schema: readonly SchemaNode[],
  bench: Workbench,
): Promise<string> {
  const leaves = schema.flatMap(leavesOf);
  const isFine = leaves.some((leaf) => isFineInstant(leaf) || isFineClock(leaf));
  const source = isFine ? await copyTimes(path, 'nanoseconds', bench) : path;
  return schema.some(isInt96) ? exactInt96(source, schema, bench) : source;
}

async function copyTimes(
  from: string,
  times: TimesTask['times'],
  bench: Workbench,
): Promise<string> {
  const to = join(bench.folder, newUuid());
  await decode({ kind: 'times', times, from, to }, bench);
  return to;
}

/** Days since 1970 of instants in nanoseconds, in 64 bits. */
const FINE_DAYS_MAX = 106_750;
/** The Julian day that begins at noon of 1970-01-01. */
const JULIAN_DAY_1970 = 2_440_588;
const DAY_MICROSECONDS = 86_400_000_000;

/**
 * The file, or a copy with nanoseconds in place of instants of 96 bits, which DuckDB reads to the
 * microsecond.
 * @throws Failure InvalidBody for nanoseconds beside times that no type with nanoseconds holds
 */
async function exactInt96(
  path: string,
  schema: readonly SchemaNode[],
  bench: Workbench,
): Promise<string> {
  const raw = await copyTimes(path, 'int96', bench);
  const described = await describe(raw, bench);
  const names = described.flatMap((row, at) => {
    const node = schema[at];
    return node !== undefined && isInt96(node) ? [String(row['column_name'])] : [];
  });
  const terms = names.flatMap((name, at) => {
    const { days, nanoseconds } = int96Parts(identifier(name));
    const isFar = `abs(${days}) > ${FINE_DAYS_MAX}`;
    return [
      `min(file_row_number) FILTER (WHERE ${nanoseconds} % 1000 <> 0) AS fine${at}`,
      `min(file_row_number) FILTER (WHERE ${isFar}) AS far${at}`,
    ];
  });
  const counts = `SELECT ${terms.join(', ')} FROM read_parquet(${literal(raw)}, file_row_number = true)`;
  const [[row = {}] = []] = await queryParquet([counts], raw, bench);
  const isFine = (at: number): boolean => typeof row[`fine${at}`] !== 'object';
  for (const [at, name] of names.entries()) {
    const far = row[`far${at}`] ?? undefined;
    if (!isFine(at) || far === undefined) continue;
    const what = `column ${name} has nanoseconds in row ${Number(row[`fine${at}`]) + 1}`;
    const beside = `a time outside of the years 1678 to 2261 in row ${Number(far) + 1}`;
    const rule = 'write it in microseconds, or as text';
    throw new Failure('InvalidBody', `${what} and ${beside}, which no type keeps: ${rule}`);
  }
  if (!names.some((_, at) => isFine(at))) return path;
  const times = names.map((name, at) => {
    const { days, nanoseconds } = int96Parts(identifier(name));
    const micros = `make_timestamp(${days} * ${DAY_MICROSECONDS} + ${nanoseconds} // 1000)`;
    const fine = `make_timestamp_ns(${days} * ${DAY_MICROSECONDS}000 + ${nanoseconds})`;
    return `${isFine(at) ? fine : micros} AS ${identifier(name)}`;
  });
  const to = join(bench.folder, newUuid());
  const query = `SELECT * REPLACE (${times.join(', ')}) FROM read_parquet(${literal(raw)})`;
  await queryParquet([`COPY (${query}) TO ${literal(to)} (FORMAT parquet)`], raw, bench);
  return to;
}

/** The two numbers in 12 bytes, of which the last is the first in digits. */
function int96Parts(bytes: string): { readonly days: string; readonly nanoseconds: string } {
  const number = (from: number, count: number): string => {
    const digits = Array.from(
      { length: count },
      (_, at) => `substr(hex(${bytes}), ${2 * (from + count - at) - 1}, 2)`,
    );
    return `CAST('0x' || ${digits.join(' || ')} AS BIGINT)`;
  };
  return { days: `(${number(8, 4)} - ${JULIAN_DAY_1970})`, nanoseconds: number(0, 8) };
}

/** @throws Failure InvalidBody for a decimal that DuckDB would read as a double */
function refuseWideDecimals(
  { children, decimal, name }: SchemaNode,
  above: readonly string[],
): void {
  const path = [...above, name];
  for (const child of children) refuseWideDecimals(child, path);
  if (decimal === undefined || decimal.precision <= DIGITS_MAX) return;
  const type = `decimal(${decimal.precision},${decimal.scale})`;
  const rule = `write it as a decimal of at most ${DIGITS_MAX} digits, or as text`;
  throw new Failure('InvalidBody', `column ${path.join('.')} has type ${type}: ${rule}`);
}

const describe = async (path: string, bench: Workbench): Promise<readonly Row[]> =>
  (await queryParquet([`DESCRIBE SELECT * FROM read_parquet(${literal(path)})`], path, bench))[0] ??
  [];

async function checkChunks(path: string, bench: Workbench): Promise<void> {
  const first =
    'least(data_page_offset, coalesce(nullif(dictionary_page_offset, 0), data_page_offset))';
  const statement = `SELECT path_in_schema AS name, ${first} AS first, total_compressed_size AS bytes
    FROM parquet_metadata(${literal(path)}) ORDER BY 2 LIMIT ${CHUNKS_MAX}`;
  const [rows = []] = await queryParquet([statement], path, bench);
  const chunks = rows.map(({ bytes, first: from, name }) => ({
    column: String(name),
    from: Number(from),
    bytes: Number(bytes),
  }));
  await decode({ kind: 'pages', from: path, chunks }, bench);
}

/** Writes a copy with texts in place of bytes. */
async function decodeBytes(
  path: string,
  names: readonly string[],
  binary: Binary,
  bench: Workbench,
): Promise<string> {
  const rows = `read_parquet(${literal(path)}, file_row_number = true)`;
  const columns = names.map(identifier);
  if (binary === 'text') {
    const bad = columns.map((name) => `${name} IS NOT NULL AND TRY(decode(${name})) IS NULL`);
    const terms = bad.map((test, at) => `min(file_row_number) FILTER (WHERE ${test}) AS r${at}`);
    const [[first = {}] = []] = await queryParquet(
      [`SELECT ${terms.join(', ')} FROM ${rows}`],
      path,
      bench,
    );
    for (const [at, name] of names.entries()) {
      const row = first[`r${at}`] ?? undefined;
      if (row === undefined) continue;
      throw new Failure('InvalidBody', notTextSentence(name, Number(row) + 1));
    }
  }
  const texts = columns.map((name) =>
    binary === 'text' ? `decode(${name}) AS ${name}` : `lower(hex(${name})) AS ${name}`,
  );
  const to = join(bench.folder, newUuid());
  const query = `SELECT * REPLACE (${texts.join(', ')}) FROM read_parquet(${literal(path)})`;
  await queryParquet([`COPY (${query}) TO ${literal(to)} (FORMAT parquet)`], path, bench);
  return to;
}

async function queryParquet(
  statements: readonly string[],
  path: string,
  { below, deadlineMs, folder, pool }: Workbench,
): Promise<readonly (readonly Row[])[]> {
  try {
    // Runs on the instance that the job continues with: to start one takes 10 ms of processor time.
    return await pool.rows({ files: [path], folder, below, statements, deadlineMs });
  } catch (error) {
    if (isDiskFull(error)) throw toDiskFullFailure(error);
    if (error instanceof Failure && error.type !== 'SystemError') throw error;
    throw new Failure('InvalidBody', /encrypt/i.test(reasonOf(error)) ? ENCRYPTED : DAMAGED);
  }
}

function toRelation(
  path: string,
  described: readonly Row[],
  schema: readonly SchemaNode[],
): Relation {
  checkPropertyNames(
    'the file',
    described.map((row) => String(row['column_name'])),
  );
  const columns = described.map((row, at) =>
    toColumn(String(row['column_name']), String(row['column_type']), schema[at]),
  );
  const renamed = columns.flatMap(({ name }, at) => {
    const original = schema[at]?.name ?? name;
    return original === name ? [] : [`${JSON.stringify(original)} is ${name}`];
  });
  const note = `columns without a name, or with that of another, are renamed: ${renamed.join(', ')}`;
  const nested = schema.flatMap((node) =>
    !isInt96(node) && leavesOf(node).some(isInt96) ? [node.name] : [],
  );
  const cut = `times of type INT96 within ${nested.join(', ')} are read to the microsecond`;
  const notes = [...(renamed.length === 0 ? [] : [note]), ...(nested.length === 0 ? [] : [cut])];
  return { kind: 'parquet', path, columns, ...(notes.length === 0 ? {} : { notes }) };
}

type ParquetColumn = Relation['columns'][number];

function toColumn(name: string, type: string, node: SchemaNode | undefined): ParquetColumn {
  const kinds = node === undefined ? [] : leavesOf(node).map(leafKind);
  const [kind] = kinds;
  const isNested = /^(?:STRUCT|MAP)\(|\[\d*\]$/.test(type);
  if (!isNested && (kind === 'clock' || kind === 'zoned-clock')) {
    return { name, inferred: inferredAs(CLOCKS[kind]), readAs: kind };
  }
  const own = OWN.get(type);
  const inferred = inferredAs(propertyOf(type, name));
  const column = { name, inferred: own === undefined ? inferred : { ...inferred, own } };
  if (isNested) return { ...column, nested: parseNested(type, (n) => kinds[n]) };
  if (kind === 'instant') return { ...column, isInstant: true };
  const { format, type: word } = inferred.property;
  const isText = word === 'string' && format === undefined;
  return isText && type !== 'VARCHAR' ? { ...column, readAs: 'text' } : column;
}

const inferredAs = (property: PropertyType): ParquetColumn['inferred'] => ({
  property,
  spelling: undefined,
  numeric: undefined,
});

const CLOCKS = {
  clock: { type: 'string', format: 'time' },
  'zoned-clock': { type: 'string' },
} as const;

function leafKind(node: SchemaNode): LeafKind | undefined {
  if (isFineInstant(node)) return 'instant';
  if (!isFineClock(node)) return undefined;
  return node.logical?.isUtc === true ? 'zoned-clock' : 'clock';
}

/** Types whose values mostly fit a narrower one, which every reader supports. */
const OWN: ReadonlyMap<string, PropertyType> = new Map([
  ['UBIGINT', columnProperty('int128')],
  ['TIMESTAMP_NS', columnProperty('timestamp_ns')],
]);

function propertyOf(type: string, name: string): PropertyType {
  // Nested bytes are refused too: as JSON they would silently become another text.
  if (/\bBLOB\b/.test(type))
    throw refusedType(type, name, type === 'BLOB' ? `: ${BINARY_HINT}` : '');
  if (/\[\d*\]$/.test(type)) return { type: 'array' };
  if (/^(U?(TINY|SMALL|BIG)INT|U?INTEGER)$/.test(type)) return { type: 'integer' };
  if (parseDecimal(type) !== undefined) return columnProperty(parseSqlType(type) ?? 'float64');
  if (/^(FLOAT|DOUBLE|U?HUGEINT)$/.test(type)) return { type: 'number' };
  if (type === 'BOOLEAN') return { type: 'boolean' };
  if (type === 'DATE') return { type: 'string', format: 'date' };
  if (type.startsWith('TIMESTAMP')) return { type: 'string', format: 'date-time' };
  if (type === 'TIME' || type === 'TIME_NS') return { type: 'string', format: 'time' };
  if (/^(STRUCT|MAP)/.test(type)) return { type: 'object' };
  // A time with an offset has no zone that a time of day could keep.
  if (/^(VARCHAR|UUID|TIME WITH TIME ZONE|ENUM.*|JSON)$/.test(type)) return { type: 'string' };
  throw refusedType(type, name, '');
}

const refusedType = (type: string, name: string, hint: string): Failure =>
  new Failure('InvalidBody', `${unstorableSentence(name, type)}${hint}`);
