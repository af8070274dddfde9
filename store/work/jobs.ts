// Stores jobs (one run of a task), their rejected records, and the log of a workspace.
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Database, Tables } from '../catalog/database.ts';
import { insertEach, toBatchStatement, runBatch } from '../catalog/statementBatch.ts';
import { randomHex } from '../base/random.ts';
import { redactText } from '../base/redact.ts';
import { purgeWriteKeys } from './writeKeys.ts';

/** INTERFACE.md 3.7: created, VALIDATING, VALIDATED, INGESTING, INGESTED; or ERROR, CANCELLED. */
export type JobStatus =
  'CREATED' | 'VALIDATING' | 'VALIDATED' | 'INGESTING' | 'INGESTED' | 'ERROR' | 'CANCELLED';

export type Job = Selectable<Tables['job']>;

/** A rejected record: its line in the file and the reason. */
export interface Reject {
  readonly line: number;
  readonly error: string;
}

/** Limit of stored rejects of each job; further ones are only counted. */
export const REJECTS_MAX = 1_000;

export const UNFINISHED: readonly JobStatus[] = ['CREATED', 'VALIDATING', 'VALIDATED', 'INGESTING'];

/** 32 hexadecimal digits, as clients of the original know them. */
export const newJobId = (): string => randomHex(16);

export const insertJob = async (
  database: Database,
  job: Insertable<Tables['job']>,
): Promise<void> => void (await database.insertInto('job').values(job).execute());

export const updateJob = async (
  database: Database,
  jobId: string,
  values: Updateable<Tables['job']>,
): Promise<void> => void (await buildUpdate(database, jobId, values).execute());

const buildUpdate = (database: Database, jobId: string, values: Updateable<Tables['job']>) =>
  database.updateTable('job').set(values).where('job_id', '=', jobId);

