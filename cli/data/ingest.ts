// `tapedeck ingest`: loads one file into one dataset, with progress, in this process or through the running
// server.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse/sync';
import type { DateOrder } from '../../pipeline/values/dateFormats.ts';
import { duplicateRules, type Duplicates } from '../../pipeline/conform/duplicates.ts';
import { checkJsonPath } from '../../pipeline/decode/json/jsonPath.ts';
import { Failure } from '../../store/base/failure.ts';
import { findJob, findRejects, type Job, type Reject } from '../../store/work/jobs.ts';
import { type ColumnMapping, CORE } from '../../store/lake/datasets/datasets.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { type CallData, connectToServer } from '../connect/dataApi.ts';
import { explainFailures } from '../connect/serverErrors.ts';
import { firstWorkspace, unknownWorkspaceFailure } from '../connect/workspaceApi.ts';
import { reachFolder, type Reached } from '../connect/folderAccess.ts';
import { checkInputFile } from '../connect/inputFile.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import type { LoadCounts } from '../../pipeline/conform/loadCounts.ts';
import { countsText, type JobView } from '../print/followJob.ts';
import { jobLoadCounts } from '../../jobs/run/jobCounts.ts';
import { progress } from '../print/progress.ts';
import { inQuery, type ReadingOptions, buildReading } from './readingOptions.ts';
import { escapeControls } from '../print/terminalText.ts';
import type { Core } from '../../app/core.ts';

export interface IngestOptions extends ReadingOptions {
  readonly jsonPath?: string;
  readonly dataset: string;
  readonly workspace?: string;
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
  /** False: the dataset has no unique index. */
  readonly index: boolean;
  /** Undefined: a first load fails if its file repeats a value of the declared index. */
  readonly duplicates?: Duplicates | 'ignore';
  readonly maxErrors?: string;
  /** The short form of `--file-time-zone`: a file that is loaded once has no other zone. */
  readonly timeZone?: string;
  readonly dateOrder?: DateOrder;
  readonly json?: boolean;
}

const POLL_MS = 200;
/** Rejected records shown on the terminal. */
const REJECTS_SHOWN = 20;
/** The file name that means standard input. */
const STANDARD_INPUT = '-';
/** Bytes of the standard input: it is stored on disk until it is loaded. */
const STDIN_BYTES_MAX = 16 * 1024 ** 3;

export async function ingestFile(
  file: string,
  options: IngestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const rejectsMax = parseMaxErrors(options.maxErrors);
  if (options.jsonPath !== undefined) checkJsonPath(options.jsonPath);
  if (file !== STANDARD_INPUT) {
    return ingestPath(resolve(terminal.folder, file), rejectsMax, options, settings, terminal);
  }
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-stdin-'));
  try {
    const path = join(folder, 'body');
    await pipeline(terminal.stdin, limited(), createWriteStream(path, { mode: 0o600 }));
    await ingestPath(path, rejectsMax, options, settings, terminal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws Failure TooLarge if the standard input exceeds its limit */
const limited = () => {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= STDIN_BYTES_MAX) return done(null, chunk);
      const rule = `the standard input is over ${STDIN_BYTES_MAX} bytes (STDIN_BYTES_MAX)`;
      done(new Failure('TooLarge', `${rule}: name a file instead`));
    },
  });
};

async function ingestPath(
  path: string,
  rejectsMax: number,
  options: IngestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const size = await checkInputFile(path, relative(terminal.folder, path));
  const reached = await reachFolder(settings);
  const outcome =
    reached.kind === 'core'
      ? await inProcess(path, size, rejectsMax, options, reached.core, terminal)
      : await explainFailures(reached.server, new AbortController().signal, () =>
          throughServer(path, size, options, reached, settings, terminal),
        );
  report(outcome, options, terminal);
  if (outcome.status !== 'INGESTED') terminal.endWith(1);
}

interface Outcome extends LoadCounts {
  readonly jobId: string;
  readonly workspace: string;
  readonly status: string;
  readonly error: string | null;
  readonly ingested: number;
  readonly invalid: number;
  readonly duplicate: number;
  readonly rejects: readonly string[];
  readonly notes: readonly string[];
}

/** Translates `ignore`, the original's name of keep-first. */
const chosenDuplicates = ({ duplicates }: IngestOptions): Duplicates | undefined =>
  duplicates === 'ignore' ? 'keep-first' : duplicates;

function parseMaxErrors(text: string | undefined): number {
  if (text === undefined) return Number.MAX_SAFE_INTEGER;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Failure('InvalidParameter', '--max-errors must be a whole number');
}

