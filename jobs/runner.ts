// The runner: jobs wait their turn, one at a time for each dataset, several across. A job's last
// step is part of its commit's transaction, so a job that was killed either finished or changed
// nothing; at the next start it runs again from its file.
import { basename, join } from 'node:path';
import {
  type IngestEvents,
  type IngestServices,
  ingest,
  type Load,
  RejectedFailure,
} from '../pipeline/ingest.ts';
import type { Clock } from '../store/clock.ts';
import type { Database } from '../store/database.ts';
import { Failure, reasonOf, toldFull } from '../store/failure.ts';
import {
  appendLog,
  beginAttempt,
  endJob,
  findJob,
  insertJob,
  insertRejects,
  type Job,
  type JobStatus,
  newestSequence,
  newJobId,
  trimLog,
  unfinishedJobs,
  updateJob,
} from '../store/jobs.ts';

interface LoadOrder extends Load {
  readonly accountId: string;
  /** The file is the job's own, and removed when the job has ended. */
  readonly ownFile: boolean;
  readonly bytes: number;
}

interface RunnerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly services: IngestServices;
  readonly jobsAtOnce: number;
  /** Folder of spooled bodies: what is in it and belongs to no job is removed at start. */
  readonly spool: string;
  readonly removeFile: (path: string) => Promise<void>;
  readonly onFault: (reason: unknown, jobId: string) => void;
  /** Whether a job may store more; throws why not. */
  readonly checkRoom: (accountId: string, workspace: string) => Promise<void>;
  /** Done first in each turn of a dataset: what was pushed into it becomes a file. */
  readonly beforeTurn: (workspace: string, dataset: string) => Promise<void>;
}

/** Jobs that may wait; one more is refused, and its body with it. */
const WAITING_MAX = 10_000;
/** Starts of one job: a body that ends the server each time must not end it for ever. */
const ATTEMPTS_MAX = 10;
/** Progress is written at most this often: a row for each percent would cost more than it tells. */
const PROGRESS_MS = 500;

