// Ingestion schedules: when what a source has goes into a dataset.
import type { Static } from 'typebox';
import { COLUMNS_BYTES_MAX } from '../../request/body/bodyLimits.ts';
import { Type } from '../../request/body/schema.ts';
import { nextTime, nextTimes } from '../../../jobs/schedule/cron.ts';
import { UTC } from '../../../jobs/schedule/timeZone.ts';
import { findSource, insertSource } from '../../../store/work/dataSources.ts';
import { Failure } from '../../../store/base/failure.ts';
import { outcomesSince } from '../../../store/work/runHistory.ts';
import { newScheduleId, type Schedule } from '../../../store/work/schedules.ts';
import { callerOf, checkDatasetRoom, ownedWorkspaceOf } from '../../auth/access.ts';
import { refuseFeed } from '../../datasets/ingest/sourceBody.ts';
import type { Answer, Call, Endpoint, Services } from '../../request/endpoint.ts';
import { inRange, LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { ANY, freely, OWNERS_ROW } from '../../request/rows.ts';
import { createOnce, jsonHashOf } from '../../request/writeOnce.ts';
import { SCHEDULE_BODY, scheduleBodyOf } from '../../datasets/ingest/scheduleBody.ts';
import { JOB_MADE, jobMade, WAIT } from '../data/jobs.ts';
import { newSource } from './sources.ts';

type SchedulesServices = Pick<
  Services,
  'clock' | 'database' | 'lake' | 'queries' | 'scheduler' | 'settings' | 'upstreams'
>;

const MADE = Type.Object({
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
  summary: 'Takes from a source by the clock; at once too, unless it says when to begin.',
  body: { kind: 'json', schema: SCHEDULE_BODY, bytesMax: COLUMNS_BYTES_MAX },
  answer: MADE,
  handle: async (call, services) => {
    const { clock, scheduler } = services;
    const { workspace } = ownedWorkspaceOf(call, services);
    const given = call.json as Body;
    const now = clock();
    const body = scheduleBodyOf(given, now);
    const dataset = datasetFor(call, given, services);
    const { accountId } = callerOf(call.caller);
    const sourceId = await sourceFor(given, workspace, services);
    const schedule: Schedule = {
      id: newScheduleId(),
      workspace,
      accountId,
      sourceId,
      dataset,
      state: given.state ?? 'ENABLED',
      nextMs: body.startMs ?? now,
      retry: null,
      body,
      createdMs: now,
      updatedMs: now,
    };
    await scheduler.add(schedule);
    return made('created', schedule.id);
  },
};

/** @throws Failure Conflict, InvalidBody for a dataset that is not there and can't be made. */
function datasetFor(
  call: Call,
  { dataSource, datasetId }: Body,
  services: SchedulesServices,
): string {
  const place = ownedWorkspaceOf(call, services);
  const known = services.lake.directory.dataset(place.workspace, datasetId);
  if (known !== undefined) return known.dataset;
  if (dataSource !== undefined) {
    const rule = 'must be there already: a source made with its schedule makes no dataset';
    throw new Failure('InvalidBody', `datasetId ${rule}`);
  }
  checkDatasetRoom(callerOf(call.caller), place, datasetId, services);
  return datasetId;
}

/** The source that the body names, or the one that is made of it. */
async function sourceFor(
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
  const known = await findSource(database, workspace, body.dataSourceId ?? '');
  if (known === undefined) throw new Failure('InvalidBody', 'dataSourceId names no data source');
  refuseFeed(known.type);
  checkOverwrite(body, known.definition_json);
  return known.source_id;
}

/** What comes in several files, each stored by itself, can't take the place of all at once. */
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
    const { workspace } = ownedWorkspaceOf(call, services);
    const range = listRange(call.query, services.settings.zone);
    const taken = inRange(services.scheduler.list(workspace), range, ({ createdMs }) => createdMs);
    return freely(await Promise.all(taken.map((schedule) => view(schedule, services))));
  },
};

