// Plans the texts of the SQL endpoint and runs the plans. The parser and the query run in child processes of
// their own, which may be interrupted and killed, so that neither a text nor a query delays another
// caller's series.
import type { LruMap } from 'toad-cache';
import type { DuckDbPool } from '../../../store/duckdb/pool.ts';
import type { Body, BodyFormat, Compression, Optimizer } from '../../../store/duckdb/protocol.ts';
import { BODY_PREFIX } from '../../../store/duckdb/slot.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { FileShapes } from '../../../store/lake/versions/fileShapes.ts';
import type { Files } from '../../../store/files/files.ts';
import { newUuid } from '../../../store/base/random.ts';
import type { DataFile } from '../../../store/lake/versions/lakeRead.ts';
import { withOpenFiles } from '../../../store/lake/versions/tableFiles.ts';
import type { FileAccess } from '../../../store/lake/versions/tableSql.ts';
import { type BoundTable, datasetsOf, withoutRecords, printTable } from '../plan/boundTable.ts';
import { lowerPlan } from '../lower/lowerQuery.ts';
import { toCallerFailure } from '../text/messages.ts';
import { type Printed, printInner, printPlan, type PrintTable } from '../print/printQuery.ts';
import type { SqlAnswers } from './answers.ts';
import { printCounts, catalogRecords, maxReferenceRecords } from './records.ts';
import { minAnswerRows } from './rowMinimum.ts';
import type { Reference } from '../pricing/references.ts';
import type { Level } from '../pricing/sourceColumns.ts';
import type { SelectPlan } from '../plan/selectPlan.ts';
import { type ParameterValues, spell } from '../text/spelling.ts';
import { WIDE_COLUMNS } from '../../plan/seriesSql.ts';

export interface SqlEngine {
  readonly files: Files;
  readonly pool: DuckDbPool;
  readonly shapes: FileShapes;
  /** Plans of recent texts; a plan has no data and no caller. */
  readonly plans: LruMap<SelectPlan>;
  readonly answers: SqlAnswers;
}

/** Limits of one query. */
export interface SqlLimits {
  readonly rowsMax: number;
  readonly deadlineMs: number;
  readonly memoryBytes: number;
  readonly spillBytes: number;
}

interface Caller {
  readonly departure: () => AbortSignal;
}

/** Deadline of the parser: the largest allowed text takes 0.1 s. */
const PARSE_DEADLINE_MS = 5_000;
/** Rows up to which an answer is kept in memory. */
const FEW_ROWS = 5_000;
/** Rows from which an answer is written directly: buffering takes a fifth of the time of a million rows. */
const LONG_ROWS = 100_000;
/** Characters of a text whose plan is cached; longer texts are parsed each time. */
const CACHED_TEXT_MAX = 8_192;

/** @throws Failure InvalidParameter naming the place and what is not part of the subset. */
export async function planSql(
  text: string,
  parameters: ParameterValues,
  engine: SqlEngine,
  caller: Caller,
): Promise<SelectPlan> {
  const key = JSON.stringify([text, parameters]);
  const cached = engine.plans.get(key);
  if (cached !== undefined) return cached;
  const spelled = spell(text, parameters);
  const answer = await engine.pool.rows({
    files: [],
    statements: ['SELECT json_serialize_sql(CAST($1 AS VARCHAR)) AS tree'],
    parameters: [spelled.text],
    deadlineMs: PARSE_DEADLINE_MS,
    signal: caller.departure(),
  });
  const plan = lowerPlan(String(answer[0]?.[0]?.['tree']), spelled);
  if (key.length <= CACHED_TEXT_MAX) engine.plans.set(key, plan);
  return plan;
}

/** A plan with the tables that its caller may read, in the plan's order. */
export interface BoundPlan {
  readonly plan: SelectPlan;
  /** The user's text. */
  readonly source: string;
  readonly tables: readonly BoundTable[];
  /** Each table has the column `_systemRecordProperties`. */
  readonly system: boolean;
  readonly today: string;
  readonly now: string;
}

/**
 * @param asFile whether the body is a file, which the receiver removes
 * @throws Failure InvalidParameter with DuckDB's sentence; TimedOut, TooLarge naming the limit;
 * ChildLost, Busy.
 */
export async function runSql(
  bound: BoundPlan,
  format: BodyFormat,
  engine: SqlEngine,
  limits: SqlLimits,
  caller: Caller,
  asFile: 'never' | 'if long' | 'always',
  compression: Compression = 'none',
): Promise<Body> {
  return withTables(bound, engine, limits, caller, (open, place) => {
    const question = { ...open, ...printBound(bound, place, limits.rowsMax) };
    const name = `${BODY_PREFIX}${newUuid()}`;
    const fileOptions = { name, bytesMax: limits.spillBytes, compression };
    const isLong = Math.min(minAnswerRows(bound), limits.rowsMax) >= LONG_ROWS;
    const few = asFile === 'if long' && !isLong ? { fewRows: FEW_ROWS } : {};
    const file = asFile === 'never' ? {} : { file: { ...fileOptions, ...few } };
    return engine.pool.body({ ...question, ...file }, format);
  });
}

/**
 * Returns name and DuckDB's type of each column of the answer, from empty tables, so that no record is read.
 * @throws as `runSql`.
 */
