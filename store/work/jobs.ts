// Jobs: one run of a task, its state, its rejected records, and the workspace's log.
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Database, Tables } from '../catalog/database.ts';
import { insertEach, pieceOf, runTogether } from '../catalog/together.ts';
import { randomHex } from '../base/random.ts';
import { redacted } from '../base/redact.ts';
import { forgetWriteKeys } from './writeKeys.ts';

/** INTERFACE.md 3.7: created, VALIDATING, VALIDATED, INGESTING, INGESTED; or ERROR, CANCELLED. */
export type JobStatus =
  'CREATED' | 'VALIDATING' | 'VALIDATED' | 'INGESTING' | 'INGESTED' | 'ERROR' | 'CANCELLED';

export type Job = Selectable<Tables['job']>;

/** A rejected record: its line in the file and the reason. */
export interface Reject {
  readonly line: number;
  readonly error: string;
}

/** Rejects kept for each job; the counts go on, the texts beyond are dropped. */
export const REJECTS_KEPT_MAX = 1_000;

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
): Promise<void> => void (await settingJob(database, jobId, values).execute());

const settingJob = (database: Database, jobId: string, values: Updateable<Tables['job']>) =>
  database.updateTable('job').set(values).where('job_id', '=', jobId);

/** Ends a job in vain; false when it had ended, with its commit, and stays as it is. */
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

/** Counts a start of the job; how many there have been that did not end it. */
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

/** These did not end the server that is about to end. */
export async function forgiveStarts(database: Database, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return;
  await database
    .updateTable('job')
    .set({ attempts: 0 })
    .where('job_id', 'in', [...jobIds])
    .execute();
}

export const findJob = (database: Database, jobId: string): Promise<Job | undefined> =>
  database.selectFrom('job').selectAll().where('job_id', '=', jobId).executeTakeFirst();

/** Jobs that have not ended, or have stored something, into a dataset; in the order they came in. */
export const jobsOf = (
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

/** Sequence of the newest job; 0 when there is none. */
export async function newestSequence(database: Database): Promise<number> {
  const row = await database
    .selectFrom('job')
    .select((select) => [select.fn.max('sequence').as('newest')])
    .executeTakeFirst();
  return Number(row?.newest ?? 0);
}

/** Jobs that a stopped or killed process left behind, oldest first. */
export const unfinishedJobs = (database: Database): Promise<readonly Job[]> =>
  database
    .selectFrom('job')
    .selectAll()
    .where('status', 'in', [...UNFINISHED])
    .orderBy('sequence')
    .execute();

/** The part of a list of dated rows that is asked for. */
export interface TimeRange {
  readonly fromMs: number | undefined;
  /** Exclusive. */
  readonly untilMs: number | undefined;
  /** Which end is taken; what is taken is ordered by `sort`. */
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
  const taken = await database
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
  return (sort === 'asc') === (end === 'oldest') ? taken : taken.toReversed();
}

export async function insertRejects(
  database: Database,
  jobId: string,
  rejects: readonly Reject[],
): Promise<void> {
  const rows = rejects.slice(0, REJECTS_KEPT_MAX).map(({ error, line }) => {
    return { job_id: jobId, line, error: redacted(error) };
  });
  await runTogether(database, insertEach(database, 'job_reject', rows));
}

export const findRejects = (database: Database, jobId: string): Promise<readonly Reject[]> =>
  database
    .selectFrom('job_reject')
    .select(['line', 'error'])
    .where('job_id', '=', jobId)
    .orderBy('line')
    .execute();

/**
 * In the transaction of a purge: reasons and log lines of the dataset's jobs may quote what it takes
 * away. Jobs that have not ended are about records that come after it.
 */
export async function clearTexts(
  transaction: Database,
  { workspace, dataset }: { readonly workspace: string; readonly dataset: string },
): Promise<void> {
  await forgetWriteKeys(transaction, { dataset, workspace });
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

/** Log lines kept in all; the oldest go first. About 30 MB of catalog. */
const LOG_LINES_MAX = 100_000;

export const appendLog = async (database: Database, line: NewLine): Promise<void> =>
  void (await insertLine(database, line).execute());

type NewLine = Omit<Insertable<Tables['log']>, 'log_id'>;

const insertLine = (database: Database, line: NewLine) =>
  database
    .insertInto('log')
    .values({ ...line, message: redacted(line.message), log_id: randomHex(16) });

/** What a job becomes, and what its log says of it: in one transaction, which is synced once. */
export const changeAndTell = (
  database: Database,
  jobId: string,
  values: Updateable<Tables['job']>,
  line: NewLine,
): Promise<void> =>
  database
    .transaction()
    .execute((transaction) =>
      runTogether(transaction, [
        pieceOf(settingJob(transaction, jobId, values)),
        pieceOf(insertLine(transaction, line)),
      ]),
    );

/** Removes the oldest log lines past the most that are kept; called at start. */
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

/** Numbers of the severities, as loggers have them. */
export const LEVELS: Readonly<Record<string, number>> = { info: 30, warn: 40, error: 50 };

/** The newest lines of all workspaces of an account. */
export const newestLines = (
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

interface LinesWanted {
  readonly workspace: string;
  readonly severities: readonly string[];
  /** Undefined: of all. */
  readonly jobId: string | undefined;
}

/** Log lines of a workspace. */
export async function listLog(
  database: Database,
  { jobId, severities, workspace }: LinesWanted,
  { end, fromMs, limit, offset, sort, untilMs }: TimeRange,
): Promise<readonly LogLine[]> {
  const direction = end === 'newest' ? 'desc' : 'asc';
  const taken = await database
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
  return (sort === 'asc') === (end === 'oldest') ? taken : taken.toReversed();
}
