// The exact path to a batch: every record is numbered, so that a faulty record is reported by line, the first
// of equal records is distinguished from the last, and records that violate an expectation can be read again.
import { join } from 'node:path';
import type { Column } from '../../store/lake/versions/columns.ts';
import { REJECTS_MAX } from '../../store/work/jobs.ts';
import { newUuid } from '../../store/base/random.ts';
import {
  runStatements,
  runEachStatement,
  FAULT,
  lineOf,
  lineReject,
  RECORD_NUMBER,
  declaredOrder,
  selectList,
  quotedValue,
  typeError,
} from './batchStatements.ts';
import { applyExpectations } from './applyExpectations.ts';
import { copyTable, fileStats } from './parquetFile.ts';
import { isNumbered } from './uniqueIndex.ts';
import {
  fromClause,
  hasValueTest,
  INDEX_BYTES_MAX,
  computeOnce,
  misfitTest,
  recordFaults,
  type Relation,
  buildValue,
  withExponents,
} from '../values/relation.ts';
import { belowMicrosecondTest } from '../values/exactText.ts';
import { rejectStatements } from '../values/rejectedLines.ts';
import type { Batch, BatchRequest } from './batchRequest.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** Numbers the records, then drops the faulty ones and all but one of each index value. */
export async function exactBatch(original: BatchRequest, bench: Workbench): Promise<Batch> {
  const { columns } = original;
  // A fault quotes the value too, and a date is matched against a hundred patterns.
  const relation = computeOnce(withExponents(original.relation), columns);
  const request = { ...original, relation, sharesRow: false };
  const staging = join(bench.folder, `${newUuid()}.parquet`);
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const members = ['*', ...(relation.computed?.values() ?? [])].join(', ');
  const from = `(SELECT ${members} FROM ${fromClause(relation, columns, false)})`;
  const numbered = `SELECT row_number() OVER () AS ${RECORD_NUMBER}, * FROM
    (SELECT ${faultExpression(request)} AS ${FAULT}, ${selectList(request, false)} FROM ${from})`;
  const rejecting = relation.kind === 'csv' ? rejectStatements(REJECTS_MAX) : [];
  const stage = `COPY (${numbered}) TO ${literal(staging)} (${STAGED})`;
  const staged = await runStatements(bench, relation, [stage, ...rejecting], 1);
  const [counted, listed] = staged.slice(1);
  const read = `read_parquet(${literal(staging)})`;
  const unread = (listed ?? []).map((row) => lineReject(row));
  const lineAt = (n: number): number => lineOf(n, relation, unread);
  const { valid, ...judged } = await applyExpectations(request, read, bench, lineAt);
  const sorted = join(bench.folder, `${newUuid()}.parquet`);
  const [tallied, faulty, , copied] = await runEachStatement(bench, relation, [
    `SELECT count(*) AS records, count(${FAULT}) AS faulty FROM ${read}`,
    `SELECT ${RECORD_NUMBER} AS n, ${FAULT} AS error FROM ${read} WHERE ${FAULT} IS NOT NULL
      ORDER BY 1 LIMIT ${REJECTS_MAX}`,
    `COPY (${sortedRecords(request, valid)}) TO ${literal(sorted)} (${STAGED})`,
    copyTable(survivors(request, `read_parquet(${literal(sorted)})`), path, columns),
  ]);
  const stats = fileStats(copied ?? []);
  const faults = Number(tallied?.[0]?.['faulty']);
  const missing = (faulty ?? []).map((row) => ({
    line: lineAt(Number(row['n'])),
    error: String(row['error']),
  }));
  const { left, refused, rejects, ...verdicts } = judged;
  return {
    path,
    stats,
    invalid: Number(counted?.[0]?.['lines'] ?? 0) + faults + refused,
    rejects: [...unread, ...missing, ...rejects]
      .sort((a, b) => a.line - b.line)
      .slice(0, REJECTS_MAX),
    duplicates: Number(tallied?.[0]?.['records']) - faults - left - stats.records,
    ...verdicts,
  };
}

/** Options of intermediate files: fast to write and to read again. */
const STAGED = 'FORMAT parquet, COMPRESSION lz4_raw';

