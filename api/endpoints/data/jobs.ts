// Job endpoints (INTERFACE.md 3.2, 3.7; the object's exact members are not public).
import type { Static } from 'typebox';
import { COLUMNS_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { parseJobOrder, fetchOrder } from '../../../jobs/run/order.ts';
import { dryRun } from '../../../pipeline/edit/dryRun.ts';
import { checkJsonPath } from '../../../pipeline/decode/json/jsonPath.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import { findSource } from '../../../store/work/dataSources.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findJob, findRejects, type Job, listJobs } from '../../../store/work/jobs.ts';
import { redactText } from '../../../store/base/redact.ts';
import { checkDatasetRoom, findPathWorkspace } from '../../../reads/rights/access.ts';
import { refuseFeed, unknownSourceFailure } from '../../datasets/ingest/sourceBody.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { LIST_PARAMETERS, listRange } from '../../request/listRange.ts';
import { type Parameter, truthOf } from '../../../reads/request/parameters.ts';
import { DRY_RUN, dryRunView } from '../../datasets/ingest/dryRunView.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import { createOnce, hashJson } from '../../request/writeOnce.ts';
import { checkReading } from '../../datasets/ingest/loadParameters.ts';
import { LOADING } from '../../datasets/ingest/scheduleBody.ts';
import type { LoadCounts } from '../../../pipeline/conform/loadCounts.ts';
import { jobLoadCounts } from '../../../jobs/run/jobCounts.ts';
import {
  LOAD_COUNTS,
  REJECTS,
  toRejectViews,
  SOME_LOAD_COUNTS,
} from '../../datasets/ingest/loadAnswer.ts';
import { withFirstFile } from '../../datasets/ingest/sourcePreview.ts';
import { jobCreatedText } from '../../../jobs/run/runner.ts';

type JobsServices = Pick<
  Services,
  'database' | 'folder' | 'ingestion' | 'lake' | 'runner' | 'scheduler' | 'settings'
>;

const COUNT = Type.Union([Type.Integer(), Type.Null()]);
const TEXT = Type.Union([Type.String(), Type.Null()]);

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
  recordsQuarantined: Type.Integer(),
  ...LOAD_COUNTS,
  snapshot: COUNT,
  sourceType: Type.String(),
  dataSourceId: TEXT,
  ingestionScheduleId: TEXT,
  error: TEXT,
  notes: Type.Array(Type.String()),
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
    const value = jobView(await findCallJob(call, services), services);
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
  parameters: LIST_PARAMETERS,
  answer: Type.Array(JOB),
  failures: 'workspace',
  handle: async (call, services) => {
    const { workspace } = findPathWorkspace(call, services);
    const { type = '' } = call.path;
    // iexjs cancels by `/jobs/:workspace/:id` (INTERFACE.md 3.2 "Client bugs to tolerate").
    if (JOB_ID.test(type))
      return cancelAnswer(await findWorkspaceJob(workspace, type, services), services);
    checkType(call);
    const range = listRange(call.query, services.settings.zone);
    const jobs = await listJobs(services.database, workspace, range);
    await services.lake.waitForSnapshot(Math.max(0, ...jobs.map((job) => job.snapshot_id ?? 0)));
    return toFreeAnswer(jobs.map((job) => jobView(job, services)));
  },
};

const CREATE = Type.Object(
  {
    dataSourceId: Type.String({ maxLength: 100 }),
    datasetId: Type.String({ minLength: 1, maxLength: 128 }),
    credentialId: Type.Optional(Type.String({ maxLength: 100 })),
    jsonPath: Type.Optional(Type.String({ maxLength: 2_000 })),
    ...LOADING,
  },
  { additionalProperties: false },
);

export const JOB_CREATED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  jobId: Type.String(),
  jobUrl: Type.String(),
  /** Only if the call waited for the load. */
  notes: Type.Optional(Type.Array(Type.String())),
  ...SOME_LOAD_COUNTS,
  rejects: Type.Optional(REJECTS),
});

export const WAIT: Parameter = {
  kind: 'boolean',
  name: 'wait',
  help: 'Wait until the job has ended.',
};

