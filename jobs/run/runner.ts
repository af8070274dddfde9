// The runner: jobs wait for their turn, one at a time for each dataset, several across. A job's last step is
// part of its commit's transaction, so a killed job either finished or changed nothing; at the next start it
// runs again from its file, or from its source's position.
import { LruMap } from 'toad-cache';
import type { TransactionStep } from '../../store/catalog/database.ts';
import type { Bodies } from '../../store/files/bodies.ts';
import {
  Failure,
  isProcessLost,
  reasonOf,
  SERVER_STOPPING,
  toDiskFullFailure,
} from '../../store/base/failure.ts';
import {
  beginAttempt,
  findJob,
  resetAttempts,
  insertJob,
  type Job,
  findLatestSequence,
  newJobId,
  trimLog,
  listUnfinishedJobs,
} from '../../store/work/jobs.ts';
import { retryWhileAway } from './retryWhileAway.ts';
import { CallerTurns } from './callerTurns.ts';
import { CANCELLED, endedTooOften, failJob, type JobParts, writeJobLog } from './jobLife.ts';
import { LiveJobs } from './liveJobs.ts';
import { runLoad } from './load.ts';
import { type FetchOrder, type JobOrder, newJob, parseJobOrder } from './order.ts';
import { type Begun, type Waiting, type WaitingFetch, WaitingJobs } from './waitingJobs.ts';

interface RunnerParts extends JobParts {
  /** Concurrent jobs of one account; in all one more, so that another account need not wait for hours. */
  readonly concurrency: () => number;
  /** Owner of a workspace; empty for none. */
  readonly accountOf: (workspace: string) => string;
  /** `STARTS_MAX`, except where a test kills the server repeatedly. */
  readonly startsMax: number;
  /** Folder of spooled bodies. */
  readonly spool: string;
  readonly bodies: Bodies;
  /** Called first in each turn of a dataset: writes its pending pushes to a file. */
  readonly beforeTurn: (workspace: string, dataset: string) => Promise<void>;
  /** Runs a job that fetches its files: outside its dataset's turn, except for storing them. */
  readonly fetch: (run: FetchRun) => Promise<void>;
  /** Called when a job's end is in the catalog. */
  readonly afterEnd: (jobId: string, order: JobOrder) => Promise<void>;
}

/** One run of a fetching job. */
export interface FetchRun {
  readonly jobId: string;
  readonly order: FetchOrder;
  readonly signal: AbortSignal;
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  readonly onProgress: (percent: number) => void;
  readonly onBytes: (bytes: number) => void;
}

interface QueuedJob {
  readonly jobId: string;
  readonly order: JobOrder;
  /** Resolves when its first log line is written. */
  readonly logged: Promise<void> | undefined;
}

/** Starts of one job that ended with the server: such a body must not crash it forever. */
export const STARTS_MAX = 2;
/** Jobs whose lost process is remembered. */
const LOST_MAX = 1_000;
/** Concurrent fetches of one account; each may hold one downloaded file. */
const FETCH_CONCURRENCY = 8;