const readingOfFile = ({ timeZone, ...options }: IngestOptions): ReturnType<typeof buildReading> =>
  buildReading(timeZone === undefined ? options : { ...options, fileTimeZone: timeZone });

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
  { stderr }: Terminal,
): Promise<Outcome> {
  const { lake, runner, database } = core.services;
  try {
    const owned = lake.directory.workspaces(core.accountId);
    // CORE, which everybody reads, must be named explicitly.
    const first = owned.find(({ workspace }) => workspace !== CORE);
    const workspaceName = options.workspace ?? first?.workspace;
    const workspace =
      workspaceName === undefined ? undefined : lake.directory.workspace(workspaceName);
    if (workspace === undefined) throw unknownWorkspaceFailure();
    const mapping = mappingOf(options);
    const { jsonPath } = options;
    const reading = readingOfFile(options);
    const jobId = await runner.submit({
      path,
      bytes,
      ownFile: false,
      accountId: core.accountId,
      workspace: workspace.workspace,
      dataset: options.dataset,
      ...duplicateRules(chosenDuplicates(options), 'refuse'),
      rejectsMax,
      ...(mapping === undefined ? {} : { mapping }),
      ...(options.index ? {} : { numbered: true }),
      ...(jsonPath === undefined ? {} : { jsonPath: checkJsonPath(jsonPath) }),
      ...(reading === undefined ? {} : { reading }),
      ...(options.dateOrder === undefined ? {} : { dateOrder: options.dateOrder }),
    });
    const bar = progress(options.dataset, stderr, options.json === true);
    const refresh = async (): Promise<Job | undefined> => findJob(database, jobId);
    let job = await refresh();
    while (job !== undefined && job.finished_ms === null) {
      bar.update(toWorkState(job, runner.progressOf(jobId)));
      await new Promise((done) => setTimeout(done, POLL_MS));
      job = await refresh();
    }
    bar.end();
    if (job === undefined) throw new Failure('NotFound');
    const rejects = await findRejects(database, jobId);
    return outcomeOf(job, workspace.workspace, rejects);
  } finally {
    await core.close();
  }
}

export const toWorkState = (job: Job, live: number | undefined) => ({
  percent: live ?? job.progress,
  status: job.status,
  bytes: job.bytes,
  records: job.records_validated,
});

const outcomeOf = (job: Job, workspace: string, rejects: readonly Reject[]): Outcome => ({
  jobId: job.job_id,
  workspace,
  status: job.status,
  error: job.error,
  ...jobLoadCounts(job),
  ingested: job.records_ingested,
  invalid: job.records_invalid,
  duplicate: job.records_duplicate,
  rejects: rejects.map(rejectLine),
  notes: JSON.parse(job.notes_json ?? '[]') as readonly string[],
});

const rejectLine = ({ error, line }: Reject): string => `line ${line}: ${error}`;

async function throughServer(
  path: string,
  bytes: number,
  options: IngestOptions,
  reached: Extract<Reached, { kind: 'server' }>,
  settings: Settings,
  { stderr }: Terminal,
): Promise<Outcome> {
  const call = await connectToServer(reached, settings, new AbortController().signal);
  const workspace = options.workspace ?? (await firstWorkspace(call));
  const chosen = chosenDuplicates(options);
  const query = new URLSearchParams(
    chosen === undefined ? { duplicateKeyHandling: 'refuse' } : { duplicates: chosen },
  );
  if (!options.index) query.set('uniqueIndex', 'false');
  if (options.maxErrors !== undefined) query.set('maximumValidationErrors', options.maxErrors);
  if (options.dateOrder !== undefined) query.set('dateOrder', options.dateOrder);
  if (options.jsonPath !== undefined) query.set('jsonPath', options.jsonPath);
  for (const [part, value] of Object.entries({
    ...mappingOf(options),
    ...readingOfFile(options),
  })) {
    query.set(part, inQuery(part, value));
  }
  const answer = await call({
    method: 'POST',
    path: `/data/${encodeURIComponent(workspace)}/${encodeURIComponent(options.dataset)}?${query}`,
    body: createReadStream(path),
    bytes,
  });
  const answerText = await text(answer.body);
  const { jobUrl } = JSON.parse(answerText) as { readonly jobUrl: string };
  const jobPath = jobUrl.replace(/^\/v1/, '');
  const bar = progress(options.dataset, stderr, options.json === true);
  for (;;) {
    const { body } = await call({ method: 'GET', path: jobPath });
    const job = JSON.parse(await text(body)) as JobView;
    const { bytes, recordsValidated: records, status } = job;
    bar.update({ percent: job.progress, status, bytes, records });
    if (job.finished !== null) {
      bar.end();
      const rejects = job.recordsInvalid === 0 ? [] : await fetchRejects(jobPath, call);
      return {
        ...job,
        workspace,
        ingested: job.recordsIngested,
        invalid: job.recordsInvalid,
        duplicate: job.recordsDuplicate,
        rejects: rejects.map(rejectLine),
      };
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

/** Fetches the rejected records that the server stored. */
async function fetchRejects(jobPath: string, call: CallData): Promise<readonly Reject[]> {
  const { body } = await call({ method: 'GET', path: `${jobPath}/invalid-records-log` });
  const log = await text(body);
  const rows = parse(log, { from_line: 2 }) as readonly string[][];
  return rows.map(([, line = '', error = '']) => ({ line: Number(line), error }));
}

function report(outcome: Outcome, options: IngestOptions, terminal: Terminal): void {
  const print = printTo(terminal);
  if (options.json === true) {
    print(JSON.stringify(outcome));
    return;
  }
  for (const reject of outcome.rejects.slice(0, REJECTS_SHOWN)) {
    print(`rejected ${escapeControls(reject)}`);
  }
  const more = outcome.invalid - Math.min(outcome.rejects.length, REJECTS_SHOWN);
  if (more > 0) {
    const place = `/v1/jobs/${outcome.workspace}/ingest/${outcome.jobId}/invalid-records-log`;
    print(`rejected ${more} more: GET ${place} has them`);
  }
  for (const note of outcome.notes) print(escapeControls(note));
  print(`${options.dataset}: ${escapeControls(outcome.error ?? countsText(outcome))}`);
}