/** The answer for a new job. @throws Failure InvalidBody if the call waits for the job and it fails. */
export async function answerJobCreated(
  what: string,
  workspace: string,
  jobId: string,
  call: Call,
  { database, runner }: Pick<Services, 'database' | 'runner'>,
): Promise<Answer> {
  const created = jobCreatedText(jobId);
  const toAnswer = (message: string) => ({
    success: true,
    message,
    jobId,
    jobUrl: `/v1/jobs/${workspace}/ingest/${jobId}`,
  });
  if (!truthOf(call.query, 'wait')) return toFreeAnswer(toAnswer(`${what}, ${created}`));
  const job = await runner.ended(jobId);
  if (job.status !== 'INGESTED') {
    throw new Failure('InvalidBody', `job ${jobId} ended in ${job.status}: ${job.error}`);
  }
  const counts = jobLoadCounts(job);
  const { columnsLeftOut, received, rejected } = counts;
  const message = `${what}${describeLosses(counts)}, ${created}`;
  // The other counts and the notes reveal which index values are stored, which the right to write excludes.
  if (call.caller.kind !== 'secret') {
    return toFreeAnswer({ ...toAnswer(message), received, rejected, columnsLeftOut });
  }
  const rejects = rejected === 0 ? [] : await findRejects(database, jobId);
  const notes = readNotes(job);
  return toFreeAnswer({ ...toAnswer(message), ...counts, rejects: toRejectViews(rejects), notes });
}

/** Lists rejected, quarantined and left-out data, which "completed" alone would hide. */
function describeLosses({ columnsLeftOut, quarantined, received, rejected }: LoadCounts): string {
  const losses = [
    ...(rejected === 0 ? [] : [`${rejected} of ${received} records rejected`]),
    ...(quarantined === 0 ? [] : [`${quarantined} in quarantine`]),
    ...(columnsLeftOut.length === 0 ? [] : [`${columnsLeftOut.length} columns left out`]),
  ];
  return losses.length === 0 ? '' : ` with ${losses.join(', ')}`;
}

export const createJob: Endpoint = {
  id: 'createJob',
  method: 'POST',
  once: true,
  path: '/jobs/:workspace/:type',
  token: 'secret',
  summary: 'Loads all data of a data source into a dataset once; creates a missing dataset.',
  weight: 'free',
  parameters: [
    WAIT,
    {
      kind: 'boolean',
      name: 'dryRun',
      help: 'true: reports what the first file of the source would do, and changes nothing.',
    },
  ],
  body: { kind: 'json', schema: CREATE, bytesMax: COLUMNS_BYTES_MAX },
  answer: Type.Union([JOB_CREATED, DRY_RUN]),
  failures: 'workspace',
  handle: async (call, services) => {
    const { database, lake, runner } = services;
    const place = findPathWorkspace(call, services);
    const { workspace } = place;
    checkType(call);
    const body = call.json as Static<typeof CREATE>;
    checkName('datasetId', body.datasetId);
    const source = await findSource(database, workspace, body.dataSourceId);
    if (source === undefined) throw unknownSourceFailure();
    refuseFeed(source.type);
    const { caller } = call;
    const existing = lake.directory.dataset(workspace, body.datasetId);
    if (existing === undefined) checkDatasetRoom(caller, place, body.datasetId, services);
    checkReading(body.reading);
    const { columnMapping, credentialId, dateOrder, jsonPath, reading, uniqueIndex } = body;
    const order = fetchOrder({
      accountId: caller.accountId,
      workspace,
      dataset: existing?.dataset ?? body.datasetId,
      duplicates: body.duplicateKeyHandling,
      chosen: body.duplicates,
      overwrite: body.overwrite ?? false,
      rejectsMax: body.maximumValidationErrors,
      mapping: columnMapping,
      numbered: uniqueIndex === false,
      jsonPath: jsonPath === undefined ? undefined : checkJsonPath(jsonPath),
      dateOrder,
      reading,
      fetch: {
        sourceId: source.source_id,
        sourceType: source.type,
        ...(credentialId === undefined ? {} : { credentialId }),
      },
    });
    if (truthOf(call.query, 'dryRun')) {
      const { ingestion } = services;
      const run = await withFirstFile(
        source,
        credentialId,
        call,
        services,
        ({ jsonPath: path, ...piece }) =>
          dryRun(
            { ...order, path: piece.path, ...jsonPathMember(path ?? order.jsonPath) },
            ingestion,
          ),
      );
      return toFreeAnswer(dryRunView(run));
    }
    const jobId = await createOnce(call, services, hashJson(call), (alongside) =>
      runner.submit(order, alongside),
    );
    return answerJobCreated(`Ingestion from ${source.name}`, workspace, jobId, call, services);
  },
};

