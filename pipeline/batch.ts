// From a relation to one sorted Parquet file of valid records, each index value once.
//
// The fast way is one COPY: read_csv types the columns in parallel and keeps the lines it rejects,
// the sort makes repeats neighbours, and one streaming pass proves that there are none. Only when
// there are (or a required value is missing) the exact way numbers the records, which is what tells
// first from last and names the record that is at fault.
import { join } from 'node:path';
import { type Column, type ColumnType, CREATED_COLUMN, UPDATED_COLUMN } from '../store/columns.ts';
import { isoTime } from '../store/clock.ts';
import { identifier, literal } from '../store/duckdb/instance.ts';
import type { DuckDbPool } from '../store/duckdb/pool.ts';
import type { Row } from '../store/duckdb/protocol.ts';
import { Failure, isDiskFull, reasonOf, toldFull } from '../store/failure.ts';
import { type Reject, REJECTS_KEPT_MAX } from '../store/jobs.ts';
import { newUuid } from '../store/random.ts';
import { copyTable, type FileStats, fileStats } from './parquetFile.ts';
import {
  fromClause,
  INDEX_BYTES_MAX,
  misfit,
  MISFIT,
  MISFIT_MARK,
  RECORD_TOO_LARGE,
  recordFaults,
  rejectStatements,
  type Relation,
  valueOf,
} from './relation.ts';
import { REPEATS_SHARE_MAX, withoutRepeats } from './repeats.ts';
import { lacksIndex, orderBy, repeatsStatement, type UniqueIndex } from './uniqueIndex.ts';

interface BatchRequest {
  readonly relation: Relation;
  readonly columns: readonly Column[];
  readonly index: UniqueIndex;
  readonly duplicates: 'ignore' | 'replace';
  readonly nowMs: number;
}

/** Where a batch is made: a child, a folder of its own, and who is told of progress. */
export interface Workbench {
  readonly pool: DuckDbPool;
  readonly folder: string;
  readonly deadlineMs: number;
  readonly onProgress: (percent: number) => void;
  readonly signal?: AbortSignal;
}

export interface Batch {
  readonly path: string;
  readonly stats: FileStats;
  readonly invalid: number;
  readonly rejects: readonly Reject[];
  /** Records of the batch that another one of the batch took the place of. */
  readonly duplicates: number;
}

/** The batch, or the names of columns whose values do not fit the types that were guessed. */
type Attempt =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'misfit'; readonly misfits: readonly Misfit[] };

/** A column whose guessed type a value does not fit, and the first record that shows it. */
interface Misfit {
  readonly column: string;
  readonly line: number;
  readonly value: string;
}

/** With `guessed` types a misfit is told, to be widened; otherwise it rejects its record. */
export async function makeBatch(
  request: BatchRequest,
  bench: Workbench,
  guessed: boolean,
): Promise<Attempt> {
  const fast = await fastBatch(request, bench, guessed);
  if (guessed && fast.misfits.length > 0) return { kind: 'misfit', misfits: fast.misfits };
  const { batch, repeats } = fast;
  if (batch === undefined) return { kind: 'batch', batch: await exactBatch(request, bench) };
  if (repeats === 0) return { kind: 'batch', batch };
  const few = repeats <= batch.stats.records * REPEATS_SHARE_MAX && batch.invalid === 0;
  const once = few ? dropRepeats(request, batch, bench) : exactBatch(request, bench);
  return { kind: 'batch', batch: await once };
}

/** Only for a batch without invalid records: reading it again must meet the same ones. */
async function dropRepeats(request: BatchRequest, batch: Batch, bench: Workbench): Promise<Batch> {
  const { relation, columns, index, duplicates } = request;
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const source = `SELECT ${selection(request, true)} FROM ${fromClause(relation, columns, true)}`;
  const keep = duplicates === 'ignore' ? 'first' : 'last';
  const repeated = { sorted: batch.path, source, columns, index, keep } as const;
  const rows = await askEach(bench, relation, withoutRepeats(repeated, bench.folder, path));
  const stats = fileStats(rows.at(-1) ?? []);
  return { ...batch, path, stats, duplicates: batch.stats.records - stats.records };
}