export async function describeSql(
  filled: BoundPlan,
  engine: SqlEngine,
  limits: SqlLimits,
  caller: Caller,
): Promise<readonly SqlColumn[]> {
  const bound = { ...filled, tables: filled.tables.map(withoutRecords) };
  return withTables(bound, engine, limits, caller, async (open, place) => {
    const columns = await engine.pool.columns({ ...open, ...printBound(bound, place, 0) });
    return columns.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  });
}

/**
 * Counts the records of each reference, in order, in the version that the query reads.
 * @throws Failure as `runSql`
 */
export async function countRecords(
  bound: BoundPlan,
  references: readonly Reference[],
  engine: SqlEngine,
  limits: SqlLimits,
  caller: Caller,
): Promise<readonly number[]> {
  const knownCounts = references.map(catalogRecords);
  const open = references.filter((_, at) => knownCounts[at] === undefined);
  if (open.length === 0) return knownCounts.map(Number);
  const count = (byTests: boolean): Promise<readonly number[]> =>
    withTables(bound, engine, limits, caller, async (request, place) => {
      const tables = (level: Level): PrintTable =>
        tablePrinter({ ...level, system: false, now: bound.now, today: bound.today }, place);
      const { parameters, sql } = printCounts(open, place, tables, bound, byTests);
      const [[row] = []] = await engine.pool.rows({ ...request, statements: [sql], parameters });
      return open.map((_, at) => Number(row?.[`n${at}`]));
    });
  // A condition that can't run outside of its query is ignored: then more records are counted.
  const counted = await count(false).catch((error: unknown) => {
    if (error instanceof Failure && error.type === 'InvalidParameter') return count(true);
    throw error;
  });
  return references.map(
    (one, at) => knownCounts[at] ?? counted[open.indexOf(one)] ?? maxReferenceRecords(one),
  );
}

/** Options of a pool request other than the statement. */
interface Open {
  readonly files: readonly string[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly limits: SqlLimits;
  readonly threads?: number;
  readonly skips?: readonly Optimizer[];
}

/**
 * Reduces threads for wide tables: the first records of an order over 1,000 columns took 450 to 512 MiB with
 * two threads, 320 with one. A query of one dataset has no common sub-plan.
 */
function chooseResources(tables: readonly BoundTable[]): Pick<Open, 'skips' | 'threads'> {
  const datasets = datasetsOf(tables);
  if (!datasets.some(({ table }) => table.columns.length > WIDE_COLUMNS)) return {};
  return { threads: 1, ...(datasets.length > 1 ? {} : { skips: ['common_subplan'] }) };
}

/** Opens all files of a query's tables. @throws Failure as `runSql`. */
export async function withTables<T>(
  { source, tables }: Pick<BoundPlan, 'source' | 'tables'>,
  { files, pool, shapes }: SqlEngine,
  limits: SqlLimits,
  caller: Caller,
  work: (open: Open, place: FileAccess) => Promise<T>,
): Promise<T> {
  const all = filesOf(tables);
  const answer = withOpenFiles(files, all, async (opened) => {
    const { deadlineMs } = limits;
    // Sort the files: equal sets share a warm instance.
    const open = {
      files: [...opened.paths].sort(),
      deadlineMs,
      signal: caller.departure(),
      limits,
      ...chooseResources(tables),
    };
    await shapes.load(all, opened, (statements) => pool.rows({ ...open, statements }));
    return work(open, { pathOf: opened.pathOf, holds: shapes.hasColumns });
  });
  // After opening, since a damaged file is not the query's fault.
  return answer.catch((error: unknown) => {
    const isForeign = datasetsOf(tables).some(({ foreign }) => foreign);
    throw toCallerFailure(error, limits, source, isForeign);
  });
}

export interface SqlColumn {
  readonly name: string;
  /** DuckDB's name of the type. */
  readonly type: string;
}

function printBound(
  bound: BoundPlan,
  place: FileAccess,
  rowsMax: number,
): { readonly statements: readonly string[]; readonly parameters: Printed['parameters'] } {
  const printer = tablePrinter(bound, place);
  const { sql, parameters } = printPlan(bound.plan.query, printer, bound, rowsMax);
  // As a sub-select its columns get distinct names, ignoring case, as in a table or a file.
  return { statements: [`FROM (${sql})`], parameters };
}

/** Returns the printer of a query's tables: datasets as their records, views as their queries. */
export function tablePrinter(
  { now, plan, system, tables, today }: Omit<BoundPlan, 'source'>,
  place: FileAccess,
): PrintTable {
  return (index, bind) => {
    const table = tables[index];
    if (table === undefined) throw new Error(`table ${index} of the plan is not bound`);
    if (table.kind === 'view') {
      const inner = { ...table, system: false, now, today };
      return `(${printInner(table.plan.query, tablePrinter(inner, place), inner, bind)})`;
    }
    const hints = plan.hints.filter((hint) => hint.table === index);
    return printTable(table, hints, { ...place, system }, bind);
  };
}

/** Returns every file of every dataset, though fewer may be read: equal sets share a warm instance. */
const filesOf = (tables: readonly BoundTable[]): readonly DataFile[] =>
  distinct(datasetsOf(tables).flatMap(({ table }) => table.files));

/** Returns each file once, even if its table is named several times. */
const distinct = (files: readonly DataFile[]): readonly DataFile[] => [
  ...new Map(files.map((file) => [file.path, file])).values(),
];
