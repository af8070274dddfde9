// Ingestion schedules: when data of a source is loaded into a dataset.
import type { Static } from 'typebox';
import { COLUMNS_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { nextTime, nextTimes } from '../../../jobs/schedule/cron.ts';
import { UTC } from '../../../jobs/schedule/timeZone.ts';
import { findSource, insertSource } from '../../../store/work/dataSources.ts';
import { Failure } from '../../../store/base/failure.ts';
import { countOutcomes } from '../../../store/work/runHistory.ts';
import { newScheduleId, type Schedule } from '../../../store/work/schedules.ts';
import { checkDatasetRoom, findPathWorkspace } from '../../../reads/rights/access.ts';
import { refuseFeed, unknownSourceFailure } from '../../datasets/ingest/sourceBody.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, toFreeAnswer, OWNERS_ROW } from '../../request/rows.ts';
import { createOnce, hashJson } from '../../request/writeOnce.ts';
import { SCHEDULE_BODY, parseSchedule } from '../../datasets/ingest/scheduleBody.ts';
import { JOB_CREATED, answerJobCreated, WAIT } from '../data/jobs.ts';
import { newSource } from './sources.ts';

type SchedulesServices = Pick<
  Services,
  'clock' | 'database' | 'lake' | 'queries' | 'scheduler' | 'settings' | 'upstreams'
>;

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  ingestionScheduleId: Type.String(),
});

/** Days whose outcomes are counted beside a schedule. */
const COUNTED_DAYS = 30;

type Body = Static<typeof SCHEDULE_BODY>;

export const createSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'createIngestionSchedule',
  method: 'POST',
  path: '/ingestion-schedules/:workspace',
  summary: 'Loads from a source on a schedule; the first run starts immediately, or at startTime.',
  body: { kind: 'json', schema: SCHEDULE_BODY, bytesMax: COLUMNS_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const { clock, scheduler } = services;
    const { workspace } = findPathWorkspace(call, services);
    const request = call.json as Body;
    const now = clock();
    const body = parseSchedule(request, now);
    const dataset = resolveDataset(call, request, services);
    const { accountId } = call.caller;
    const sourceId = await resolveSource(request, workspace, services);
    const schedule: Schedule = {
      id: newScheduleId(),
      workspace,
      accountId,
      sourceId,
      dataset,
      state: request.state ?? 'ENABLED',
      nextMs: body.startMs ?? now,
      retry: null,
      body,
      createdMs: now,
      updatedMs: now,
    };
    await scheduler.add(schedule);
    return changedAnswer('created', schedule.id);
  },
};

/** @throws Failure Conflict, InvalidBody for a missing dataset that can't be created. */
function resolveDataset(
  call: Call,
  { dataSource, datasetId }: Body,
  services: SchedulesServices,
): string {
  const place = findPathWorkspace(call, services);
  const existing = services.lake.directory.dataset(place.workspace, datasetId);
  if (existing !== undefined) return existing.dataset;
  if (dataSource !== undefined) {
    const rule = 'must exist: a source that is created with its schedule creates no dataset';
    throw new Failure('InvalidBody', `datasetId ${rule}`);
  }
  checkDatasetRoom(call.caller, place, datasetId, services);
  return datasetId;
}

/** The source that the body names, or a new one from its definition. */
async function resolveSource(
  body: Body,
  workspace: string,
  services: SchedulesServices,
): Promise<string> {
  const { database } = services;
  if (body.dataSource !== undefined) {
    refuseFeed(body.dataSource.type);
    const row = await newSource(body.dataSource, workspace, true, services);
    checkOverwrite(body, row.definition_json);
    await insertSource(database, row);
    return row.source_id;
  }
  const source = await findSource(database, workspace, body.dataSourceId ?? '');
  if (source === undefined) throw unknownSourceFailure();
  refuseFeed(source.type);
  checkOverwrite(body, source.definition_json);
  return source.source_id;
}

/** Several files are stored one by one, so that they can't replace all records together. */
function checkOverwrite({ overwrite }: Body, definition: string): void {
  const { pattern, path } = JSON.parse(definition) as { pattern?: string; path?: string };
  if (overwrite !== true || (pattern === undefined && !/[*?[]/.test(path ?? ''))) return;
  throw new Failure('InvalidBody', 'overwrite must be false for a source of several files');
}

export const listSchedules: Endpoint = {
  ...OWNERS_ROW,
  id: 'listIngestionSchedules',
  method: 'GET',
  path: '/ingestion-schedules/:workspace',
  summary: 'The ingestion schedules of a workspace, with their last and next runs.',
  parameters: LIST_PARAMETERS,
  answer: Type.Array(ANY),
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    const range = listRange(call.query, services.settings.zone);
    const page = inRange(services.scheduler.list(workspace), range, ({ createdMs }) => createdMs);
    return toFreeAnswer(await Promise.all(page.map((schedule) => toView(schedule, services))));
  },
};

export const getSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'getIngestionSchedule',
  method: 'GET',
  path: '/ingestion-schedules/:workspace/:id',
  summary: 'An ingestion schedule, its last and next run, and the outcomes of the last 30 days.',
  answer: ANY,
  handle: async (call, services) => toFreeAnswer(await toView(findOwn(call, services), services)),
};