export class Runner {
  readonly #parts: RunnerParts;
  readonly #waiting = new WaitingJobs();
  /** By turn. */
  readonly #running = new Map<string, Begun>();
  /** By job. */
  readonly #fetching = new Map<string, Begun>();
  readonly #live = new LiveJobs();
  /** Jobs that failed while the catalog could not be written: they end as soon as it can. */
  readonly #unfinished = new Map<string, { readonly order: JobOrder; readonly error: unknown }>();
  /** Failures of jobs with killed processes, for callers that wait for them. */
  readonly #lost = new LruMap<Failure>(LOST_MAX);
  /** Jobs that ran when the server ended: one of them at a time, so that none fails because of another. */
  readonly #suspects = new Set<string>();
  readonly callers = new CallerTurns((...turn) => this.inTurn(...turn));
  #sequence = 0;
  #stopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Resumes the jobs of a stopped or killed process; removes bodies without a job. */
  async resume(): Promise<void> {
    const { bodies, database, spool } = this.#parts;
    await trimLog(database);
    const left = await listUnfinishedJobs(database);
    const orders = left.map((job) => ({ job, order: parseJobOrder(job, spool) }));
    this.#sequence = await findLatestSequence(database);
    await bodies.removeUnused(new Set(orders.map(({ order }) => order.path)));
    for (const { job, order } of orders) {
      const text = 'the server was stopped: the job begins again';
      await writeJobLog(job.job_id, order, text, this.#parts);
      if (job.attempts > 0) this.#suspects.add(job.job_id);
      this.#enqueue(job.job_id, order);
    }
    this.#next();
  }

  /**
   * Records a job durably and queues it; returns its id.
   * @param alongside in the transaction that records it
   * @throws Failure Busy when too many wait, or the server is stopping.
   */
  async submit(order: JobOrder, alongside?: TransactionStep): Promise<string> {
    if (this.#stopping) throw STOPPING;
    this.#waiting.checkLength(this.#parts.accountOf(order.workspace));
    const jobId = newJobId();
    if (order.ownFile) await this.#parts.bodies.store(order.path);
    await this.#record(jobId, order, alongside);
    // Queued before its first line is written: it can be cancelled as soon as its row exists.
    const logged = writeJobLog(jobId, order, jobCreatedText(jobId), this.#parts);
    this.#enqueue(jobId, order, logged);
    await logged.finally(() => this.#next());
    return jobId;
  }

  async #record(
    jobId: string,
    order: JobOrder,
    alongside: Parameters<Runner['submit']>[1],
  ): Promise<void> {
    const { clock, database } = this.#parts;
    this.#sequence += 1;
    const job = newJob(jobId, this.#sequence, order, clock());
    if (alongside === undefined) await insertJob(database, job);
    else {
      await database.transaction().execute(async (transaction) => {
        await insertJob(transaction, job);
        await alongside(transaction, jobId);
      });
    }
    this.#parts.services.at('job-recorded');
  }

  /**
   * Runs other work on a dataset when its turn comes: no load of it runs concurrently.
   * @throws the reason of `signal` when it is aborted before the turn has come.
   */
  async inTurn<T>(
    workspace: string,
    dataset: string,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (this.#stopping) throw STOPPING;
    signal?.throwIfAborted();
    return new Promise<T>((resolve, reject) => {
      const run = async (): Promise<void> => {
        signal?.removeEventListener('abort', leave);
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      };
      const turn = turnName(workspace, dataset);
      const account = this.#parts.accountOf(workspace);
      const item = { account, turn, workspace, dataset, jobId: undefined, run };
      const leave = (): void => {
        if (this.#waiting.remove(item)) reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(item);
      this.#next();
    });
  }

  /**
   * Cancels a job: a waiting one immediately, a running one as soon as its statement is interrupted. False if
   * it had already finished.
   */
  async cancel(job: Job): Promise<boolean> {
    if (job.finished_ms !== null) return false;
    if (this.#waiting.removeJob(job.job_id)) {
      const order = parseJobOrder(job, this.#parts.spool);
      await this.#failJob(job.job_id, order, CANCELLED);
      this.#live.end(job.job_id);
      return true;
    }
    return this.#live.abort(job.job_id, CANCELLED);
  }

  /**
   * Resolves when the job has ended, in any status.
   * @throws Failure when it ended and the catalog could not be written; ChildLost when its process was
   * killed: a retry of the same body may succeed.
   */
  async ended(jobId: string): Promise<Job> {
    const { database } = this.#parts;
    const waits = this.#waiting.has(jobId);
    if (waits || this.#live.progressOf(jobId) !== undefined) await this.#live.ended(jobId);
    const lost = this.#lost.get(jobId);
    if (lost !== undefined) throw lost;
    const unfinished = this.#unfinished.get(jobId)?.error;
    if (unfinished !== undefined) {
      throw unfinished instanceof Failure ? unfinished : new Failure('SystemError');
    }
    const job = await findJob(database, jobId);
    if (job === undefined) throw new Failure('NotFound');
    return job;
  }

  /** Progress of a running job, 0 to 100, more recent than its row. */
  progressOf(jobId: string): number | undefined {
    return this.#live.progressOf(jobId);
  }

  /** Bytes received from a running job's source, more recent than its row. */
  bytesOf(jobId: string): number | undefined {
    return this.#live.bytesOf(jobId);
  }

  /** Counts of running and waiting jobs, for the metrics. */
  load(): { readonly running: number; readonly waiting: number } {
    return {
      running: this.#running.size + this.#fetching.size,
      waiting: this.#waiting.size,
    };
  }

  /** Called when more jobs may run concurrently. */
  concurrencyRaised(): void {
    this.#next();
  }

  isStopping(): boolean {
    return this.#stopping;
  }

  /**
   * Starts nothing more, waits for running jobs up to `graceMs`, and then stops them. They run again at the
   * next start, as do waiting ones.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    for (const jobId of this.#fetching.keys()) this.#live.abort(jobId, STOPPING);
    // The stop was requested: these starts do not count as crashes.
    const { database, onFault } = this.#parts;
    await resetAttempts(database, this.#live.ids()).catch((error) => onFault(error, 'stop'));
    const begun = [...this.#running.values(), ...this.#fetching.values()];
    const stopAll = (): void => {
      for (const jobId of this.#live.ids()) this.#live.abort(jobId, STOPPING);
    };
    const timer = setTimeout(stopAll, graceMs);
    await Promise.all(begun.map(({ ended }) => ended));
    clearTimeout(timer);
    await this.#endUnfinished();
  }

  #enqueue(jobId: string, order: JobOrder, logged?: Promise<void>): void {
    const account = this.#parts.accountOf(order.workspace);
    if (order.fetch !== undefined) {
      this.#waiting.pushFetch({ account, jobId, order, logged });
      return;
    }
    const run = async (signal: AbortSignal): Promise<void> => {
      const onProgress = (percent: number): void => this.#live.progressed(jobId, percent);
      await this.#run({ jobId, order, logged }, signal, async () => {
        if (order.ownFile) await this.#parts.bodies.ensureLocal(order.path, signal);
        await runLoad({ jobId, order, signal, onProgress }, this.#parts);
      });
    };
    const { workspace, dataset } = order;
    const turn = turnName(workspace, dataset);
    this.#waiting.push({ account, turn, workspace, dataset, jobId, run });
  }

  #next(): void {
    const jobsAtOnce = this.#parts.concurrency();
    const canStart = (jobId: string | undefined): boolean => this.#isTurnOf(jobId);
    while (!this.#stopping && this.#running.size <= jobsAtOnce) {
      const item = this.#waiting.takeTurn(this.#running, jobsAtOnce, canStart);
      if (item === undefined) break;
      this.#running.set(item.turn, { account: item.account, ended: this.#begin(item) });
    }
    while (!this.#stopping && this.#fetching.size <= FETCH_CONCURRENCY) {
      const item = this.#waiting.takeFetch(this.#fetching, FETCH_CONCURRENCY, canStart);
      if (item === undefined) break;
      this.#fetching.set(item.jobId, { account: item.account, ended: this.#beginFetch(item) });
    }
  }

  /** False for a suspect while another one runs. */
  #isTurnOf(jobId: string | undefined): boolean {
    if (jobId === undefined || !this.#suspects.has(jobId)) return true;
    return !this.#live.ids().some((id) => this.#suspects.has(id));
  }

  async #begin({ turn, workspace, dataset, jobId, run }: Waiting): Promise<void> {
    const signal = jobId === undefined ? NEVER : this.#live.begin(jobId);
    // The turn is registered before anything runs, so that a fast end can't precede its start.
    await Promise.resolve();
    await this.#endUnfinished();
    try {
      await this.#parts.beforeTurn(workspace, dataset);
    } catch (error) {
      // Pushed records stay pending, and visible; the turn's own work goes on.
      this.#parts.onFault(error, jobId ?? turn);
    }
    try {
      await run(signal);
    } catch (error) {
      this.#parts.onFault(error, jobId ?? turn);
    }
    this.#running.delete(turn);
    if (jobId !== undefined) this.#live.end(jobId);
    this.#next();
  }

  async #beginFetch({ jobId, order, logged }: WaitingFetch): Promise<void> {
    const signal = this.#live.begin(jobId);
    const { workspace, dataset } = order;
    const inTurn = (work: () => Promise<void>): Promise<void> =>
      this.inTurn(workspace, dataset, work, signal);
    const onProgress = (percent: number): void => this.#live.progressed(jobId, percent);
    try {
      await this.#run({ jobId, order, logged }, signal, () =>
        this.#parts.fetch({
          jobId,
          order,
          signal,
          inTurn,
          onProgress,
          onBytes: (bytes) => this.#live.landed(jobId, bytes),
        }),
      );
    } catch (error) {
      this.#parts.onFault(error, jobId);
    }
    this.#fetching.delete(jobId);
    this.#live.end(jobId);
    this.#next();
  }

  async #run(
    { jobId, logged, order }: QueuedJob,
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    const { clock, database, startsMax } = this.#parts;
    try {
      // Its failure was returned to the caller, so that the job fails too.
      await logged;
      const starts = await retryWhileAway(() => beginAttempt(database, jobId, clock()), signal);
      if (starts > startsMax) throw endedTooOften(startsMax);
      const message = 'begin processing data job';
      await retryWhileAway(() => writeJobLog(jobId, order, message, this.#parts), signal);
      await work();
    } catch (error) {
      // A stopped job has not ended: it runs again at the next start.
      if (signal.reason === STOPPING) return;
      await this.#failJob(jobId, order, signal.aborted ? CANCELLED : error);
      return;
    }
    await this.#cleanUp(jobId, order);
  }

  /** Marks a job as failed. When the catalog can't be written it stays unfinished, and keeps its file. */
  async #failJob(jobId: string, order: JobOrder, error: unknown): Promise<void> {
    if (isProcessLost(error)) {
      const message = `job ${jobId} ended in ERROR, its process was killed: ${reasonOf(error)}`;
      this.#lost.set(jobId, new Failure('ChildLost', message));
    }
    try {
      await failJob(jobId, order, error, this.#parts);
    } catch (fault) {
      this.#parts.onFault(fault, jobId);
      this.#unfinished.set(jobId, { order, error: toDiskFullFailure(error) });
      return;
    }
    await this.#cleanUp(jobId, order);
  }

  /** Cleans up after a job's end is in the catalog. */
  async #cleanUp(jobId: string, order: JobOrder): Promise<void> {
    if (order.ownFile) await this.#parts.bodies.remove(order.path);
    await this.#parts.afterEnd(jobId, order);
  }

  async #endUnfinished(): Promise<void> {
    for (const [jobId, { order, error }] of Array.from(this.#unfinished)) {
      this.#unfinished.delete(jobId);
      // A failed clean-up must not keep the next job from its turn.
      await this.#failJob(jobId, order, error).catch((fault: unknown) =>
        this.#parts.onFault(fault, jobId),
      );
    }
  }
}

export const jobCreatedText = (jobId: string): string => `jobId: ${jobId} has been created`;

/** Signal of work that is no job. */
const NEVER = new AbortController().signal;

const STOPPING = new Failure('Busy', SERVER_STOPPING);

/** Name of a dataset's turn; compared without case, as the directory does. */
const turnName = (workspace: string, dataset: string): string =>
  `${workspace}.${dataset}`.toUpperCase();
