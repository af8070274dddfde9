// From a relation to one sorted Parquet file of valid records, each index value once.
//
// The fast path is one COPY: texts of a CSV are cast exactly, read_csv stores the lines that it rejects, the
// sort makes repeats neighbours, and one streaming pass counts them. Only if it finds repeats
// (or a required value is missing) does the exact path number the records, which distinguishes the first from
// the last and names the faulty record. JSON takes the fast path too: typed where its spelling allows it
// (jsonSpelling.ts), as text and cast otherwise.
import { join } from 'node:path';
import type { Column } from '../../store/lake/versions/columns.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { REJECTS_MAX } from '../../store/work/jobs.ts';
import { newUuid } from '../../store/base/random.ts';
import {
  runStatements,
  runEachStatement,
  FAULT,
  fileLineOf,
  lineReject,
  RECORD_NUMBER,
  selectList,
} from './batchStatements.ts';
import { exactBatch } from './exactBatch.ts';
import { readBreaches, breachStatements } from './expectations.ts';
import { copyTable, type FileStats, fileStats } from './parquetFile.ts';
import {
  fromClause,
  misfitTest,
  MISFIT_MARK,
  type Relation,
  typedRelation,
  withExponents,
} from '../values/relation.ts';
import { rejectStatements } from '../values/rejectedLines.ts';
import { REPEATS_SHARE_MAX, removeRepeats } from './repeats.ts';
import {
  lacksIndex,
  orderIndex,
  orderOfLoad,
  repeatExamplesQuery,
  countRepeatsQuery,
  formatRepeats,
} from './uniqueIndex.ts';
import type { Batch, Misfit, BatchRequest } from './batchRequest.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** The batch, or the columns whose values do not fit the types, or a proof that the index is not unique. */
type Attempt =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'unproved' }
  | { readonly kind: 'misfit'; readonly misfits: readonly Misfit[] };

/** With `guessed` types a misfit is returned, to be widened; otherwise it rejects its record. */
export async function makeBatch(
  request: BatchRequest,
  bench: Workbench,
  guessed: boolean,
): Promise<Attempt> {
  // Only the exact path handles records with columns that the schema does not have.
  const exactly = request.refused.length > 0;
  if (exactly && !guessed) return { kind: 'batch', batch: await exactBatch(request, bench) };
  const fast = await fastBatch(request, bench, guessed);
  if (guessed && fast.misfits.length > 0) return { kind: 'misfit', misfits: fast.misfits };
  const { batch, relation, repeats } = fast;
  // Checked before further work: a refusal takes a third of the time.
  if (batch !== undefined) checkRecordCount(batch.stats.records);
  if (request.repeats === 'prove' && (batch === undefined || repeats > 0)) {
    return { kind: 'unproved' };
  }
  if (batch === undefined || exactly) {
    return { kind: 'batch', batch: await exactBatch(request, bench) };
  }
  if (repeats === 0) return { kind: 'batch', batch };
  if (request.index.terms.length === 0) return makeBatch(eachNumbered(request), bench, guessed);
  const few = repeats <= batch.stats.records * REPEATS_SHARE_MAX && batch.invalid === 0;
  const once = few
    ? dropRepeats({ ...request, relation }, batch, bench)
    : exactBatch(request, bench);
  const examples = runStatements(bench, relation, [repeatExamplesQuery(batch.path, request.index)]);
  // Awaited together: a cancelled load rejects both.
  const [unique, [exampleRows = []]] = await Promise.all([once, examples]);
  const repeated = { records: repeats, examples: formatRepeats(exampleRows) };
  return { kind: 'batch', batch: { ...unique, repeated } };
}

const eachNumbered = (request: BatchRequest): BatchRequest => ({ ...request, sharesRow: false });

/** Records of one ingestion (INTERFACE.md 3.8): a larger body is refused. */
const RECORDS_MAX = 20_000_000;

/** @throws Failure for more records than a job may have. */
export function checkRecordCount(read: number): void {
  if (read <= RECORDS_MAX) return;
  throw new Failure('InvalidBody', `the body has ${read} records, at most ${RECORDS_MAX} a job`);
}

/** Only for a batch without invalid records: the second read must meet the same records. */
async function dropRepeats(request: BatchRequest, batch: Batch, bench: Workbench): Promise<Batch> {
  const { relation, columns, index, duplicates } = request;
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const source = `SELECT ${selectList(request, true)} FROM ${fromClause(relation, columns, true)}`;
  const keep = duplicates === 'ignore' ? 'first' : 'last';
  const repeated = { sorted: batch.path, source, columns, index, keep } as const;
  const rows = await runEachStatement(bench, relation, removeRepeats(repeated, bench.folder, path));
  const stats = fileStats(rows.at(-1) ?? []);
  return { ...batch, path, stats, duplicates: batch.stats.records - stats.records };
}

interface Fast {
  /** As it was read: typed or as text. */
  readonly relation: Relation;
  readonly misfits: readonly Misfit[];
  /** Undefined when only the exact path can decide which records to keep. */
  readonly batch: Batch | undefined;
  /** Records of the batch that repeat the index value of another one. */
  readonly repeats: number;
}