export const changeSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeIngestionSchedule',
  method: 'PUT',
  path: '/ingestion-schedules/:workspace/:id',
  summary: 'Replaces a schedule; a running job of it continues.',
  body: { kind: 'json', schema: SCHEDULE_BODY, bytesMax: COLUMNS_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const { clock, scheduler } = services;
    const before = findOwn(call, services);
    const request = call.json as Body;
    const now = clock();
    const body = parseSchedule(request, now);
    const dataset = resolveDataset(call, request, services);
    const sourceId = await resolveSource(request, before.workspace, services);
    const next = nextDue(before, body, now);
    const state = request.state ?? before.state;
    const after = { ...before, body, dataset, sourceId, state, nextMs: next, retry: null };
    const isReset = sourceId !== before.sourceId || dataset !== before.dataset;
    await scheduler.change({ ...after, updatedMs: now }, isReset);
    return changedAnswer('updated', before.id);
  },
};

/** A schedule with unchanged times keeps its next run; due times during a pause are dropped. */
function nextDue(before: Schedule, body: Schedule['body'], now: number): number | null {
  const isSameTiming =
    before.body.cron === body.cron &&
    before.body.timeZone === body.timeZone &&
    before.body.startMs === body.startMs;
  if (isSameTiming && before.state === 'ENABLED') return before.nextMs;
  if (body.startMs !== null && body.startMs > now) return body.startMs;
  return nextTime(body.cron, now, body.timeZone) ?? null;
}

export const deleteSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteIngestionSchedule',
  method: 'DELETE',
  path: '/ingestion-schedules/:workspace/:id',
  summary: 'Deletes a schedule and its history; its records stay.',
  answer: CHANGED,
  handle: async (call, services) => {
    const { id } = findOwn(call, services);
    await services.scheduler.remove(id);
    return changedAnswer('deleted', id);
  },
};

export const runSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'runIngestionSchedule',
  method: 'POST',
  once: true,
  path: '/ingestion-schedules/:workspace/:id/run',
  summary: 'Runs a schedule now, also a paused one; the time of its next run does not change.',
  parameters: [WAIT],
  answer: JOB_CREATED,
  handle: async (call, services) => {
    const schedule = findOwn(call, services);
    const jobId = await createOnce(call, services, hashJson(call), (alongside) =>
      services.scheduler.runNow(schedule, alongside),
    );
    const what = `Run of ${schedule.body.name}`;
    return answerJobCreated(what, schedule.workspace, jobId, call, services);
  },
};

const changedAnswer = (action: string, ingestionScheduleId: string): Answer =>
  toFreeAnswer({
    success: true,
    message: `Ingestion schedule has been ${action}`,
    ingestionScheduleId,
  });

/** Future runs in an answer. */
const NEXT_RUNS = 5;

/** The next run and those after it; none for a paused schedule. */
function nextRuns({ body, nextMs, state }: Schedule): readonly number[] {
  if (state !== 'ENABLED' || nextMs === null) return [];
  return [nextMs, ...nextTimes(body.cron, nextMs, body.timeZone ?? UTC, NEXT_RUNS - 1)];
}

function findOwn(call: Call, services: SchedulesServices): Schedule {
  const { workspace } = findPathWorkspace(call, services);
  const schedule = services.scheduler.get(workspace, call.path['id'] ?? '');
  if (schedule === undefined) throw new Failure('NotFound');
  return schedule;
}

async function toView(
  schedule: Schedule,
  { clock, database, scheduler }: Pick<Services, 'clock' | 'database' | 'scheduler'>,
): Promise<object> {
  const { body, state } = schedule;
  const since = clock() - COUNTED_DAYS * 86_400_000;
  const { added, errors, last } = await countOutcomes(database, schedule.id, since);
  return {
    ingestionScheduleId: schedule.id,
    name: body.name,
    description: body.description,
    dataSourceId: schedule.sourceId,
    datasetId: schedule.dataset,
    cron: body.cron,
    timeZone: body.timeZone ?? UTC,
    state,
    running: scheduler.isRunning(schedule.id),
    startTime: body.startMs,
    lastRun: last,
    nextRun: state === 'ENABLED' ? schedule.nextMs : null,
    nextRuns: nextRuns(schedule),
    retryAt: schedule.retry?.atMs ?? null,
    last30Days: `${added} Added | ${errors} Errors`,
    missedRuns: body.missedRuns,
    duplicates: body.chosen ?? null,
    duplicateKeyHandling: body.duplicates,
    ...(body.numbered === true ? { uniqueIndex: false } : {}),
    overwrite: body.overwrite,
    maximumValidationErrors: body.rejectsMax,
    columnMapping: body.mapping,
    dateOrder: body.dateOrder ?? null,
    reading: body.reading ?? null,
    attempts: body.attemptsMax,
    retryWaitSeconds: body.retryMs / 1_000,
    created: schedule.createdMs,
    updated: schedule.updatedMs,
  };
}