/** The valid records in index order; the one to keep comes first among equals. */
function sortedRecords({ columns, index, duplicates }: BatchRequest, read: string): string {
  const order = duplicates === 'ignore' ? 'ASC' : 'DESC';
  const own = isNumbered({ columns })
    ? index.columns.map(({ name }) => identifier(name))
    : index.terms;
  const terms = [...own, `${RECORD_NUMBER} ${order}`];
  return `SELECT * FROM ${read} WHERE ${FAULT} IS NULL ORDER BY ${terms.join(', ')}`;
}

/** The first record of each index value. `lag` over the file's order streams, so memory use is constant. */
function survivors({ columns, index }: BatchRequest, read: string): string {
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  if (index.terms.length === 0) return `SELECT ${list} FROM ${read}`;
  const before = index.terms.map((term, at) => `lag(${term}) OVER () AS _system_before${at}`);
  const differs = index.terms.map((term, at) => `${term} IS DISTINCT FROM _system_before${at}`);
  return `SELECT ${list} FROM (SELECT *, ${before.join(', ')} FROM ${read})
    WHERE ${differs.join(' OR ')}`;
}

/** SQL expression for why a record is refused; null for a valid one. */
export function faultExpression({
  relation,
  columns,
  index,
  lenient,
  refused,
}: BatchRequest): string {
  const fileColumns = new Set(relation.columns.map(({ name }) => name));
  const required = index.required.filter(({ name }) => fileColumns.has(name));
  const absent = required.map(({ name, type }) => {
    const empty = type === 'varchar' ? ` OR ${identifier(name)} = ''` : '';
    const isRead = type !== 'varchar' || relation.nulls !== undefined;
    const text =
      relation.kind !== 'parquet' && isRead
        ? valueOfName(name, relation, columns)
        : identifier(name);
    const long =
      type === 'varchar'
        ? ` WHEN strlen(${text}) > ${INDEX_BYTES_MAX} THEN ${literal(longError(name))}`
        : '';
    return `WHEN ${text} IS NULL${empty} THEN ${literal(requiredError(name))}${long}`;
  });
  const unknown = refused.map(
    (name) => `WHEN ${hasValueTest(relation, name)} THEN ${literal(unknownError(name))}`,
  );
  const misfitError = (column: Column): string =>
    typeError(column.name, column.type, declaredOrder(relation, column));
  const misfits = columns.flatMap((column) => {
    const condition = lenient.has(column.name) ? undefined : misfitTest(relation, column);
    return condition === undefined
      ? []
      : [
          `WHEN ${condition} THEN ${literal(`${misfitError(column)}, not `)}
            || ${quotedValue(column.name)} || ${cutReason(column)}`,
        ];
  });
  const cases = [...recordFaults(relation, columns), ...unknown, ...misfits, ...absent];
  return cases.length === 0 ? 'CAST(NULL AS VARCHAR)' : `CASE ${cases.join(' ')} END`;
}

/** Explains why a time does not fit a date-time, if a cast would cut its digits. */
function cutReason({ name, type }: Column): string {
  if (type !== 'timestamp') return `''`;
  const text = `CAST(${identifier(name)} AS VARCHAR)`;
  const reason = ': digits below a microsecond need a property of format date-time-ns';
  const isCount = `regexp_full_match(${text}, '-?[0-9]{18,19}') AND NOT ends_with(${text}, '000')`;
  return `CASE WHEN ${belowMicrosecondTest(text)} OR (${isCount}) THEN ${literal(reason)} ELSE '' END`;
}

function valueOfName(name: string, relation: Relation, columns: readonly Column[]): string {
  const column = columns.find((item) => item.name === name);
  return column === undefined ? identifier(name) : buildValue(relation, column, false);
}

export const requiredError = (name: string): string =>
  `validation failed: should have required property '${name}'`;

const longError = (name: string): string =>
  `validation failed: property '${name}' should have at most ${INDEX_BYTES_MAX} bytes`;

const unknownError = (name: string): string =>
  `validation failed: should NOT have additional property '${name}'`;
