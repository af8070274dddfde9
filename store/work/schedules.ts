// Stores ingestion schedules: the times at which a source is pulled into a dataset, the position of the
// latest pull, and every due run. A due run is claimed in one transaction with its job, so that it happens
// once.
import type { Selectable } from 'kysely';
import { insertLimited } from './workspaceLimits.ts';
import type { Database } from '../catalog/database.ts';
import { randomHex } from '../base/random.ts';
import type { ScheduleTable, RunTable } from '../catalog/tables/schedules.ts';

/** Runs for due times missed during downtime: one run, none, or one for each. */
export type MissedRuns = 'once' | 'skip' | 'all';

export interface ScheduleBody {
  readonly name: string;
  readonly description: string;
  /** Five fields, in the time of `timeZone`. */
  readonly cron: string;
  /** IANA name; UTC when undefined. */
  readonly timeZone?: string;
  readonly startMs: number | null;
  readonly missedRuns: MissedRuns;
  readonly duplicates: 'ignore' | 'replace';
  /** Owner's choice for duplicates, as the pipeline names it. */
  readonly chosen?: 'replace' | 'keep-first' | 'reject' | 'keep-all' | 'skip-identical';
  readonly overwrite: boolean;
  readonly rejectsMax: number | null;
  /** Attempts of one run, and the delay before the second, which doubles with each further one. */
  readonly attemptsMax: number;
  readonly retryMs: number;
  readonly mapping: {
    readonly key?: string;
    readonly subkey?: string;
    readonly date?: string;
  } | null;
  readonly numbered?: boolean;
  readonly dateOrder?: 'MDY' | 'DMY';
  /** Reading options of the pipeline, opaque here. */
  readonly reading?: object;
}

type ScheduleRow = Selectable<ScheduleTable>;
type Run = Selectable<RunTable>;

export interface Schedule {
  readonly id: string;
  readonly workspace: string;
  readonly accountId: string;
  readonly sourceId: string;
  readonly dataset: string;
  readonly state: 'ENABLED' | 'PAUSED';
  readonly nextMs: number | null;
  readonly retry: {
    readonly atMs: number;
    readonly dueMs: number;
    readonly attempt: number;
  } | null;
  readonly body: ScheduleBody;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Limit of schedules of one workspace. */
const SCHEDULES_MAX = 10_000;
/** Limit of stored runs of one schedule; the latest are kept: half a year of hours. */
const RUNS_MAX = 5_000;

export const newScheduleId = (): string => `INGESTION_SCHEDULE_${randomHex(16)}`;

/** @throws Failure LimitReached at the limit of the workspace. */
export const insertSchedule = (database: Database, schedule: Schedule): Promise<void> =>
  insertLimited(database, 'schedule', { ...schedule, most: SCHEDULES_MAX }, (transaction) =>
    transaction
      .insertInto('schedule')
      .values({ ...toRow(schedule), position_json: null })
      .execute(),
  );

/** Saves everything except the position of the latest pull. */
export async function saveSchedule(database: Database, schedule: Schedule): Promise<void> {
  const update = database.updateTable('schedule').set(toRow(schedule));
  await update.where('schedule_id', '=', schedule.id).execute();
}

export async function removeSchedule(database: Database, id: string): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('schedule').where('schedule_id', '=', id).execute();
    await transaction.deleteFrom('ingestion_run').where('schedule_id', '=', id).execute();
  });
}

/** Lists schedules of every workspace, oldest first. */
export async function listAllSchedules(database: Database): Promise<readonly Schedule[]> {
  const rows = await database
    .selectFrom('schedule')
    .selectAll()
    .orderBy('created_ms')
    .orderBy('schedule_id')
    .execute();
  return rows.map(toSchedule);
}

export async function findPosition(database: Database, id: string): Promise<unknown> {
  const row = await database
    .selectFrom('schedule')
    .select('position_json')
    .where('schedule_id', '=', id)
    .executeTakeFirst();
  return row?.position_json === null || row === undefined
    ? undefined
    : JSON.parse(row.position_json);
}

/** Runs in the transaction that makes the pulled records visible. Null: the next pull starts over. */
export async function savePosition(
  transaction: Database,
  id: string,
  position: unknown,
): Promise<void> {
  const text = position === null ? null : JSON.stringify(position);
  const update = transaction.updateTable('schedule').set({ position_json: text });
  await update.where('schedule_id', '=', id).execute();
}

/** Saves the position of all schedules that pull a source into a dataset. */
export async function savePositions(
  transaction: Database,
  target: { readonly workspace: string; readonly dataset: string; readonly sourceId: string },
  position: unknown,
): Promise<void> {
  const position_json = JSON.stringify(position);
  await transaction
    .updateTable('schedule')
    .set({ position_json })
    .where('workspace', '=', target.workspace)
    .where('dataset', '=', target.dataset)
    .where('source_id', '=', target.sourceId)
    .execute();
}

export async function insertRun(transaction: Database, run: Omit<Run, 'run_id'>): Promise<string> {
  const runId = randomHex(16);
  await transaction
    .insertInto('ingestion_run')
    .values({ ...run, run_id: runId })
    .execute();
  return runId;
}

/** Removes the oldest runs of a schedule above the limit. */
export async function trimRuns(database: Database, scheduleId: string): Promise<void> {
  const oldest = await database
    .selectFrom('ingestion_run')
    .select('made_ms')
    .where('schedule_id', '=', scheduleId)
    .orderBy('made_ms', 'desc')
    .offset(RUNS_MAX)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await database
    .deleteFrom('ingestion_run')
    .where('schedule_id', '=', scheduleId)
    .where('made_ms', '<=', oldest.made_ms)
    .execute();
}

function toRow(schedule: Schedule): Omit<ScheduleTable, 'position_json'> {
  return {
    schedule_id: schedule.id,
    workspace: schedule.workspace,
    account_id: schedule.accountId,
    source_id: schedule.sourceId,
    dataset: schedule.dataset,
    state: schedule.state,
    next_ms: schedule.nextMs,
    retry_ms: schedule.retry?.atMs ?? null,
    due_ms: schedule.retry?.dueMs ?? null,
    attempt: schedule.retry?.attempt ?? 0,
    body_json: JSON.stringify(schedule.body),
    created_ms: schedule.createdMs,
    updated_ms: schedule.updatedMs,
  };
}

const toSchedule = (row: ScheduleRow): Schedule => ({
  id: row.schedule_id,
  workspace: row.workspace,
  accountId: row.account_id,
  sourceId: row.source_id,
  dataset: row.dataset,
  state: row.state === 'PAUSED' ? 'PAUSED' : 'ENABLED',
  nextMs: row.next_ms,
  retry:
    row.retry_ms === null
      ? null
      : { atMs: row.retry_ms, dueMs: row.due_ms ?? row.retry_ms, attempt: row.attempt },
  body: JSON.parse(row.body_json) as ScheduleBody,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
});
