// Stores records that violated an expectation of their dataset until the owner releases or discards them.
// They are catalog rows, few and small by their limits, written in the commit of the load that found them.
import { createHash } from 'node:crypto';
import type { Database } from '../../catalog/database.ts';
import type { Dataset } from './datasets.ts';
import { Failure } from '../../base/failure.ts';
import { newUuid } from '../../base/random.ts';
import { requestScrub } from '../../catalog/scrub.ts';

/** A record to be quarantined. */
export interface QuarantineEntry {
  readonly line: number;
  /** The violated expectation, in words. */
  readonly rule: string;
  /** JSON text of the record, by the names of its dataset's columns. */
  readonly document: string;
}

/** A record in quarantine. */
export interface QuarantinedRecord extends QuarantineEntry {
  readonly id: string;
  readonly jobId: string | null;
  readonly timeMs: number;
}

/** Selects records of a dataset: of one job, or by ids; all when both are undefined. */
export interface QuarantineFilter {
  readonly jobId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** Limits of records and bytes in quarantine of one dataset; above them its loads end in ERROR. */
export const QUARANTINE_MAX = 10_000;
export const QUARANTINE_BYTES_MAX = 32 * 1024 ** 2;
/** Rows of one statement: SQLite binds 32,766 values. */
const BATCH_SIZE = 200;

/**
 * Stores records in quarantine, in the transaction of their load.
 * @throws Failure Conflict when the dataset would exceed its limits.
 */
export async function insertQuarantined(
  transaction: Database,
  tableId: number,
  entries: readonly QuarantineEntry[],
  jobId: string | null,
  nowMs: number,
): Promise<void> {
  const rows = entries.map(({ line, rule, document }) => ({
    quarantine_id: newUuid(),
    table_id: tableId,
    digest: createHash('sha256').update(`${rule}\n${document}`).digest('hex'),
    job_id: jobId,
    line,
    rule,
    document,
    time_ms: nowMs,
  }));
  for (let from = 0; from < rows.length; from += BATCH_SIZE) {
    await transaction
      .insertInto('quarantine')
      .values(rows.slice(from, from + BATCH_SIZE))
      .onConflict((conflict) => conflict.columns(['table_id', 'digest']).doNothing())
      .execute();
  }
  const { bytes, records } = await measureQuarantine(transaction, tableId);
  if (records <= QUARANTINE_MAX && bytes <= QUARANTINE_BYTES_MAX) return;
  const limits = `${QUARANTINE_MAX} records and ${QUARANTINE_BYTES_MAX} bytes`;
  throw new Failure(
    'Conflict',
    `a dataset keeps at most ${limits} in quarantine: release or discard some of them`,
  );
}

async function measureQuarantine(
  database: Database,
  tableId: number,
): Promise<{ readonly records: number; readonly bytes: number }> {
  const row = await database
    .selectFrom('quarantine')
    .select((select) => [
      select.fn.countAll<number>().as('records'),
      select.fn.sum<number>(select.fn('octet_length', ['document'])).as('bytes'),
    ])
    .where('table_id', '=', tableId)
    .executeTakeFirst();
  return { records: Number(row?.records ?? 0), bytes: Number(row?.bytes ?? 0) };
}

/** Counts records in quarantine by dataset, the largest first. */
export async function countQuarantinedByTable(
  database: Database,
  limit: number,
): Promise<readonly { readonly tableId: number; readonly records: number }[]> {
  const rows = await database
    .selectFrom('quarantine')
    .select((select) => ['table_id', select.fn.countAll<number>().as('records')])
    .groupBy('table_id')
    .orderBy('records', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ records, table_id }) => ({ tableId: table_id, records: Number(records) }));
}

/** Lists records, oldest first, at most `limit`. */
export async function listQuarantined(
  database: Database,
  tableId: number,
  { ids, jobId }: QuarantineFilter,
  limit: number,
): Promise<readonly QuarantinedRecord[]> {
  const all = database.selectFrom('quarantine').selectAll().where('table_id', '=', tableId);
  const ofJob = jobId === undefined ? all : all.where('job_id', '=', jobId);
  const named = ids === undefined ? ofJob : ofJob.where('quarantine_id', 'in', ids);
  const rows = await named
    .orderBy('time_ms')
    .orderBy('line')
    .orderBy('quarantine_id')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.quarantine_id,
    jobId: row.job_id,
    line: row.line,
    rule: row.rule,
    document: row.document,
    timeMs: row.time_ms,
  }));
}

/** Removes records and returns their number. */
export async function removeQuarantined(
  database: Database,
  tableId: number,
  { ids, jobId }: QuarantineFilter,
): Promise<number> {
  if (ids === undefined) {
    const all = database.deleteFrom('quarantine').where('table_id', '=', tableId);
    const ofJob = jobId === undefined ? all : all.where('job_id', '=', jobId);
    return Number((await ofJob.executeTakeFirst()).numDeletedRows);
  }
  let removed = 0;
  for (let from = 0; from < ids.length; from += BATCH_SIZE) {
    const batch = database
      .deleteFrom('quarantine')
      .where('table_id', '=', tableId)
      .where('quarantine_id', 'in', ids.slice(from, from + BATCH_SIZE));
    const ofJob = jobId === undefined ? batch : batch.where('job_id', '=', jobId);
    removed += Number((await ofJob.executeTakeFirst()).numDeletedRows);
  }
  return removed;
}

/**
 * Removes quarantined records of a purged key or subkey, of any date. Runs before the purge: an early
 * removal does no harm.
 */
export async function purgeQuarantined(
  database: Database,
  { mapping, tableId }: Pick<Dataset, 'mapping' | 'tableId'>,
  key: string,
  subkey: string | undefined,
): Promise<void> {
  const rows = await listQuarantined(database, tableId, {}, QUARANTINE_MAX);
  const ids = rows
    .filter(({ document }) => {
      const record = JSON.parse(document) as Readonly<Record<string, unknown>>;
      return hasValue(record, mapping.key, key) && hasValue(record, mapping.subkey, subkey);
    })
    .map(({ id }) => id);
  if (ids.length === 0) return;
  await database.transaction().execute(async (transaction) => {
    await removeQuarantined(transaction, tableId, { ids });
    await requestScrub(transaction);
  });
}

/** Old clients send keys in lower case, as in every other request (INTERFACE.md 5). */
function hasValue(
  record: Readonly<Record<string, unknown>>,
  name: string | undefined,
  expected: string | undefined,
): boolean {
  if (expected === undefined || name === undefined) return true;
  const value = String(Object.hasOwn(record, name) ? record[name] : '');
  return value === expected || value === expected.toUpperCase();
}