interface Fast {
  readonly misfits: readonly Misfit[];
  /** Undefined when only the exact way can tell which records to keep. */
  readonly batch: Batch | undefined;
  /** Records of the batch whose index value another one has. */
  readonly repeats: number;
}

async function fastBatch(request: BatchRequest, bench: Workbench, guessed: boolean): Promise<Fast> {
  const { relation, columns, index } = request;
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const query = `SELECT ${selection(request, true)}
    FROM ${fromClause(relation, columns, true)}${orderBy(index)}`;
  const rejecting = relation.kind === 'csv' ? rejectStatements(REJECTS_KEPT_MAX) : [];
  const repeats = index.columns.length === 0 ? [] : [repeatsStatement(path, index)];
  try {
    const copy = copyTable(query, path, columns);
    const rows = await ask(bench, relation, [copy, ...rejecting, ...repeats]);
    const stats = fileStats(rows[0] ?? []);
    const [counted, listed, cast] = rejecting.length === 0 ? [] : rows.slice(1);
    const repeated = repeats.length === 0 ? 0 : Number(rows.at(-1)?.[0]?.['repeats']);
    const batch = {
      path,
      stats,
      invalid: Number(counted?.[0]?.['lines'] ?? 0),
      rejects: (listed ?? []).map((row) => lineReject(row, request)),
      duplicates: 0,
    };
    const misfits = (cast ?? []).map(castMisfit);
    const lacking = lacksIndex(stats, index);
    return { misfits, batch: lacking ? undefined : batch, repeats: repeated };
  } catch (error) {
    if (!reasonOf(error).includes(MISFIT_MARK)) throw error;
    const misfits = guessed ? await findMisfits(request, bench) : [];
    return { misfits, batch: undefined, repeats: 0 };
  }
}

/** read_csv's own sentence holds the value: `Could not convert string "x" to 'BIGINT'`. */
const castMisfit = (row: Row): Misfit => ({
  column: String(row['column']),
  line: Number(row['line']),
  value: /string "(.*?)" to /s.exec(String(row['message']))?.[1] ?? '',
});

/** Every column with a misfit, by one pass over the file. */
async function findMisfits(request: BatchRequest, bench: Workbench): Promise<readonly Misfit[]> {
  const { relation, columns } = request;
  const tests = columns.flatMap((column) => {
    const condition = misfit(relation, column);
    return condition === undefined ? [] : [{ name: column.name, condition }];
  });
  if (tests.length === 0) return [];
  const terms = tests.flatMap(({ name, condition }, at) => [
    `min(${NUMBER}) FILTER (WHERE ${condition}) AS n${at}`,
    `arg_min(CAST(${identifier(name)} AS VARCHAR), ${NUMBER}) FILTER (WHERE ${condition}) AS v${at}`,
  ]);
  const numbered = `(SELECT *, row_number() OVER () AS ${NUMBER} FROM
    ${fromClause(relation, columns, false)})`;
  const [found] = await ask(bench, relation, [`SELECT ${terms.join(', ')} FROM ${numbered}`]);
  const row = found?.[0] ?? {};
  return tests.flatMap(({ name }, at) =>
    row[`n${at}`] === null || row[`n${at}`] === undefined
      ? []
      : [
          {
            column: name,
            line: lineOf(Number(row[`n${at}`]), relation, []),
            value: String(row[`v${at}`]),
          },
        ],
  );
}