/** Something that waits for its dataset's turn. */
interface Waiting {
  readonly turn: string;
  readonly workspace: string;
  readonly dataset: string;
  /** Undefined for work that is no job. */
  readonly jobId: string | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export class Runner {
  readonly #parts: RunnerParts;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #aborts = new Map<string, AbortController>();
  readonly #ended = new Map<string, (() => void)[]>();
  readonly #progress = new Map<string, number>();
  /** Jobs that failed when the catalog could not be written: they end as soon as it can. */
  readonly #unended = new Map<string, { readonly order: LoadOrder; readonly error: unknown }>();
  #sequence = 0;
  #stopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Takes up what a stopped or killed process left; removes spooled files of no job. */
  async resume(spooled: readonly string[]): Promise<void> {
    await trimLog(this.#parts.database);
    const left = await unfinishedJobs(this.#parts.database);
    const orders = left.map((job) => ({ job, order: this.#orderOf(job) }));
    this.#sequence = await newestSequence(this.#parts.database);
    const wanted = new Set(orders.map(({ order }) => order.path));
    for (const name of spooled) {
      const path = join(this.#parts.spool, name);
      if (!wanted.has(path)) await this.#parts.removeFile(path);
    }
    for (const { job, order } of orders) {
      await this.#log(job.job_id, order, 'the server was stopped: the job begins again');
      this.#wait(job.job_id, order);
    }
    this.#next();
  }

  /** Records a job durably and lets it wait its turn; its id. */
  async submit(order: LoadOrder): Promise<string> {
    if (this.#stopping) throw new Failure('Busy', 'the server is stopping');
    if (this.#waiting.length >= WAITING_MAX) {
      throw new Failure('Busy', `${WAITING_MAX} jobs are waiting already: try again later`);
    }
    const jobId = newJobId();
    const { clock, database } = this.#parts;
    this.#sequence += 1;
    await insertJob(database, newJob(jobId, this.#sequence, order, clock()));
    this.#parts.services.at('job-recorded');
    // It waits before its first line is written: from its row on, it can be cancelled.
    const told = this.#log(jobId, order, `jobId: ${jobId} has been created`);
    this.#wait(jobId, order, told);
    await told;
    this.#next();
    return jobId;
  }

  /** Runs other work on a dataset when its turn comes: no load of it runs beside it. */
  async inTurn<T>(workspace: string, dataset: string, work: () => Promise<T>): Promise<T> {
    if (this.#stopping) throw new Failure('Busy', 'the server is stopping');
    return new Promise<T>((resolve, reject) => {
      const run = async (): Promise<void> => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      };
      const turn = turnOf(workspace, dataset);
      this.#waiting.push({ turn, workspace, dataset, jobId: undefined, run });
      this.#next();
    });
  }

  /**
   * Ends a job that has not ended: a waiting one at once, a running one as soon as its statement
   * is interrupted. False when it had ended already.
   */
  async cancel(job: Job): Promise<boolean> {
    if (job.finished_ms !== null) return false;
    const at = this.#waiting.findIndex(({ jobId }) => jobId === job.job_id);
    if (at >= 0) {
      this.#waiting.splice(at, 1);
      const order = this.#orderOf(job);
      const told = await this.#fail(job.job_id, order, CANCELLED);
      if (told && order.ownFile) await this.#parts.removeFile(order.path);
      this.#tellEnded(job.job_id);
      return true;
    }
    const abort = this.#aborts.get(job.job_id);
    abort?.abort(CANCELLED);
    return abort !== undefined;
  }

  /**
   * Resolves when the job has ended, whichever way.
   * @throws Failure when it ended and the catalog could not be told.
   */
  async ended(jobId: string): Promise<Job> {
    const { database } = this.#parts;
    const active = this.#waiting.some((item) => item.jobId === jobId) || this.#progress.has(jobId);
    if (active) {
      await new Promise<void>((resolve) => {
        this.#ended.set(jobId, [...(this.#ended.get(jobId) ?? []), resolve]);
      });
    }
    const unended = this.#unended.get(jobId)?.error;
    if (unended !== undefined) {
      throw unended instanceof Failure ? unended : new Failure('SystemError');
    }
    const job = await findJob(database, jobId);
    if (job === undefined) throw new Failure('NotFound');
    return job;
  }

  /** Progress of a running job, 0 to 100, fresher than its row. */
  progressOf(jobId: string): number | undefined {
    return this.#progress.get(jobId);
  }

  /** How much runs and waits, for the metrics. */
  load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.size, waiting: this.#waiting.length };
  }

  isStopping(): boolean {
    return this.#stopping;
  }

  /** Starts nothing more and waits for what runs; the rest resumes at the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running.values());
    await this.#endUnended();
  }

  /** A spooled file is recorded by its name alone, so that a data folder can move. */
  #orderOf(job: Job): LoadOrder {
    const order = JSON.parse(job.load_json) as LoadOrder;
    return order.ownFile ? { ...order, path: join(this.#parts.spool, order.path) } : order;
  }

  #wait(jobId: string, order: LoadOrder, told?: Promise<void>): void {
    const run = async (signal: AbortSignal): Promise<void> => {
      await told;
      await this.#run(jobId, order, signal);
    };
    const { workspace, dataset } = order;
    this.#waiting.push({ turn: turnOf(workspace, dataset), workspace, dataset, jobId, run });
  }

  #next(): void {
    while (!this.#stopping && this.#running.size < this.#parts.jobsAtOnce) {
      const at = this.#waiting.findIndex(({ turn }) => !this.#running.has(turn));
      const [item] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (item === undefined) return;
      this.#running.set(item.turn, this.#begin(item));
    }
  }

  async #begin({ turn, workspace, dataset, jobId, run }: Waiting): Promise<void> {
    const abort = new AbortController();
    if (jobId !== undefined) {
      this.#progress.set(jobId, 0);
      this.#aborts.set(jobId, abort);
    }
    // The turn is taken before anything runs, so that a fast end can't come before its start.
    await Promise.resolve();
    await this.#endUnended();
    try {
      await this.#parts.beforeTurn(workspace, dataset);
    } catch (error) {
      // What was pushed stays pending, and visible; the turn's own work goes on.
      this.#parts.onFault(error, jobId ?? turn);
    }
    try {
      await run(abort.signal);
    } catch (error) {
      this.#parts.onFault(error, jobId ?? turn);
    }
    this.#running.delete(turn);
    if (jobId !== undefined) this.#tellEnded(jobId);
    this.#next();
  }

  #tellEnded(jobId: string): void {
    this.#progress.delete(jobId);
    this.#aborts.delete(jobId);
    for (const resolve of this.#ended.get(jobId) ?? []) resolve();
    this.#ended.delete(jobId);
  }

  async #run(jobId: string, order: LoadOrder, signal: AbortSignal): Promise<void> {
    const { database, clock, services } = this.#parts;
    try {
      const attempts = await beginAttempt(database, jobId, clock());
      if (attempts > ATTEMPTS_MAX) {
        throw new Failure('InvalidBody', `the server ended ${ATTEMPTS_MAX} times while it ran`);
      }
      await this.#log(jobId, order, 'begin processing data job');
      await this.#parts.checkRoom(order.accountId, order.workspace);
      const author = `${order.accountId} job ${jobId}`;
      await ingest(
        order,
        author,
        { ...services, signal },
        this.#events(jobId, order),
        async (tx, outcome, made) => {
          await insertRejects(tx, jobId, outcome.rejects);
          await updateJob(tx, jobId, {
            ...finished('INGESTED', clock()),
            progress: 100,
            records_validated: outcome.validated,
            records_ingested: outcome.ingested,
            records_invalid: outcome.invalid,
            records_duplicate: outcome.duplicates,
            snapshot_id: made.snapshot,
          });
        },
      );
      const text = 'file has ingested, changed job status to "INGESTED"';
      await this.#log(jobId, order, text);
    } catch (error) {
      if (!(await this.#fail(jobId, order, signal.aborted ? CANCELLED : error))) return;
    }
    if (order.ownFile) await this.#parts.removeFile(order.path);
  }

  #events(jobId: string, order: LoadOrder): IngestEvents {
    const { database, clock } = this.#parts;
    const become = async (status: JobStatus, message: string): Promise<void> => {
      await updateJob(database, jobId, { status, last_good_status: status });
      await this.#log(jobId, order, message);
    };
    let told = clock();
    return {
      validating: () => become('VALIDATING', "changed data job status to 'VALIDATING'"),
      validated: () => become('VALIDATED', "changed data job status to 'VALIDATED'"),
      ingesting: () => become('INGESTING', 'file is ingesting, changed job status to "INGESTING"'),
      progress: (percent) => {
        this.#progress.set(jobId, percent);
        if (clock() - told < PROGRESS_MS) return;
        told = clock();
        updateJob(database, jobId, { progress: percent }).catch((error: unknown) =>
          this.#parts.onFault(error, jobId),
        );
      },
      log: (message) => this.#log(jobId, order, message),
    };
  }

  /** False when the end could not be written: the job then keeps its file until it is. */
  async #fail(jobId: string, order: LoadOrder, thrown: unknown): Promise<boolean> {
    const error = toldFull(thrown);
    const { database, clock, onFault } = this.#parts;
    if (!(error instanceof Failure)) onFault(error, jobId);
    const reason = error instanceof Failure ? reasonOf(error) : 'an error on the server';
    try {
      if (error instanceof RejectedFailure) {
        await insertRejects(database, jobId, error.rejects);
        await updateJob(database, jobId, { records_invalid: error.invalid });
      }
      const status = error === CANCELLED ? 'CANCELLED' : 'ERROR';
      await endJob(database, jobId, { ...finished(status, clock()), error: reason });
      await this.#log(jobId, order, `job ended in ${status}: ${reason}`, 'error');
    } catch (fault) {
      // The catalog can't be written: until it can, the job stays unfinished.
      onFault(fault, jobId);
      this.#unended.set(jobId, { order, error });
      return false;
    }
    return true;
  }

  async #endUnended(): Promise<void> {
    for (const [jobId, { order, error }] of [...this.#unended]) {
      this.#unended.delete(jobId);
      const ended = await this.#fail(jobId, order, error);
      if (ended && order.ownFile) await this.#parts.removeFile(order.path);
    }
  }

  async #log(jobId: string, order: LoadOrder, message: string, severity = 'info'): Promise<void> {
    const { database, clock } = this.#parts;
    const line = { workspace: order.workspace, time_ms: clock(), severity, message };
    await appendLog(database, { ...line, job_id: jobId });
  }
}

/** Loads of one dataset take turns; names compare without case, as the catalogue does. */
const turnOf = (workspace: string, dataset: string): string =>
  `${workspace}.${dataset}`.toUpperCase();

const CANCELLED = new Failure('Conflict', 'the job was cancelled');

function finished(
  status: 'INGESTED' | 'ERROR' | 'CANCELLED',
  nowMs: number,
): {
  readonly status: JobStatus;
  readonly finished_ms: number;
  readonly last_good_status?: JobStatus;
} {
  const ended = { status, finished_ms: nowMs };
  return status === 'INGESTED' ? { ...ended, last_good_status: status } : ended;
}

const newJob = (jobId: string, sequence: number, order: LoadOrder, nowMs: number): Job => ({
  job_id: jobId,
  sequence,
  account_id: order.accountId,
  workspace: order.workspace,
  dataset: order.dataset,
  type: 'ingest',
  status: 'CREATED',
  last_good_status: 'CREATED',
  progress: 0,
  attempts: 0,
  load_json: JSON.stringify(order.ownFile ? { ...order, path: basename(order.path) } : order),
  bytes: order.bytes,
  records_validated: 0,
  records_ingested: 0,
  records_invalid: 0,
  records_duplicate: 0,
  snapshot_id: null,
  error: null,
  created_ms: nowMs,
  started_ms: null,
  finished_ms: null,
});
