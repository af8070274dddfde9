// Applies expectations to staged records: each record is judged once, by the gravest expectation that it
// violates. Quarantined records are returned whole.
import { join } from 'node:path';
import {
  type Column,
  isDateType,
  isExactNumber,
  isSystemColumn,
} from '../../store/lake/versions/columns.ts';
import type { Action } from '../../store/lake/datasets/contracts.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Reject, REJECTS_MAX } from '../../store/work/jobs.ts';
import {
  type QuarantineEntry,
  QUARANTINE_BYTES_MAX,
  QUARANTINE_MAX,
} from '../../store/lake/datasets/quarantine.ts';
import { newUuid } from '../../store/base/random.ts';
import { runEachStatement, FAULT, RECORD_NUMBER } from './batchStatements.ts';
import type { Check, Breach } from './expectations.ts';
import type { Batch, BatchRequest } from './batchRequest.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

interface Judged extends Pick<Batch, 'quarantined' | 'warnings' | 'failed'> {
  /** A sub-select of the staged records that violated no expectation. */
  readonly valid: string;
  /** Records that violated an expectation. */
  readonly left: number;
  /** Those of them that are rejected. */
  readonly refused: number;
  readonly rejects: readonly Reject[];
}

/** Index of the expectation that a record violates; null if it violates none. */
const VERDICT = '_system_verdict';
/** The gravest first. */
const GRAVITY: readonly Action[] = ['fail', 'reject', 'quarantine'];

/** A check of the request with its index and its SQL condition over staged records. */
interface Placed extends Check {
  readonly at: number;
  readonly condition: string;
}

/**
 * @param read the staged records, numbered and with their faults
 * @throws Failure Conflict when more would be kept aside than a dataset may.
 */
export async function applyExpectations(
  request: BatchRequest,
  read: string,
  bench: Workbench,
  lineAt: (n: number) => number,
): Promise<Judged> {
  const { checks, columns, relation } = request;
  const none = { left: 0, refused: 0, rejects: [], quarantined: [], warnings: [] };
  if (checks.list.length === 0) return { ...none, valid: read, failed: undefined };
  const placed = await placeChecks(request, read, bench);
  const ordered = GRAVITY.flatMap((action) => placed.filter((check) => check.action === action));
  const cases = ordered.map(({ at, condition }) => `WHEN ${condition} THEN ${at}`);
  const verdict = `CASE WHEN ${FAULT} IS NOT NULL THEN NULL ${cases.join(' ')} END`;
  const judged = `(SELECT *, ${verdict} AS ${VERDICT} FROM ${read})`;
  const valid = `(SELECT * EXCLUDE (${VERDICT}) FROM ${judged} WHERE ${VERDICT} IS NULL)`;
  const record = jsonDocument(columns);
  const [counts = []] = await runEachStatement(bench, relation, [
    `SELECT ${VERDICT} AS at, count(*) AS records, min(${RECORD_NUMBER}) AS n, sum(strlen(${record})) AS bytes
      FROM ${judged} WHERE ${VERDICT} IS NOT NULL GROUP BY ALL`,
  ]);
  const breaches = counts.map((row) => ({
    check: checks.list[Number(row['at'])],
    records: Number(row['records']),
    line: lineAt(Number(row['n'])),
    bytes: Number(row['bytes']),
  }));
  const withAction = (action: Action): typeof breaches =>
    breaches.filter(({ check }) => check?.action === action);
  const total = (group: typeof breaches): number =>
    group.reduce((sum, one) => sum + one.records, 0);
  const [worst] = withAction('fail').toSorted((a, b) => a.line - b.line);
  checkSize(total(withAction('quarantine')), withAction('quarantine'));
  return {
    valid,
    left: total(breaches),
    refused: total(withAction('fail')) + total(withAction('reject')),
    rejects: await listRejects({ request, judged, bench, placed, lineAt }),
    quarantined: await listAside({ request, judged, bench, placed, lineAt }),
    warnings: await listWarnings({ request, judged, bench, placed, lineAt }),
    failed: worst && { rule: worst.check?.rule ?? '', records: worst.records, line: worst.line },
  };
}

function checkSize(records: number, breaches: readonly { readonly bytes: number }[]): void {
  const bytes = breaches.reduce((sum, one) => sum + one.bytes, 0);
  if (records <= QUARANTINE_MAX && bytes <= QUARANTINE_BYTES_MAX) return;
  const most = `${QUARANTINE_MAX} records and ${QUARANTINE_BYTES_MAX} bytes`;
  throw new Failure(
    'Conflict',
    `${records} records would go to quarantine, where a dataset keeps at most ${most}`,
  );
}