/** Reads JSON typed first, where its spelling allows it; if DuckDB refuses, reads it as text. */
async function fastBatch(request: BatchRequest, bench: Workbench, guessed: boolean): Promise<Fast> {
  const typed = typedRelation(request.relation, request.columns);
  if (typed === undefined) return oneCopy(request, request.relation, bench, guessed);
  try {
    return await oneCopy(request, typed, bench, guessed);
  } catch (error) {
    if (!(error instanceof Failure) || error.type !== 'InvalidBody') throw error;
    return oneCopy(request, request.relation, bench, guessed);
  }
}

/** @param relation the request's, typed or as text */
async function oneCopy(
  request: BatchRequest,
  relation: Relation,
  bench: Workbench,
  guessed: boolean,
): Promise<Fast> {
  const { checks, columns, index, sharesRow } = request;
  const apart = sharesRow ? orderIndex(index) : index;
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const query = `SELECT ${selectList({ ...request, relation }, true)}
    FROM ${fromClause(relation, columns, true)}${orderOfLoad(relation, index)}`;
  const rejecting = relation.kind === 'csv' ? rejectStatements(REJECTS_MAX) : [];
  const repeats = apart.terms.length === 0 ? [] : [countRepeatsQuery(path, apart)];
  const checkStatements = breachStatements(checks, path);
  try {
    const copy = copyTable(query, path, columns);
    const before = [copy, ...repeats, ...checkStatements];
    const rows = await runStatements(bench, relation, [...before, ...rejecting], before.length);
    const stats = fileStats(rows[0] ?? []);
    if (relation.kind === 'csv' && hasInfinity(stats, columns)) {
      const misfits = guessed ? await findMisfits(request, bench) : [];
      return { relation, misfits, batch: undefined, repeats: 0 };
    }
    const [counted, listed] = rows.slice(before.length);
    const repeating = repeats.length === 0 ? 0 : Number(rows[1]?.[0]?.['repeats']);
    // Blank values are equal to none in SQL, so records with them are numbered individually.
    const repeated = sharesRow && lacksIndex(stats, apart) ? stats.records : repeating;
    const breaches = readBreaches(checks, rows.slice(1 + repeats.length, before.length));
    const batch = {
      path,
      stats,
      invalid: Number(counted?.[0]?.['lines'] ?? 0),
      rejects: (listed ?? []).map((row) => lineReject(row)),
      duplicates: 0,
      quarantined: [],
      warnings: breaches,
      failed: undefined,
    };
    const lacking = lacksIndex(stats, index) || breaches.some(({ action }) => action !== 'warn');
    return { relation, misfits: [], batch: lacking ? undefined : batch, repeats: repeated };
  } catch (error) {
    if (!reasonOf(error).includes(MISFIT_MARK)) throw error;
    const misfits = guessed ? await findMisfits(request, bench) : [];
    return { relation, misfits, batch: undefined, repeats: 0 };
  }
}

/** Detects a text longer than any number, such as 1e400: no text is read as infinity. */
const hasInfinity = ({ columns: statistics }: FileStats, columns: readonly Column[]): boolean =>
  columns
    .filter(({ type }) => type === 'float64')
    .some(({ name }) =>
      ['min', 'max'].some((bound) => /inf/i.test(statistics.get(name)?.get(bound) ?? '')),
    );

/** Finds every column with a misfit in one pass over the file, ordered by the first line with one. */
export async function findMisfits(
  { columns, ...request }: Pick<BatchRequest, 'relation' | 'columns'>,
  bench: Workbench,
): Promise<readonly Misfit[]> {
  const relation = withExponents(request.relation);
  const tests = columns.flatMap((column) => {
    const condition = misfitTest(relation, column);
    return condition === undefined ? [] : [{ name: column.name, condition }];
  });
  if (tests.length === 0) return [];
  const terms = tests.flatMap(({ name }, at) => [
    `min(${RECORD_NUMBER}) FILTER (WHERE ${FAULT}${at}) AS n${at}`,
    `count(*) FILTER (WHERE ${FAULT}${at}) AS c${at}`,
    `arg_min(CAST(${identifier(name)} AS VARCHAR), ${RECORD_NUMBER}) FILTER (WHERE ${FAULT}${at}) AS v${at}`,
  ]);
  const faults = tests.map(({ condition }, at) => `${condition} AS ${FAULT}${at}`);
  const numbered = `(SELECT *, row_number() OVER () AS ${RECORD_NUMBER}, ${faults.join(', ')} FROM
    ${fromClause(relation, columns, false)})`;
  const [counts] = await runStatements(bench, relation, [
    `SELECT ${terms.join(', ')} FROM ${numbered}`,
  ]);
  const row = counts?.[0] ?? {};
  const misfits = tests.flatMap(({ name }, at) =>
    row[`n${at}`] === null || row[`n${at}`] === undefined
      ? []
      : [
          {
            column: name,
            line: fileLineOf(Number(row[`n${at}`]), relation),
            value: String(row[`v${at}`]),
            records: Number(row[`c${at}`]),
          },
        ],
  );
  return misfits.sort((one, other) => one.line - other.line);
}
