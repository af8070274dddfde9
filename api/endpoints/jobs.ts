// A job as its owner sees it (INTERFACE.md 3.7; the object's exact members are not public).
import { Type } from 'typebox';
import { Failure } from '../../store/failure.ts';
import { findJob, type Job } from '../../store/jobs.ts';
import { callerOf, workspaceOf } from '../access.ts';
import type { Endpoint } from '../endpoint.ts';

export const getJob: Endpoint = {
  id: 'getJob',
  method: 'GET',
  path: '/jobs/:workspace/ingest/:jobId',
  token: 'secret',
  summary: 'State, progress and counts of an ingestion job.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({
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
    snapshot: Type.Union([Type.Integer(), Type.Null()]),
    error: Type.Union([Type.String(), Type.Null()]),
    created: Type.Integer(),
    started: Type.Union([Type.Integer(), Type.Null()]),
    finished: Type.Union([Type.Integer(), Type.Null()]),
    duration: Type.Union([Type.Integer(), Type.Null()]),
  }),
  failures: 'workspace',
  handle: async (call, { database, lake, runner, clock }) => {
    const caller = callerOf(call.caller);
    const { workspace } = workspaceOf(caller, call.path['workspace'] ?? '', lake);
    const job = await findJob(database, call.path['jobId'] ?? '');
    if (job === undefined || job.workspace !== workspace) throw new Failure('NotFound');
    const value = jobView(job, runner.progressOf(job.job_id), clock());
    return { kind: 'json', value, metering: 'free' };
  },
};

function jobView(job: Job, live: number | undefined, nowMs: number): object {
  const { started_ms, finished_ms } = job;
  return {
    jobId: job.job_id,
    jobType: job.type,
    workspace: job.workspace,
    datasetId: job.dataset,
    status: job.status,
    lastGoodStatus: job.last_good_status,
    progress: finished_ms === null ? (live ?? job.progress) : job.progress,
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
    duration: started_ms === null ? null : (finished_ms ?? nowMs) - started_ms,
  };
}
