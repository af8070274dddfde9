// States of one job in the catalog: its status, its log, its end. The end is one transaction with its
// consequences.
import { RejectedFailure } from '../../pipeline/merge/ingest.ts';
import { SourceFailure } from '../../pipeline/sources/base/source.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import {
  Failure,
  type FailureType,
  ownersReason,
  toDiskFullFailure,
} from '../../store/base/failure.ts';
import {
  appendLog,
  updateJobAndLog,
  endJob,
  insertRejects,
  type JobStatus,
  updateJob,
} from '../../store/work/jobs.ts';
import type { JobOrder } from './order.ts';
import type { IngestEvents, IngestServices } from '../../pipeline/conform/load.ts';

export interface JobParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly services: IngestServices;
  readonly onFault: (reason: unknown, jobId: string) => void;
  /** @throws Failure where the account or workspace may not store more. */
  readonly checkRoom: (accountId: string, workspace: string) => Promise<void>;
  /** Called in the transaction that ends a job. */
  readonly atEnd: AtEnd;
}

type AtEnd = (transaction: Database, end: JobEnd) => Promise<void>;

export interface JobEnd {
  readonly jobId: string;
  readonly order: JobOrder;
  readonly status: 'INGESTED' | 'ERROR' | 'CANCELLED';
  /** Undefined for an ingested one. */
  readonly reason: string | undefined;
  /** A retry may succeed. */
  readonly transient: boolean;
  readonly timeMs: number;
}

export const CANCELLED = new Failure('Conflict', 'the job was cancelled');

/** Shortest interval between two writes of the progress: a row for each percent would cost too much. */
const PROGRESS_MS = 500;

interface Counted {
  readonly records_validated?: number;
}

export function createJobEvents(
  jobId: string,
  order: JobOrder,
  parts: JobParts,
  onProgress: (percent: number) => void,
): IngestEvents {
  const { database, clock } = parts;
  const setStatus = (status: JobStatus, message: string, more: Counted = {}): Promise<void> => {
    const values = { status, last_good_status: status, ...more };
    return updateJobAndLog(database, jobId, values, toLogLine(jobId, order, message, clock()));
  };
  let progressMs = clock();
  return {
    validating: () => setStatus('VALIDATING', "changed data job status to 'VALIDATING'"),
    validated: (records) => {
      // A fetching job adds up its counts as its files are stored.
      const more = order.fetch === undefined ? { records_validated: records } : {};
      return setStatus('VALIDATED', "changed data job status to 'VALIDATED'", more);
    },
    ingesting: () => setStatus('INGESTING', 'file is ingesting, changed job status to "INGESTING"'),
    progress: (percent) => {
      onProgress(percent);
      if (clock() - progressMs < PROGRESS_MS) return;
      progressMs = clock();
      updateJob(database, jobId, { progress: percent }).catch((error: unknown) =>
        parts.onFault(error, jobId),
      );
    },
    log: (message) => writeJobLog(jobId, order, message, parts),
  };
}

export async function writeJobLog(
  jobId: string,
  order: JobOrder,
  message: string,
  { database, clock }: Pick<JobParts, 'database' | 'clock'>,
  severity = 'info',
): Promise<void> {
  await appendLog(database, toLogLine(jobId, order, message, clock(), severity));
}

const toLogLine = (
  jobId: string,
  { workspace }: JobOrder,
  message: string,
  time_ms: number,
  severity = 'info',
) => ({ workspace, time_ms, severity, message, job_id: jobId });

/** Called in the transaction that makes the last records of a job visible. */
export async function endIngested(
  transaction: Database,
  jobId: string,
  order: JobOrder,
  { atEnd, clock }: JobParts,
): Promise<void> {
  const timeMs = clock();
  const status = 'INGESTED';
  const ended = { status, last_good_status: status, finished_ms: timeMs, progress: 100 } as const;
  await updateJob(transaction, jobId, ended);
  // The log line is visible with the job's end.
  const text = `file has ingested, changed job status to "${status}"`;
  await writeJobLog(jobId, order, text, { database: transaction, clock });
  await atEnd(transaction, { jobId, order, status, reason: undefined, transient: false, timeMs });
}

/** Marks a job as failed or cancelled. @throws the catalog's error when it can't be written. */
export async function failJob(
  jobId: string,
  order: JobOrder,
  thrown: unknown,
  parts: JobParts,
): Promise<void> {
  const error = toDiskFullFailure(thrown);
  const { atEnd, clock, database, onFault } = parts;
  if (!(error instanceof Failure)) onFault(error, jobId);
  const reason = ownersReason(error);
  const status = error === CANCELLED ? 'CANCELLED' : 'ERROR';
  const timeMs = clock();
  await database.transaction().execute(async (transaction) => {
    if (error instanceof RejectedFailure) {
      await insertRejects(transaction, jobId, error.rejects);
      await updateJob(transaction, jobId, { records_invalid: error.invalid });
    }
    const end = { status, finished_ms: timeMs, error: reason } as const;
    if (!(await endJob(transaction, jobId, end))) return;
    const transient = isTransient(error);
    await atEnd(transaction, { jobId, order, status, reason, transient, timeMs });
    const text = `job ended in ${status}: ${reason}`;
    await writeJobLog(jobId, order, text, { database: transaction, clock }, 'error');
  });
}

/** Reason of a job that is not restarted. */
export function endedTooOften(starts: number): Failure {
  const rule =
    'it is not retried automatically; check its file for something unusual, or load it in parts';
  return new Failure(
    'EndedTooOften',
    `the server ended ${starts} times while this job ran: ${rule}`,
  );
}

/** Failures that may be transient: time, load, a child process, the disk; unexpected errors. */
const TRANSIENT: ReadonlySet<FailureType> = new Set([
  'Busy',
  'TimedOut',
  'ChildLost',
  'DiskFull',
  'SystemError',
  'StorageLimit',
]);

function isTransient(error: unknown): boolean {
  if (error instanceof SourceFailure) return error.transient;
  return !(error instanceof Failure) || TRANSIENT.has(error.type);
}
