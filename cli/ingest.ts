// `tapedeck ingest`: one file into one dataset, with progress, in this process or through the
// running server.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Option } from 'commander';
import type { Core } from '../api/main.ts';
import type { DateOrder } from '../pipeline/dateFormats.ts';
import { Failure } from '../store/failure.ts';
import { findJob, findRejects, type Job } from '../store/jobs.ts';
import type { ColumnMapping } from '../store/datasets.ts';
import type { Settings } from '../store/settings.ts';
import { reachFolder, type Reached, readTokens } from './folderAccess.ts';
import type { JobView } from './followJob.ts';
import { progress } from './progress.ts';

export interface IngestOptions {
  readonly dataset: string;
  readonly workspace?: string;
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
  readonly duplicates: 'ignore' | 'replace';
  readonly maxErrors?: string;
  readonly dateOrder?: DateOrder;
  readonly json?: boolean;
}

export const dateOrderOption = (): Option =>
  new Option('--date-order <order>', 'how dates like 01/02/2024 are read').choices(['MDY', 'DMY']);

const LOOK_MS = 200;
/** Rejected records shown on the terminal; all that were kept are in the job's log. */
const REJECTS_SHOWN = 10;

export async function ingestFile(
  file: string,
  options: IngestOptions,
  settings: Settings,
): Promise<void> {
  const path = resolve(file);
  const { size } = await stat(path);
  const rejectsMax = errorsOf(options.maxErrors);
  const reached = await reachFolder(settings);
  const outcome =
    reached.kind === 'core'
      ? await inProcess(path, size, rejectsMax, options, reached.core)
      : await throughServer(path, size, options, reached, settings);
  report(outcome, options);
  if (outcome.status !== 'INGESTED') process.exitCode = 1;
}

interface Outcome {
  readonly jobId: string;
  readonly status: string;
  readonly error: string | null;
  readonly ingested: number;
  readonly invalid: number;
  readonly duplicate: number;
  readonly rejects: readonly string[];
}

function errorsOf(text: string | undefined): number {
  if (text === undefined) return Number.MAX_SAFE_INTEGER;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure('InvalidParameter', '--max-errors must be a whole number');
}

const mappingOf = ({ key, subkey, date }: IngestOptions): ColumnMapping | undefined => {
  const parts = Object.entries({ key, subkey, date }).filter(([, name]) => name !== undefined);
  return parts.length === 0 ? undefined : (Object.fromEntries(parts) as ColumnMapping);
};

async function inProcess(
  path: string,
  bytes: number,
  rejectsMax: number,
  options: IngestOptions,
  core: Core,
): Promise<Outcome> {
  const { lake, runner, database } = core.services;
  try {
    const [first] = lake.catalogue.workspaces(core.accountId);
    const wanted = options.workspace ?? first?.workspace;
    const workspace = wanted === undefined ? undefined : lake.catalogue.workspace(wanted);
    if (workspace === undefined) {
      throw new Failure('NotFound', 'no such workspace: tapedeck workspace create NAME makes one');
    }
    const mapping = mappingOf(options);
    const jobId = await runner.submit({
      path,
      bytes,
      ownFile: false,
      accountId: core.accountId,
      workspace: workspace.workspace,
      dataset: options.dataset,
      duplicates: options.duplicates,
      rejectsMax,
      ...(mapping === undefined ? {} : { mapping }),
      ...(options.dateOrder === undefined ? {} : { dateOrder: options.dateOrder }),
    });
    const shown = progress(options.dataset, process.stderr, options.json === true);
    const look = async (): Promise<Job | undefined> => findJob(database, jobId);
    let job = await look();
    while (job !== undefined && job.finished_ms === null) {
      shown.update(stateOf(job, runner.progressOf(jobId)));
      await new Promise((done) => setTimeout(done, LOOK_MS));
      job = await look();
    }
    shown.end();
    if (job === undefined) throw new Failure('NotFound');
    const rejects = await findRejects(database, jobId);
    return outcomeOf(
      job,
      rejects.map(({ line, error }) => `line ${line}: ${error}`),
    );
  } finally {
    await core.close();
  }
}

export const stateOf = (job: Job, live: number | undefined) => ({
  percent: live ?? job.progress,
  status: job.status,
  bytes: job.bytes,
  records: job.records_validated,
});

const outcomeOf = (job: Job, rejects: readonly string[]): Outcome => ({
  jobId: job.job_id,
  status: job.status,
  error: job.error,
  ingested: job.records_ingested,
  invalid: job.records_invalid,
  duplicate: job.records_duplicate,
  rejects,
});

async function throughServer(
  path: string,
  bytes: number,
  options: IngestOptions,
  { server, folder }: Extract<Reached, { kind: 'server' }>,
  settings: Settings,
): Promise<Outcome> {
  const secret = (await readTokens(folder, settings)).find(
    ({ kind, test }) => kind === 'secret' && !test,
  );
  const workspace = options.workspace ?? 'DEMO';
  const query = new URLSearchParams({ duplicateKeyHandling: options.duplicates });
  if (options.maxErrors !== undefined) query.set('maximumValidationErrors', options.maxErrors);
  if (options.dateOrder !== undefined) query.set('dateOrder', options.dateOrder);
  for (const [part, name] of Object.entries(mappingOf(options) ?? {})) query.set(part, name);
  const headers = { authorization: `Bearer ${secret?.text ?? ''}` };
  const answer = await fetch(`${server.base}/v1/data/${workspace}/${options.dataset}?${query}`, {
    method: 'POST',
    headers: { ...headers, 'content-length': String(bytes) },
    body: Readable.toWeb(createReadStream(path)) as ReadableStream,
    duplex: 'half',
  });
  const told = await answer.text();
  if (!answer.ok) throw new Failure('InvalidBody', told);
  const { jobUrl } = JSON.parse(told) as { readonly jobUrl: string };
  const shown = progress(options.dataset, process.stderr, options.json === true);
  for (;;) {
    const job = (await (await fetch(server.base + jobUrl, { headers })).json()) as JobView;
    const { bytes, recordsValidated: records, status } = job;
    shown.update({ percent: job.progress, status, bytes, records });
    if (job.finished !== null) {
      shown.end();
      return {
        ...job,
        ingested: job.recordsIngested,
        invalid: job.recordsInvalid,
        duplicate: job.recordsDuplicate,
        rejects: [],
      };
    }
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

function report(outcome: Outcome, options: IngestOptions): void {
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
    return;
  }
  for (const reject of outcome.rejects.slice(0, REJECTS_SHOWN)) {
    process.stdout.write(`rejected ${reject}\n`);
  }
  const more = outcome.invalid - Math.min(outcome.rejects.length, REJECTS_SHOWN);
  if (more > 0) process.stdout.write(`rejected ${more} more\n`);
  const { ingested, duplicate, invalid } = outcome;
  const counts = `${ingested} records ingested, ${duplicate} duplicates, ${invalid} invalid`;
  process.stdout.write(`${options.dataset}: ${outcome.error ?? counts}\n`);
}
