// The effects behind the SQL door: a text in, a plan out; a plan in, counted bytes out. Parser and
// query run in children of their own, which may be interrupted and killed: neither a text nor a query
// stands before another caller's series.
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
import type { RowPlace } from '../../../store/lake/versions/tableSql.ts';
import { type BoundTable, datasetsOf, emptied, printTable } from '../plan/boundTable.ts';
import { lowerPlan } from '../lower/lowerQuery.ts';
import { told } from '../text/messages.ts';
import { type Printed, printInner, printPlan, type PrintTable } from '../print/printQuery.ts';
import type { SqlAnswers } from './answers.ts';
import { printCounts, recordsKnown, recordsMost } from './records.ts';
import { rowsSure } from './rowsSure.ts';
import type { Reference } from '../reads/references.ts';
import type { Level } from '../reads/leaves.ts';
import type { SelectPlan } from '../plan/selectPlan.ts';
import { type ParameterValues, spell } from '../text/spelling.ts';
import { WIDE_COLUMNS } from '../../plan/seriesSql.ts';

export interface SqlEngine {
  readonly files: Files;
  readonly pool: DuckDbPool;
  readonly shapes: FileShapes;
  /** Plans of the texts that were asked for last; a plan holds no data and no caller. */
  readonly plans: LruMap<SelectPlan>;
  readonly answers: SqlAnswers;
}

/** What one query may take. */
export interface SqlLimits {
  readonly rowsMax: number;
  readonly deadlineMs: number;
  readonly memoryBytes: number;
  readonly spillBytes: number;
}

interface Waiting {
  readonly departure: () => AbortSignal;
}

/** A parser that takes longer is stopped: the largest text that is allowed takes 0.1 s. */
const PARSE_DEADLINE_MS = 5_000;
/** So many rows are an answer in memory, though more were possible. */
const FEW_ROWS = 5_000;
/** So many are written as they come: to keep them first takes a fifth of the time of a million. */
const LONG_ROWS = 100_000;
/** Longer texts are parsed each time: plans are kept by their text. */
const KEPT_TEXT_MAX = 8_192;

/** @throws Failure InvalidParameter naming the place and what is not part of the subset. */
export async function planSql(
  text: string,
  parameters: ParameterValues,
  engine: SqlEngine,
  caller: Waiting,
): Promise<SelectPlan> {
  const key = JSON.stringify([text, parameters]);
  const known = engine.plans.get(key);
  if (known !== undefined) return known;
  const spelled = spell(text, parameters);
  const answer = await engine.pool.rows({
    files: [],
    statements: ['SELECT json_serialize_sql(CAST($1 AS VARCHAR)) AS tree'],
    parameters: [spelled.text],
    deadlineMs: PARSE_DEADLINE_MS,
    signal: caller.departure(),
  });
  const plan = lowerPlan(String(answer[0]?.[0]?.['tree']), spelled);
  if (key.length <= KEPT_TEXT_MAX) engine.plans.set(key, plan);
  return plan;
}

/** A plan with the tables that its caller reads, in the plan's order. */
export interface BoundPlan {
  readonly plan: SelectPlan;
  /** What the user wrote. */
  readonly source: string;
  readonly tables: readonly BoundTable[];
  /** Each table has the column `_systemRecordProperties`. */
  readonly system: boolean;
  readonly today: string;
  readonly now: string;
}

/**
 * @param asFile the body is to be a file, which whoever has it removes
 * @throws Failure InvalidParameter with DuckDB's sentence; TimedOut, TooLarge naming the limit;
 * ChildLost, Busy.
 */
export async function runSql(
  bound: BoundPlan,
  format: BodyFormat,
  engine: SqlEngine,
  limits: SqlLimits,
  caller: Waiting,
  asFile: 'never' | 'if long' | 'always',
  compression: Compression = 'none',
): Promise<Body> {
  return withTables(bound, engine, limits, caller, (open, place) => {
    const question = { ...open, ...printBound(bound, place, limits.rowsMax) };
    const name = `${BODY_PREFIX}${newUuid()}`;
    const wanted = { name, bytesMax: limits.spillBytes, compression };
    const isLong = Math.min(rowsSure(bound), limits.rowsMax) >= LONG_ROWS;
    const few = asFile === 'if long' && !isLong ? { fewRows: FEW_ROWS } : {};
    const file = asFile === 'never' ? {} : { file: { ...wanted, ...few } };
    return engine.pool.body({ ...question, ...file }, format);
  });
}

/**
 * Name and DuckDB's type of each column of the answer, from tables without records: nothing is read,
 * whatever the query would do at once. @throws as `runSql`.
 */