export const getSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'getIngestionSchedule',
  method: 'GET',
  path: '/ingestion-schedules/:workspace/:id',
  summary: 'An ingestion schedule, its last and next run, and what the last 30 days brought.',
  answer: ANY,
  handle: async (call, services) => freely(await view(own(call, services), services)),
};

export const changeSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'changeIngestionSchedule',
  method: 'PUT',
  path: '/ingestion-schedules/:workspace/:id',
  summary: 'Takes the place of a schedule; a job of it that runs goes on.',
  body: { kind: 'json', schema: SCHEDULE_BODY, bytesMax: COLUMNS_BYTES_MAX },
  answer: MADE,
  handle: async (call, services) => {
    const { clock, scheduler } = services;
    const before = own(call, services);
    const given = call.json as Body;
    const now = clock();
    const body = scheduleBodyOf(given, now);
    const dataset = datasetFor(call, given, services);
    const sourceId = await sourceFor(given, before.workspace, services);
    const next = nextOf(before, body, now);
    const state = given.state ?? before.state;
    const after = { ...before, body, dataset, sourceId, state, nextMs: next, retry: null };
    const anew = sourceId !== before.sourceId || dataset !== before.dataset;
    await scheduler.change({ ...after, updatedMs: now }, anew);
    return made('updated', before.id);
  },
};

/** A schedule whose times are what they were keeps its next one; due times of a pause are gone. */
function nextOf(before: Schedule, body: Schedule['body'], now: number): number | null {
  const same =
    before.body.cron === body.cron &&
    before.body.timeZone === body.timeZone &&
    before.body.startMs === body.startMs;
  if (same && before.state === 'ENABLED') return before.nextMs;
  if (body.startMs !== null && body.startMs > now) return body.startMs;
  return nextTime(body.cron, now, body.timeZone) ?? null;
}

export const deleteSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'deleteIngestionSchedule',
  method: 'DELETE',
  path: '/ingestion-schedules/:workspace/:id',
  summary: 'Deletes a schedule and its history; its records stay.',
  answer: MADE,
  handle: async (call, services) => {
    const { id } = own(call, services);
    await services.scheduler.remove(id);
    return made('deleted', id);
  },
};

export const runSchedule: Endpoint = {
  ...OWNERS_ROW,
  id: 'runIngestionSchedule',
  method: 'POST',
  once: true,
  path: '/ingestion-schedules/:workspace/:id/run',
  summary: 'Runs a schedule now, also a paused one; its next run stays when it is.',
  parameters: [WAIT],
  answer: JOB_MADE,
  handle: async (call, services) => {
    const schedule = own(call, services);
    const jobId = await createOnce(call, services, jsonHashOf(call), (alongside) =>
      services.scheduler.runNow(schedule, alongside),
    );
    const what = `Run of ${schedule.body.name}`;
    return jobMade(what, schedule.workspace, jobId, call, services);
  },
};

const made = (what: string, ingestionScheduleId: string): Answer =>
  freely({ success: true, message: `Ingestion schedule has been ${what}`, ingestionScheduleId });

/** Runs that are shown ahead. */
const NEXT_RUNS = 5;

/** The next run and those after it; none of a schedule that is paused. */
function nextRuns({ body, nextMs, state }: Schedule): readonly number[] {
  if (state !== 'ENABLED' || nextMs === null) return [];
  return [nextMs, ...nextTimes(body.cron, nextMs, body.timeZone ?? UTC, NEXT_RUNS - 1)];
}

function own(call: Call, services: SchedulesServices): Schedule {
  const { workspace } = ownedWorkspaceOf(call, services);
  const schedule = services.scheduler.get(workspace, call.path['id'] ?? '');
  if (schedule === undefined) throw new Failure('NotFound');
  return schedule;
}

async function view(
  schedule: Schedule,
  { clock, database, scheduler }: Pick<Services, 'clock' | 'database' | 'scheduler'>,
): Promise<object> {
  const { body, state } = schedule;
  const since = clock() - COUNTED_DAYS * 86_400_000;
  const { added, errors, last } = await outcomesSince(database, schedule.id, since);
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
