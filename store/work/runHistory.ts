// Lists runs of schedules, each with the outcome of its job.
import type { Database } from '../catalog/database.ts';
import type { TimeRange } from './jobs.ts';
import { insertRun, type Schedule } from './schedules.ts';

export interface RunEntry {
  readonly runId: string;
  readonly scheduleId: string;
  readonly dataset: string;
  readonly dueMs: number;
  readonly dues: number;
  readonly attempt: number;
  /** `RUN`, `SKIPPED` or `NOTED`. */
  readonly outcome: string;
  readonly jobId: string | null;
  readonly note: string;
  readonly madeMs: number;
  /** Undefined for a run without a job, or whose job was removed. */
  readonly job: JobOutcome | undefined;
}

interface JobOutcome {
  readonly status: string;
  readonly ingested: number;
  readonly invalid: number;
  readonly error: string | null;
}

/** Lists runs of a workspace, or of one schedule in it. */
export async function listRuns(
  database: Database,
  {
    workspace,
    scheduleId,
  }: { readonly workspace: string; readonly scheduleId: string | undefined },
  { end, fromMs, limit, offset, sort, untilMs }: TimeRange,
): Promise<readonly RunEntry[]> {
  const rows = await selectRuns(database)
    .where('r.workspace', '=', workspace)
    .$if(scheduleId !== undefined, (query) => query.where('r.schedule_id', '=', scheduleId ?? ''))
    .where('r.made_ms', '>=', fromMs ?? 0)
    .where('r.made_ms', '<', untilMs ?? Number.MAX_SAFE_INTEGER)
    .orderBy('r.made_ms', end === 'newest' ? 'desc' : 'asc')
    .orderBy('j.sequence', end === 'newest' ? 'desc' : 'asc')
    .orderBy('r.run_id')
    .limit(limit)
    .offset(offset)
    .execute();
  const runs = rows.map(toRun);
  return (sort === 'asc') === (end === 'oldest') ? runs : runs.toReversed();
}

export async function findRun(
  database: Database,
  workspace: string,
  runId: string,
): Promise<RunEntry | undefined> {
  const query = selectRuns(database)
    .where('r.workspace', '=', workspace)
    .where('r.run_id', '=', runId);
  const row = await query.executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
}

const selectRuns = (database: Database) =>
  database
    .selectFrom('ingestion_run as r')
    .leftJoin('job as j', 'j.job_id', 'r.job_id')
    .selectAll('r')
    .select(['j.status', 'j.records_ingested', 'j.records_invalid', 'j.error']);

type Row = Awaited<ReturnType<ReturnType<typeof selectRuns>['execute']>>[number];

const toRun = (row: Row): RunEntry => ({
  runId: row.run_id,
  scheduleId: row.schedule_id,
  dataset: row.dataset,
  dueMs: row.due_ms,
  dues: row.dues,
  attempt: row.attempt,
  outcome: row.outcome,
  jobId: row.job_id,
  note: row.note,
  madeMs: row.made_ms,
  job:
    row.status === null
      ? undefined
      : {
          status: row.status,
          ingested: row.records_ingested ?? 0,
          invalid: row.records_invalid ?? 0,
          error: row.error,
        },
});

/** Counts added records and runs in ERROR since a time, and finds the time of the latest run. */
export async function countOutcomes(
  database: Database,
  scheduleId: string,
  sinceMs: number,
): Promise<{ readonly added: number; readonly errors: number; readonly last: number | null }> {
  const runs = database
    .selectFrom('ingestion_run as r')
    .leftJoin('job as j', 'j.job_id', 'r.job_id')
    .where('r.schedule_id', '=', scheduleId)
    .where('r.outcome', '=', 'RUN');
  const [counted, newest] = await Promise.all([
    runs
      .where('r.made_ms', '>=', sinceMs)
      .groupBy('j.status')
      .select(['j.status'])
      .select((select) => [
        select.fn.countAll<number>().as('runs'),
        select.fn.sum<number>('j.records_ingested').as('added'),
      ])
      .execute(),
    runs.select((select) => select.fn.max('r.made_ms').as('last')).executeTakeFirst(),
  ]);
  return {
    added: counted.reduce((sum, { added }) => sum + Number(added ?? 0), 0),
    errors: Number(counted.find(({ status }) => status === 'ERROR')?.runs ?? 0),
    last: newest?.last ?? null,
  };
}

/** Adds an event from outside the schedule to its runs; returns its id. */
export const noteRun = (
  database: Database,
  { dataset, id, workspace }: Schedule,
  timeMs: number,
  note: string,
  nowMs: number,
): Promise<string> =>
  insertRun(database, {
    schedule_id: id,
    workspace,
    dataset,
    due_ms: timeMs,
    dues: 0,
    attempt: 0,
    outcome: 'NOTED',
    job_id: null,
    note,
    made_ms: nowMs,
  });

export async function updateRunNote(
  database: Database,
  runId: string,
  note: string,
): Promise<void> {
  await database.updateTable('ingestion_run').set({ note }).where('run_id', '=', runId).execute();
}

export async function removeRun(database: Database, runId: string): Promise<void> {
  await database.deleteFrom('ingestion_run').where('run_id', '=', runId).execute();
}

/** Latest outcomes of the runs of a schedule. */
interface LastRuns {
  readonly scheduleId: string;
  readonly succeededMs: number | null;
  readonly failedMs: number | null;
  /** Whether the latest run failed, and its error. */
  readonly isFailed: boolean;
  readonly error: string | null;
}

/** Lists the latest outcomes of every schedule that has runs with a stored job. */
export async function listLastRuns(database: Database): Promise<readonly LastRuns[]> {
  const rows = await database
    .selectFrom('ingestion_run as r')
    .innerJoin('job as j', 'j.job_id', 'r.job_id')
    .where('j.status', 'in', ['INGESTED', 'ERROR'])
    .groupBy(['r.schedule_id', 'j.status'])
    .select((select) => [
      'r.schedule_id as scheduleId',
      'j.status as status',
      select.fn.max<number>('r.made_ms').as('madeMs'),
    ])
    .execute();
  const ids = [...new Set(rows.map(({ scheduleId }) => scheduleId))];
  const times = new Map(rows.map((row) => [`${row.status} ${row.scheduleId}`, row.madeMs]));
  const at = (id: string, status: string): number | null => times.get(`${status} ${id}`) ?? null;
  const lastRuns: LastRuns[] = [];
  for (const scheduleId of ids) {
    const [succeededMs, failedMs] = [at(scheduleId, 'INGESTED'), at(scheduleId, 'ERROR')];
    const isFailed = failedMs !== null && failedMs > (succeededMs ?? 0);
    const error = isFailed ? await findError(database, scheduleId, failedMs) : null;
    lastRuns.push({ scheduleId, succeededMs, failedMs, isFailed, error });
  }
  return lastRuns;
}

async function findError(
  database: Database,
  scheduleId: string,
  madeMs: number,
): Promise<string | null> {
  const row = await database
    .selectFrom('ingestion_run as r')
    .innerJoin('job as j', 'j.job_id', 'r.job_id')
    .select('j.error')
    .where('r.schedule_id', '=', scheduleId)
    .where('r.made_ms', '=', madeMs)
    .executeTakeFirst();
  return row?.error ?? null;
}