/** Marks a job as failed; false if it had already finished, with its commit, and stays as it is. */
export async function endJob(
  database: Database,
  jobId: string,
  values: Updateable<Tables['job']>,
): Promise<boolean> {
  const result = await database
    .updateTable('job')
    .set(values)
    .where('job_id', '=', jobId)
    .where('finished_ms', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Counts a start of the job and returns the number of unfinished starts. */
export async function beginAttempt(
  database: Database,
  jobId: string,
  nowMs: number,
): Promise<number> {
  const row = await database
    .updateTable('job')
    .set((job) => ({ attempts: job('attempts', '+', 1), started_ms: nowMs }))
    .where('job_id', '=', jobId)
    .returning('attempts')
    .executeTakeFirst();
  return row?.attempts ?? 0;
}

/** Resets the attempts of jobs that don't cause the current stop of the server. */
export async function resetAttempts(database: Database, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return;
  await database
    .updateTable('job')
    .set({ attempts: 0 })
    .where('job_id', 'in', [...jobIds])
    .execute();
}

export const findJob = (database: Database, jobId: string): Promise<Job | undefined> =>
  database.selectFrom('job').selectAll().where('job_id', '=', jobId).executeTakeFirst();

/** Lists jobs that are unfinished or have stored records in a dataset, in order of arrival. */
export const listDatasetJobs = (
  database: Database,
  dataset: { readonly workspace: string; readonly dataset: string },
): Promise<readonly Job[]> =>
  database
    .selectFrom('job')
    .selectAll()
    .where('workspace', '=', dataset.workspace)
    .where('dataset', '=', dataset.dataset)
    .where((where) =>
      where.or([where('finished_ms', 'is', null), where('records_ingested', '>', 0)]),
    )
    .orderBy('sequence')
    .execute();

/** Returns the sequence of the latest job; 0 when there is none. */
export async function findLatestSequence(database: Database): Promise<number> {
  const row = await database
    .selectFrom('job')
    .select((select) => [select.fn.max('sequence').as('newest')])
    .executeTakeFirst();
  return Number(row?.newest ?? 0);
}

/** Lists jobs that a stopped or killed process left unfinished, oldest first. */
export const listUnfinishedJobs = (database: Database): Promise<readonly Job[]> =>
  database
    .selectFrom('job')
    .selectAll()
    .where('status', 'in', [...UNFINISHED])
    .orderBy('sequence')
    .execute();

/** Requested part of a list of dated rows. */
export interface TimeRange {
  readonly fromMs: number | undefined;
  /** Exclusive. */
  readonly untilMs: number | undefined;
  /** End from which rows are selected; the selected rows are ordered by `sort`. */
  readonly end: 'newest' | 'oldest';
  readonly limit: number;
  readonly offset: number;
  readonly sort: 'asc' | 'desc';
}

export async function listJobs(
  database: Database,
  workspace: string,
  { end, fromMs, limit, offset, sort, untilMs }: TimeRange,
): Promise<readonly Job[]> {
  const direction = end === 'newest' ? 'desc' : 'asc';
  const rows = await database
    .selectFrom('job')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('created_ms', '>=', fromMs ?? 0)
    .where('created_ms', '<', untilMs ?? Number.MAX_SAFE_INTEGER)
    .orderBy('created_ms', direction)
    .orderBy('sequence', direction)
    .limit(limit)
    .offset(offset)
    .execute();
  return (sort === 'asc') === (end === 'oldest') ? rows : rows.toReversed();
}

export async function insertRejects(
  database: Database,
  jobId: string,
  rejects: readonly Reject[],
): Promise<void> {
  const rows = rejects.slice(0, REJECTS_MAX).map(({ error, line }) => {
    return { job_id: jobId, line, error: redactText(error) };
  });
  await runBatch(database, insertEach(database, 'job_reject', rows));
}

export const findRejects = (database: Database, jobId: string): Promise<readonly Reject[]> =>
  database
    .selectFrom('job_reject')
    .select(['line', 'error'])
    .where('job_id', '=', jobId)
    .orderBy('line')
    .execute();

/**
 * Runs in the transaction of a purge: reasons and log lines of the dataset's jobs may quote purged records.
 * Unfinished jobs are skipped: their records arrive after the purge.
 */
export async function purgeTexts(
  transaction: Database,
  { workspace, dataset }: { readonly workspace: string; readonly dataset: string },
): Promise<void> {
  await purgeWriteKeys(transaction, { dataset, workspace });
  const rows = await transaction
    .selectFrom('job')
    .select(['job_id', 'dataset', 'error'])
    .where('workspace', '=', workspace)
    .where('finished_ms', 'is not', null)
    .execute();
  for (const job of rows.filter((row) => row.dataset.toUpperCase() === dataset.toUpperCase())) {
    await transaction.deleteFrom('job_reject').where('job_id', '=', job.job_id).execute();
    await transaction.deleteFrom('log').where('job_id', '=', job.job_id).execute();
    const error = job.error === null ? {} : { error: PURGED };
    await updateJob(transaction, job.job_id, { ...error, notes_json: null });
  }
}

const PURGED = 'the reason was purged with records of the dataset';

/** Limit of log lines in total; the oldest are removed first. About 30 MB of catalog. */
const LOG_LINES_MAX = 100_000;

export const appendLog = async (database: Database, line: NewLine): Promise<void> =>
  void (await insertLine(database, line).execute());

type NewLine = Omit<Insertable<Tables['log']>, 'log_id'>;

const insertLine = (database: Database, line: NewLine) =>
  database
    .insertInto('log')
    .values({ ...line, message: redactText(line.message), log_id: randomHex(16) });

/** Updates a job and appends to its log in one transaction, which is synced once. */
export const updateJobAndLog = (
  database: Database,
  jobId: string,
  values: Updateable<Tables['job']>,
  line: NewLine,
): Promise<void> =>
  database
    .transaction()
    .execute((transaction) =>
      runBatch(transaction, [
        toBatchStatement(buildUpdate(transaction, jobId, values)),
        toBatchStatement(insertLine(transaction, line)),
      ]),
    );

/** Removes the oldest log lines above the limit; called at start. */
export async function trimLog(database: Database): Promise<void> {
  const oldest = await database
    .selectFrom('log')
    .select('time_ms')
    .orderBy('time_ms', 'desc')
    .offset(LOG_LINES_MAX)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await database.deleteFrom('log').where('time_ms', '<=', oldest.time_ms).execute();
}

type LogLine = Selectable<Tables['log']>;

/** Numeric severities, as common loggers define them. */
export const LEVELS: Readonly<Record<string, number>> = { info: 30, warn: 40, error: 50 };

/** Lists the latest log lines of all workspaces of an account. */
export const listLatestLines = (
  database: Database,
  accountId: string,
  limit: number,
): Promise<readonly LogLine[]> =>
  database
    .selectFrom('log')
    .innerJoin('workspace', 'workspace.workspace', 'log.workspace')
    .selectAll('log')
    .where('workspace.account_id', '=', accountId)
    .orderBy('log.time_ms', 'desc')
    .limit(limit)
    .execute();

interface LogFilter {
  readonly workspace: string;
  readonly severities: readonly string[];
  /** Undefined for all jobs. */
  readonly jobId: string | undefined;
}

/** Lists log lines of a workspace. */
export async function listLog(
  database: Database,
  { jobId, severities, workspace }: LogFilter,
  { end, fromMs, limit, offset, sort, untilMs }: TimeRange,
): Promise<readonly LogLine[]> {
  const direction = end === 'newest' ? 'desc' : 'asc';
  const rows = await database
    .selectFrom('log')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('time_ms', '>=', fromMs ?? 0)
    .where('time_ms', '<', untilMs ?? Number.MAX_SAFE_INTEGER)
    .where('severity', 'in', [...severities])
    .$if(jobId !== undefined, (query) => query.where('job_id', '=', jobId ?? ''))
    .orderBy('time_ms', direction)
    .limit(limit)
    .offset(offset)
    .execute();
  return (sort === 'asc') === (end === 'oldest') ? rows : rows.toReversed();
}
