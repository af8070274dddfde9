// Jobs as their owner sees them (INTERFACE.md 3.2, 3.7; the object's exact members are not public).
import { Type } from 'typebox';
import { endOfDay, startOfDay } from '../../query/dates.ts';
import { Failure } from '../../store/failure.ts';
import { findJob, findRejects, type Job, JOBS_LISTED_MAX, listJobs } from '../../store/jobs.ts';
import { callerOf, workspaceOf } from '../access.ts';
import type { Answer, Call, Endpoint, Services } from '../endpoint.ts';
import { dayOf, numberOf, textOf } from '../parameters.ts';

const COUNT = Type.Union([Type.Integer(), Type.Null()]);

const JOB = Type.Object({
  jobId: Type.String(),
  jobType: Type.String(),
  workspace: Type.String(),
  datasetId: Type.String(),
  status: Type.String(),
  lastGoodStatus: Type.String(),
  progress: Type.Integer(),
  bytes: Type.Integer(),
  recordsValidated: Type.Integer(),
  recordsIngested: Type.Integer(),
  recordsInvalid: Type.Integer(),
  recordsDuplicate: Type.Integer(),
  snapshot: COUNT,
  error: Type.Union([Type.String(), Type.Null()]),
  created: Type.Integer(),
  started: COUNT,
  finished: COUNT,
  duration: COUNT,
});

export const getJob: Endpoint = {
  id: 'getJob',
  method: 'GET',
  path: '/jobs/:workspace/:type/:jobId',
  token: 'secret',
  summary: 'State, progress and counts of a job.',
  weight: 'free',
  parameters: [],
  answer: JOB,
  failures: 'workspace',
  handle: async (call, services) => {
    const value = jobView(await jobOf(call, services), services);
    return { kind: 'json', value, metering: 'free' };
  },
};

export const listJobsOf: Endpoint = {
  id: 'listJobs',
  method: 'GET',
  path: '/jobs/:workspace/:type',
  aliases: ['/jobs/:workspace/:type/query'],
  token: 'secret',
  summary: 'The jobs of a workspace, newest first.',
  weight: 'free',
  parameters: [
    { kind: 'day', name: 'from', help: 'Jobs made on or after this date.' },
    { kind: 'day', name: 'to', help: 'Jobs made on or before this date.' },
    { kind: 'integer', name: 'limit', least: 1, most: JOBS_LISTED_MAX, help: 'At most n jobs.' },
    { kind: 'integer', name: 'last', least: 1, most: JOBS_LISTED_MAX, help: 'The latest n jobs.' },
    { kind: 'integer', name: 'first', least: 1, most: JOBS_LISTED_MAX, help: 'The first n jobs.' },
    {
      kind: 'choice',
      name: 'sort',
      choices: ['asc', 'desc'],
      help: 'Order by time; desc by default.',
    },
  ],
  answer: Type.Array(JOB),
  failures: 'workspace',
  handle: async (call, services) => {
    const { database, lake, settings } = services;
    const caller = callerOf(call.caller);
    const { workspace } = workspaceOf(caller, call.path['workspace'] ?? '', lake);
    const { type = '' } = call.path;
    // iexjs cancels by `/jobs/:workspace/:id` (INTERFACE.md 3.2 "Client bugs to tolerate").
    if (JOB_ID.test(type))
      return cancelled(await jobNamed(workspace, type, services), call, services);
    checkType(call);
    const [from, to] = [dayOf(call.query, 'from'), dayOf(call.query, 'to')];
    const first = numberOf(call.query, 'first');
    const limit = numberOf(call.query, 'last') ?? numberOf(call.query, 'limit') ?? JOBS_LISTED_MAX;
    const jobs = await listJobs(database, workspace, {
      ...(from === undefined ? {} : { fromMs: startOfDay(from, settings.zone) }),
      ...(to === undefined ? {} : { untilMs: endOfDay(to, settings.zone) }),
      limit: first === undefined ? limit : JOBS_LISTED_MAX,
    });
    const taken = first === undefined ? jobs : jobs.slice(-first);
    const ordered = textOf(call.query, 'sort') === 'asc' ? taken.toReversed() : taken;
    const value = ordered.map((job) => jobView(job, services));
    return { kind: 'json', value, metering: 'free' };
  },
};

export const getInvalidRecords: Endpoint = {
  id: 'getInvalidRecords',
  method: 'GET',
  path: '/jobs/:workspace/:type/:jobId/invalid-records-log',
  token: 'secret',
  summary: 'The records that a job rejected, as CSV: job, line, error.',
  weight: 'free',
  parameters: [],
  answer: Type.String(),
  failures: 'workspace',
  handle: async (call, services) => {
    const { job_id } = await jobOf(call, services);
    const rejects = await findRejects(services.database, job_id);
    const lines = rejects.map(
      ({ line, error }) => `${job_id},${line},"${error.replaceAll('"', '""')}"\n`,
    );
    const text = `jobId,lineNumber,error\n${lines.join('')}`;
    return { kind: 'text', text, contentType: 'text/csv; charset=utf-8' };
  },
};

export const cancelJob: Endpoint = {
  id: 'cancelJob',
  method: 'GET',
  path: '/jobs/:workspace/:type/:jobId/cancel',
  token: 'secret',
  summary: 'Ends a job that has not ended; nothing of it becomes visible.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  failures: 'workspace',
  handle: async (call, services) => {
    return cancelled(await jobOf(call, services), call, services);
  },
};

const JOB_ID = /^[0-9a-f]{32}$/;

async function cancelled(job: Job, { environment }: Call, { runner }: Services): Promise<Answer> {
  // By GET, as the original has it: no method tells that it changes something.
  if (environment === 'test') throw new Failure('TestReadOnly');
  if (!(await runner.cancel(job))) {
    throw new Failure('Conflict', `job ${job.job_id} has ended in ${job.status}`);
  }
  const value = { success: true, message: `job ${job.job_id} is being cancelled` };
  return { kind: 'json', value, metering: 'free' };
}

async function jobOf(call: Call, services: Services): Promise<Job> {
  const caller = callerOf(call.caller);
  const { workspace } = workspaceOf(caller, call.path['workspace'] ?? '', services.lake);
  checkType(call);
  return jobNamed(workspace, call.path['jobId'] ?? '', services);
}

async function jobNamed(workspace: string, jobId: string, { database }: Services): Promise<Job> {
  const job = await findJob(database, jobId);
  if (job === undefined || job.workspace !== workspace) throw new Failure('NotFound');
  return job;
}

/** Loads are the only type of job so far. */
function checkType({ path }: Call): void {
  if (path['type'] !== 'ingest') throw new Failure('NotFound');
}

function jobView(job: Job, { clock, runner }: Services): object {
  const { started_ms, finished_ms } = job;
  const live = runner.progressOf(job.job_id) ?? job.progress;
  return {
    jobId: job.job_id,
    jobType: job.type,
    workspace: job.workspace,
    datasetId: job.dataset,
    status: job.status,
    lastGoodStatus: job.last_good_status,
    progress: finished_ms === null ? live : job.progress,
    bytes: job.bytes,
    recordsValidated: job.records_validated,
    recordsIngested: job.records_ingested,
    recordsInvalid: job.records_invalid,
    recordsDuplicate: job.records_duplicate,
    snapshot: job.snapshot_id,
    error: job.error,
    created: job.created_ms,
    started: started_ms,
    finished: finished_ms,
    duration: started_ms === null ? null : (finished_ms ?? clock()) - started_ms,
  };
}