const jsonPathMember = (jsonPath: string | undefined): object =>
  jsonPath === undefined ? {} : { jsonPath };

export const retryJob: Endpoint = {
  id: 'retryJob',
  method: 'POST',
  once: true,
  path: '/jobs/:workspace/:type/:jobId/retry',
  token: 'secret',
  summary: 'Repeats a finished load from a data source as a new job.',
  weight: 'free',
  parameters: [WAIT],
  answer: JOB_CREATED,
  failures: 'workspace',
  handle: async (call, services) => {
    const { folder, runner, scheduler } = services;
    const job = await findCallJob(call, services);
    if (job.finished_ms === null) throw new Failure('Conflict', `job ${job.job_id} has not ended`);
    const order = parseJobOrder(job, folder.spool);
    if (order.fetch === undefined) {
      const rule = 'its body is not kept once it has ended: send it again';
      throw new Failure('Conflict', `job ${job.job_id} was an upload, and ${rule}`);
    }
    const { run } = order.fetch;
    const schedule = run === undefined ? undefined : scheduler.get(job.workspace, run.scheduleId);
    const jobId = await createOnce(call, services, hashJson(call), (alongside) =>
      schedule === undefined
        ? runner.submit(order, alongside)
        : scheduler.runNow(schedule, alongside),
    );
    return answerJobCreated(`Retry of ${job.job_id}`, job.workspace, jobId, call, services);
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
    const { job_id } = await findCallJob(call, services);
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
  summary: 'Cancels an unfinished job; none of its records become visible.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  failures: 'workspace',
  handle: async (call, services) => {
    return cancelAnswer(await findCallJob(call, services), services);
  },
};

const JOB_ID = /^[0-9a-f]{32}$/;

async function cancelAnswer(job: Job, { runner }: Pick<Services, 'runner'>): Promise<Answer> {
  if (!(await runner.cancel(job))) {
    throw new Failure('Conflict', `job ${job.job_id} has ended in ${job.status}`);
  }
  const value = { success: true, message: `job ${job.job_id} is being cancelled` };
  return { kind: 'json', value, metering: 'free' };
}

async function findCallJob(call: Call, services: JobsServices): Promise<Job> {
  const { workspace } = findPathWorkspace(call, services);
  checkType(call);
  return findWorkspaceJob(workspace, call.path['jobId'] ?? '', services);
}

async function findWorkspaceJob(
  workspace: string,
  jobId: string,
  services: JobsServices,
): Promise<Job> {
  const job = await findJob(services.database, jobId);
  if (job === undefined || job.workspace !== workspace) throw new Failure('NotFound');
  // A caller that sees the job as ingested must also read its records.
  await services.lake.waitForSnapshot(job.snapshot_id ?? 0);
  return job;
}

const readNotes = ({ notes_json }: Job): readonly string[] =>
  (JSON.parse(notes_json ?? '[]') as readonly string[]).map(redactText);

/** Loads are the only type of job so far. */
function checkType({ path }: Call): void {
  if (path['type'] !== 'ingest') throw new Failure('NotFound');
}

function jobView(
  job: Job,
  { clock, folder, runner }: Pick<Services, 'clock' | 'folder' | 'runner'>,
): object {
  const { started_ms, finished_ms } = job;
  const { fetch } = parseJobOrder(job, folder.spool);
  const liveProgress = runner.progressOf(job.job_id) ?? job.progress;
  return {
    jobId: job.job_id,
    jobType: job.type,
    workspace: job.workspace,
    datasetId: job.dataset,
    status: job.status,
    lastGoodStatus: job.last_good_status,
    progress: finished_ms === null ? liveProgress : job.progress,
    bytes: finished_ms === null ? runner.bytesOf(job.job_id) || job.bytes : job.bytes,
    recordsValidated: job.records_validated,
    ...jobLoadCounts(job),
    recordsIngested: job.records_ingested,
    recordsInvalid: job.records_invalid,
    recordsDuplicate: job.records_duplicate,
    recordsQuarantined: job.records_quarantined,
    snapshot: job.snapshot_id,
    sourceType: fetch?.sourceType ?? 'UPLOAD',
    dataSourceId: fetch?.sourceId || null,
    ingestionScheduleId: fetch?.run?.scheduleId ?? null,
    error: job.error,
    notes: readNotes(job),
    created: job.created_ms,
    started: started_ms,
    finished: finished_ms,
    duration: started_ms === null ? null : (finished_ms ?? clock()) - started_ms,
  };
}