/** Numbers the records, then drops the faulty ones and all but one of each index value. */
async function exactBatch(request: BatchRequest, bench: Workbench): Promise<Batch> {
  const { relation, columns } = request;
  const staging = join(bench.folder, `${newUuid()}.parquet`);
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const from = fromClause(relation, columns, false);
  const numbered = `SELECT row_number() OVER () AS ${NUMBER}, * FROM
    (SELECT ${faultOf(request)} AS ${FAULT}, ${selection(request, false)} FROM ${from})`;
  const rejecting = relation.kind === 'csv' ? rejectStatements(REJECTS_KEPT_MAX) : [];
  const stage = `COPY (${numbered}) TO ${literal(staging)} (${STAGED})`;
  const staged = await ask(bench, relation, [stage, ...rejecting]);
  const [counted, listed] = staged.slice(1);
  const read = `read_parquet(${literal(staging)})`;
  const sorted = join(bench.folder, `${newUuid()}.parquet`);
  const [tallied, faulty, , copied] = await askEach(bench, relation, [
    `SELECT count(*) AS records, count(${FAULT}) AS faulty FROM ${read}`,
    `SELECT ${NUMBER} AS n, ${FAULT} AS error FROM ${read} WHERE ${FAULT} IS NOT NULL
      ORDER BY 1 LIMIT ${REJECTS_KEPT_MAX}`,
    `COPY (${sortedRecords(request, read)}) TO ${literal(sorted)} (${STAGED})`,
    copyTable(survivors(request, `read_parquet(${literal(sorted)})`), path, columns),
  ]);
  const stats = fileStats(copied ?? []);
  const faults = Number(tallied?.[0]?.['faulty']);
  const unread = (listed ?? []).map((row) => lineReject(row, request));
  const missing = (faulty ?? []).map((row) => ({
    line: lineOf(Number(row['n']), relation, unread),
    error: String(row['error']),
  }));
  return {
    path,
    stats,
    invalid: Number(counted?.[0]?.['lines'] ?? 0) + faults,
    rejects: [...unread, ...missing].sort((a, b) => a.line - b.line).slice(0, REJECTS_KEPT_MAX),
    duplicates: Number(tallied?.[0]?.['records']) - faults - stats.records,
  };
}

const NUMBER = '_system_number';
const FAULT = '_system_fault';

/** How the steps between are kept: cheap to write and to read again. */
const STAGED = 'FORMAT parquet, COMPRESSION lz4_raw';

/** The valid records in the order of the index; of equal ones, the one to keep comes first. */
function sortedRecords({ index, duplicates }: BatchRequest, read: string): string {
  const order = duplicates === 'ignore' ? 'ASC' : 'DESC';
  const terms = [...index.terms, `${NUMBER} ${order}`];
  return `SELECT * FROM ${read} WHERE ${FAULT} IS NULL ORDER BY ${terms.join(', ')}`;
}

/** The first record of each index value. `lag` over the file's order streams: memory stays flat. */
function survivors({ columns, index }: BatchRequest, read: string): string {
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  if (index.terms.length === 0) return `SELECT ${list} FROM ${read}`;
  const before = index.terms.map((term, at) => `lag(${term}) OVER () AS _system_before${at}`);
  const differs = index.terms.map((term, at) => `${term} IS DISTINCT FROM _system_before${at}`);
  return `SELECT ${list} FROM (SELECT *, ${before.join(', ')} FROM ${read})
    WHERE ${differs.join(' OR ')}`;
}

/** Why a record is refused, as an expression; null for a good one. */
function faultOf({ relation, columns, index }: BatchRequest): string {
  const known = new Set(relation.columns.map(({ name }) => name));
  const required = index.columns.filter(({ name }) => known.has(name));
  const absent = required.map(({ name, type }) => {
    const empty = type === 'varchar' ? ` OR ${identifier(name)} = ''` : '';
    const text =
      relation.kind !== 'parquet' && type !== 'varchar'
        ? valueOfName(name, relation, columns)
        : identifier(name);
    const long =
      type === 'varchar'
        ? ` WHEN strlen(${text}) > ${INDEX_BYTES_MAX} THEN ${literal(longError(name))}`
        : '';
    return `WHEN ${text} IS NULL${empty} THEN ${literal(requiredError(name))}${long}`;
  });
  const misfits = columns.flatMap((column) => {
    const condition = misfit(relation, column);
    return condition === undefined
      ? []
      : [`WHEN ${condition} THEN ${literal(typeError(column.name, column.type))}`];
  });
  const cases = [...recordFaults(relation, columns), ...misfits, ...absent];
  return cases.length === 0 ? 'CAST(NULL AS VARCHAR)' : `CASE ${cases.join(' ')} END`;
}

function valueOfName(name: string, relation: Relation, columns: readonly Column[]): string {
  const column = columns.find((item) => item.name === name);
  return column === undefined ? identifier(name) : valueOf(relation, column, false);
}