export async function describeSql(
  given: BoundPlan,
  engine: SqlEngine,
  limits: SqlLimits,
  caller: Waiting,
): Promise<readonly SqlColumn[]> {
  const bound = { ...given, tables: given.tables.map(emptied) };
  return withTables(bound, engine, limits, caller, async (open, place) => {
    const columns = await engine.pool.columns({ ...open, ...printBound(bound, place, 0) });
    return columns.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  });
}

/**
 * The number of records of each reference, in their order, in the version that the query reads.
 * @throws Failure as `runSql`
 */
export async function countRecords(
  bound: BoundPlan,
  references: readonly Reference[],
  engine: SqlEngine,
  limits: SqlLimits,
  caller: Waiting,
): Promise<readonly number[]> {
  const known = references.map(recordsKnown);
  const open = references.filter((_, at) => known[at] === undefined);
  if (open.length === 0) return known.map(Number);
  const ask = (byTests: boolean): Promise<readonly number[]> =>
    withTables(bound, engine, limits, caller, async (asked, place) => {
      const tables = (level: Level): PrintTable =>
        tablePrinter({ ...level, system: false, now: bound.now, today: bound.today }, place);
      const { parameters, sql } = printCounts(open, place, tables, bound, byTests);
      const [[row] = []] = await engine.pool.rows({ ...asked, statements: [sql], parameters });
      return open.map((_, at) => Number(row?.[`n${at}`]));
    });
  // What a query outside of its place can not say is left out: more records are counted then.
  const counted = await ask(false).catch((error: unknown) => {
    if (error instanceof Failure && error.type === 'InvalidParameter') return ask(true);
    throw error;
  });
  return references.map((one, at) => known[at] ?? counted[open.indexOf(one)] ?? recordsMost(one));
}

/** What a pool is asked besides the statement. */
interface Open {
  readonly files: readonly string[];
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly limits: SqlLimits;
  readonly threads?: number;
  readonly skips?: readonly Optimizer[];
}

/**
 * The first records of an order over 1,000 columns took 450 to 512 MiB with two threads, 320 with one. A
 * query of one dataset has no part twice.
 */
function plannedFor(tables: readonly BoundTable[]): Pick<Open, 'skips' | 'threads'> {
  const datasets = datasetsOf(tables);
  if (!datasets.some(({ table }) => table.columns.length > WIDE_COLUMNS)) return {};
  return { threads: 1, ...(datasets.length > 1 ? {} : { skips: ['common_subplan'] }) };
}

/** Opens all files of a query's tables. @throws Failure as `runSql`. */
export async function withTables<T>(
  { source, tables }: Pick<BoundPlan, 'source' | 'tables'>,
  { files, pool, shapes }: SqlEngine,
  limits: SqlLimits,
  caller: Waiting,
  work: (open: Open, place: RowPlace) => Promise<T>,
): Promise<T> {
  const all = filesOf(tables);
  const answer = withOpenFiles(files, all, async (opened) => {
    const { deadlineMs } = limits;
    // Equal sets of files share a warm instance, whatever their order.
    const open = {
      files: [...opened.paths].sort(),
      deadlineMs,
      signal: caller.departure(),
      limits,
      ...plannedFor(tables),
    };
    await shapes.learn(all, opened, (statements) => pool.rows({ ...open, statements }));
    return work(open, { pathOf: opened.pathOf, holds: shapes.holds });
  });
  // Last, since a file that is damaged is not the query's fault.
  return answer.catch((error: unknown) => {
    const isForeign = datasetsOf(tables).some(({ foreign }) => foreign);
    throw told(error, limits, source, isForeign);
  });
}

export interface SqlColumn {
  readonly name: string;
  /** DuckDB's word for it. */
  readonly type: string;
}

function printBound(
  bound: BoundPlan,
  place: RowPlace,
  rowsMax: number,
): { readonly statements: readonly string[]; readonly parameters: Printed['parameters'] } {
  const printer = tablePrinter(bound, place);
  const { sql, parameters } = printPlan(bound.plan.query, printer, bound, rowsMax);
  // As a sub-select its columns have names of their own, in whatever case: as in a table or a file.
  return { statements: [`FROM (${sql})`], parameters };
}

/** What prints the tables of a query: datasets as their records, views as their queries. */
export function tablePrinter(
  { now, plan, system, tables, today }: Omit<BoundPlan, 'source'>,
  place: RowPlace,
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

/** Every file of every dataset, though fewer may be read: equal sets share a warm instance. */
const filesOf = (tables: readonly BoundTable[]): readonly DataFile[] =>
  distinct(datasetsOf(tables).flatMap(({ table }) => table.files));

/** One entry for each file, however often its table is named. */
const distinct = (files: readonly DataFile[]): readonly DataFile[] => [
  ...new Map(files.map((file) => [file.path, file])).values(),
];
