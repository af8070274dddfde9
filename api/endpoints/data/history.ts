// The ingestion history: every due time of a schedule and its outcome.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { Failure } from '../../../store/base/failure.ts';
import {
  findRun,
  listRuns,
  noteRun,
  removeRun,
  updateRunNote,
  type RunEntry,
} from '../../../store/work/runHistory.ts';
import { findPathWorkspace } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';

type HistoryServices = Pick<Services, 'clock' | 'database' | 'lake' | 'scheduler' | 'settings'>;

const NOTE = { note: Type.String({ maxLength: 10_000 }) };
const CREATE = Type.Object(
  {
    ...NOTE,
    ingestionScheduleId: Type.String({ maxLength: 100 }),
    time: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
);
const CHANGE = Type.Object(NOTE, { additionalProperties: false });

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  ingestionHistoryId: Type.String(),
});

export const listHistory: Endpoint = {
  ...OWNERS_ROW,
  id: 'listIngestionHistory',
  method: 'GET',
  path: '/ingestion-history/:workspace',
  summary: 'Runs of all schedules of a workspace, newest first, each with the outcome of its job.',
  parameters: LIST_PARAMETERS,
  answer: Type.Array(ANY),
  handle: async (call, services) => toFreeAnswer(await runs(call, services, undefined)),
};

export const getHistory: Endpoint = {
  ...OWNERS_ROW,
  id: 'getIngestionHistory',
  method: 'GET',
  path: '/ingestion-history/:workspace/:id',
  summary: 'The runs of one schedule, or one run by its own id.',
  parameters: LIST_PARAMETERS,
  answer: Type.Union([Type.Array(ANY), ANY]),
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    const { id = '' } = call.path;
    const schedule = services.scheduler.get(workspace, id);
    if (schedule !== undefined) return toFreeAnswer(await runs(call, services, id));
    return toFreeAnswer(toView(await ownRun(call, services)));
  },
};

export const createHistory: Endpoint = {
  ...OWNERS_ROW,
  id: 'createIngestionHistory',
  method: 'POST',
  path: '/ingestion-history/:workspace',
  summary: 'Adds a note to the history of a schedule for work that was done by other means.',
  body: { kind: 'json', schema: CREATE },
  answer: CHANGED,
  handle: async (call, services) => {
    const { clock, database, scheduler } = services;
    const { workspace } = findPathWorkspace(call, services);
    const { ingestionScheduleId, note, time } = call.json as Static<typeof CREATE>;
    const schedule = scheduler.get(workspace, ingestionScheduleId);
    if (schedule === undefined) {
      throw new Failure('InvalidBody', 'ingestionScheduleId names no ingestion schedule');
    }
    const now = clock();
    return changedAnswer('noted', await noteRun(database, schedule, time ?? now, note, now));
  },
};

export const changeHistory: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeIngestionHistory',
  method: 'PUT',
  path: '/ingestion-history/:workspace/:id',
  summary: 'Changes the note of a run.',
  body: { kind: 'json', schema: CHANGE },
  answer: CHANGED,
  handle: async (call, services) => {
    const { runId } = await ownRun(call, services);
    await updateRunNote(services.database, runId, (call.json as Static<typeof CHANGE>).note);
    return changedAnswer('updated', runId);
  },
};

export const deleteHistory: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteIngestionHistory',
  method: 'DELETE',
  path: '/ingestion-history/:workspace/:id',
  summary: 'Removes a run from the history; its job and its records stay.',
  answer: CHANGED,
  handle: async (call, services) => {
    const { runId } = await ownRun(call, services);
    await removeRun(services.database, runId);
    return changedAnswer('deleted', runId);
  },
};

const changedAnswer = (action: string, ingestionHistoryId: string): Answer =>
  toFreeAnswer({
    success: true,
    message: `Ingestion history has been ${action}`,
    ingestionHistoryId,
  });

async function runs(
  call: Call,
  services: HistoryServices,
  scheduleId: string | undefined,
): Promise<readonly object[]> {
  const { workspace } = findPathWorkspace(call, services);
  const range = listRange(call.query, services.settings.zone);
  const rows = await listRuns(services.database, { workspace, scheduleId }, range);
  return rows.map(toView);
}

async function ownRun(call: Call, services: HistoryServices): Promise<RunEntry> {
  const { workspace } = findPathWorkspace(call, services);
  const run = await findRun(services.database, workspace, call.path['id'] ?? '');
  if (run === undefined) throw new Failure('NotFound');
  return run;
}

const toView = (run: RunEntry): object => ({
  ingestionHistoryId: run.runId,
  ingestionScheduleId: run.scheduleId,
  datasetId: run.dataset,
  due: run.dueMs,
  dueRuns: run.dues,
  attempt: run.attempt,
  outcome: run.outcome,
  jobId: run.jobId,
  status: run.job?.status ?? null,
  recordsIngested: run.job?.ingested ?? 0,
  recordsInvalid: run.job?.invalid ?? 0,
  error: run.job?.error ?? null,
  note: run.note,
  created: run.madeMs,
});