const requiredError = (name: string): string =>
  `validation failed: should have required property '${name}'`;

const longError = (name: string): string =>
  `validation failed: property '${name}' should have at most ${INDEX_BYTES_MAX} bytes`;

const typeError = (name: string, type: ColumnType): string =>
  `validation failed: property '${name}' should be ${TYPE_WORDS[type]}`;

/** Column types in the words of JSON schema, which owners write. */
const TYPE_WORDS: Readonly<Record<ColumnType, string>> = {
  int64: 'integer',
  float64: 'number',
  varchar: 'string',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date-time',
  json: 'object or array',
};

/** The select list: the owner's properties from the file, the system's from this run. */
function selection({ relation, columns, index, nowMs }: BatchRequest, strict: boolean): string {
  // Pushed records bring the time at which they were written.
  const told = new Set(relation.columns.map(({ name }) => name));
  const now = `TIMESTAMP ${literal(isoTime(nowMs).slice(0, -1))}`;
  const system = new Set<string>([UPDATED_COLUMN, CREATED_COLUMN]);
  return columns
    .map((column) => {
      const own = !system.has(column.name) || told.has(column.name);
      const value = own ? valueOf(relation, column, strict) : now;
      const indexed = strict && column.type === 'varchar' && index.columns.includes(column);
      return `${indexed ? shortText(value) : value} AS ${identifier(column.name)}`;
    })
    .join(', ');
}

/** Too long a text of the index is an error: the exact way says in which record. */
const shortText = (value: string): string =>
  `CASE WHEN strlen(${value}) > ${INDEX_BYTES_MAX} THEN ${MISFIT} ELSE ${value} END`;

function lineReject(row: Row, { columns }: BatchRequest): Reject {
  const line = Number(row['line']);
  const name = String(row['column']);
  const column = columns.find((item) => item.name === name);
  if (row['type'] === 'CAST' && column !== undefined) {
    return { line, error: typeError(name, column.type) };
  }
  if (row['type'] === 'LINE SIZE OVER MAXIMUM') return { line, error: RECORD_TOO_LARGE };
  return { line, error: `validation failed: ${String(row['message']).split('\n')[0]}` };
}

/**
 * Line of the n-th record that was read. Lines count records, as read_csv counts them: the header
 * is line 1, and a line break inside quotes begins no line.
 */
function lineOf(n: number, relation: Relation, unread: readonly Reject[]): number {
  if (relation.kind !== 'csv') return n;
  return unread.reduce((line, reject) => (reject.line <= line ? line + 1 : line), n + 1);
}

/** Each statement on an instance of its own: the memory of one is gone before the next begins. */
async function askEach(
  bench: Workbench,
  relation: Relation,
  statements: readonly string[],
): Promise<readonly (readonly Row[])[]> {
  const rows: (readonly Row[])[] = [];
  for (const statement of statements) {
    rows.push((await ask(bench, relation, [statement]))[0] ?? []);
  }
  return rows;
}

async function ask(
  bench: Workbench,
  relation: Relation,
  statements: readonly string[],
): Promise<readonly (readonly Row[])[]> {
  try {
    return await bench.pool.rows({
      files: [relation.path],
      folder: bench.folder,
      statements,
      deadlineMs: bench.deadlineMs,
      onProgress: bench.onProgress,
      ...(bench.signal === undefined ? {} : { signal: bench.signal }),
    });
  } catch (error) {
    if (isDiskFull(error)) throw toldFull(error);
    if (!(error instanceof Failure) || error.type !== 'SystemError') throw error;
    throw new Failure('InvalidBody', withoutPaths(reasonOf(error), relation, bench));
  }
}

/** DuckDB's sentence for a person: without its stack and without the folders of this machine. */
function withoutPaths(text: string, relation: Relation, bench: Workbench): string {
  if (/^(INTERNAL|Invalid) Error|TProtocolException|Stack Trace/.test(text)) {
    return `the body could not be read: its ${relation.kind} is damaged`;
  }
  return text.replaceAll(relation.path, 'the body').replaceAll(bench.folder, '');
}