/** Late records are found once; the later statements refer to them by number. */
async function placeChecks(
  { checks, relation }: BatchRequest,
  read: string,
  bench: Workbench,
): Promise<readonly Placed[]> {
  const late = join(bench.folder, `${newUuid()}.parquet`);
  if (checks.list.some(({ breach }) => breach === undefined)) {
    const valid = `(SELECT * FROM ${read} WHERE ${FAULT} IS NULL)`;
    const numbers = `SELECT ${RECORD_NUMBER} FROM (${checks.late(valid)})`;
    await runEachStatement(bench, relation, [
      `COPY (${numbers}) TO ${literal(late)} (FORMAT parquet)`,
    ]);
  }
  const isLate = `${RECORD_NUMBER} IN (SELECT ${RECORD_NUMBER} FROM read_parquet(${literal(late)}))`;
  return checks.list.map((check, at) => ({ ...check, at, condition: check.breach ?? isLate }));
}

interface Judging {
  readonly request: BatchRequest;
  readonly judged: string;
  readonly bench: Workbench;
  readonly placed: readonly Placed[];
  readonly lineAt: (n: number) => number;
}

const findPlaces = (placed: readonly Placed[], actions: readonly Action[]): readonly number[] =>
  placed.filter(({ action }) => actions.includes(action)).map(({ at }) => at);

async function listRejects(judging: Judging): Promise<readonly Reject[]> {
  const { bench, judged, lineAt, placed, request } = judging;
  const places = findPlaces(placed, ['fail', 'reject']);
  if (places.length === 0) return [];
  const [rows = []] = await runEachStatement(bench, request.relation, [
    `SELECT ${RECORD_NUMBER} AS n, ${VERDICT} AS at FROM ${judged} WHERE ${VERDICT} IN (${places.join(', ')})
      ORDER BY 1 LIMIT ${REJECTS_MAX}`,
  ]);
  return rows.map((row) => ({
    line: lineAt(Number(row['n'])),
    error: `expectation failed: ${placed[Number(row['at'])]?.rule ?? ''}`,
  }));
}

async function listAside(judging: Judging): Promise<readonly QuarantineEntry[]> {
  const { bench, judged, lineAt, placed, request } = judging;
  const places = findPlaces(placed, ['quarantine']);
  if (places.length === 0) return [];
  const [rows = []] = await runEachStatement(bench, request.relation, [
    `SELECT ${RECORD_NUMBER} AS n, ${VERDICT} AS at, ${jsonDocument(request.columns)} AS document
      FROM ${judged} WHERE ${VERDICT} IN (${places.join(', ')}) ORDER BY 1`,
  ]);
  return rows.map((row) => ({
    line: lineAt(Number(row['n'])),
    rule: placed[Number(row['at'])]?.rule ?? '',
    document: String(row['document']),
  }));
}

/** Counts only records that violated nothing graver, so that no record is reported twice. */
async function listWarnings(judging: Judging): Promise<readonly Breach[]> {
  const { bench, judged, lineAt, placed, request } = judging;
  const warned = placed.filter(({ action }) => action === 'warn');
  if (warned.length === 0) return [];
  const terms = warned.flatMap(({ at, condition }) => [
    `count(*) FILTER (WHERE ${condition}) AS c${at}`,
    `min(${RECORD_NUMBER}) FILTER (WHERE ${condition}) AS n${at}`,
  ]);
  const [rows] = await runEachStatement(bench, request.relation, [
    `SELECT ${terms.join(', ')} FROM ${judged} WHERE ${FAULT} IS NULL AND ${VERDICT} IS NULL`,
  ]);
  const row = rows?.[0] ?? {};
  return warned.flatMap(({ at, rule }) => {
    const records = Number(row[`c${at}`]);
    return records === 0 ? [] : [{ rule, records, line: lineAt(Number(row[`n${at}`])) }];
  });
}

/** Largest integer, and its negative, that every JSON reader keeps exactly. */
const EXACT_MAX = 9_007_199_254_740_992n;

/** A record as JSON that a load reads again without loss. */
function jsonDocument(columns: readonly Column[]): string {
  const members = columns
    .filter(({ name }) => !isSystemColumn(name))
    .map((column) => `${literal(column.name)}, ${jsonMember(column)}`);
  return `CAST(json_object(${members.join(', ')}) AS VARCHAR)`;
}

function jsonMember({ name, type }: Column): string {
  const value = identifier(name);
  const text = `to_json(CAST(${value} AS VARCHAR))`;
  if (isDateType(type) || type === 'time' || isExactNumber(type)) return text;
  if (type === 'float64')
    return `CASE WHEN isfinite(${value}) THEN to_json(${value}) ELSE ${text} END`;
  if (type !== 'int64') return `to_json(${value})`;
  const exact = `${value} BETWEEN -${EXACT_MAX} AND ${EXACT_MAX}`;
  return `CASE WHEN ${exact} THEN to_json(${value}) ELSE ${text} END`;
}
