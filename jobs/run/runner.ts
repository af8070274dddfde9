// The runner: jobs wait their turn, one at a time for each dataset, several across. A job's last
// step is part of its commit's transaction, so a job that was killed either finished or changed
// nothing; at the next start it runs again from its file, or from where its source stood.
import { LruMap } from 'toad-cache';
import type { Alongside } from '../../store/catalog/database.ts';
import type { Bodies } from '../../store/files/bodies.ts';
import { Failure, isLost, reasonOf, toldFull } from '../../store/base/failure.ts';
import {
  beginAttempt,
  findJob,
  forgiveStarts,
  insertJob,
  type Job,
  newestSequence,
  newJobId,
  trimLog,
  unfinishedJobs,
} from '../../store/work/jobs.ts';
import { awaited } from './awaited.ts';
import { CallerTurns } from './callerTurns.ts';
import { CANCELLED, endedTooOften, endInVain, type JobParts, tellLog } from './jobLife.ts';
import { LiveJobs } from './liveJobs.ts';
import { runLoad } from './load.ts';
import { type FetchOrder, type JobOrder, newJob, jobOrderOf } from './order.ts';
import { type Begun, type Waiting, type WaitingFetch, WaitingJobs } from './waitingJobs.ts';

interface RunnerParts extends JobParts {
  /** Of one account, now; of all there may be one more, so that another need not wait for hours. */
  readonly jobsAtOnce: () => number;
  /** Who owns a workspace; empty for none. */
  readonly accountOf: (workspace: string) => string;
  /** `STARTS_MAX`, but where a test kills the server again and again. */
  readonly startsMax: number;
  /** Folder of spooled bodies. */
  readonly spool: string;
  readonly bodies: Bodies;
  /** Done first in each turn of a dataset: what was pushed into it becomes a file. */
  readonly beforeTurn: (workspace: string, dataset: string) => Promise<void>;
  /** Runs a job that fetches its files: outside its dataset's turn but for storing them. */
  readonly fetch: (run: FetchRun) => Promise<void>;
  /** Told when a job has ended and the catalog says so. */
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

/** Starts of one job that ended with the server: such a body must not end it for ever. */
export const STARTS_MAX = 2;
/** Jobs of which it is remembered that their process was killed. */
const LOST_MAX = 1_000;
/** Sources that are fetched from at once for one account; each may hold one landed file. */
const FETCHES_AT_ONCE = 8;

export class Runner {
  readonly #parts: RunnerParts;
  readonly #waiting = new WaitingJobs();
  /** By turn. */
  readonly #running = new Map<string, Begun>();
  /** By job. */
  readonly #fetching = new Map<string, Begun>();
  readonly #live = new LiveJobs();
  /** Jobs that failed when the catalog could not be written: they end as soon as it can. */
  readonly #unended = new Map<string, { readonly order: JobOrder; readonly error: unknown }>();
  /** Why jobs ended whose processes were killed, for those who wait for them. */
  readonly #lost = new LruMap<Failure>(LOST_MAX);
  /** Jobs that ran when the server ended: one of them at a time, so that none ends for another. */
  readonly #suspects = new Set<string>();
  readonly callers = new CallerTurns((...turn) => this.inTurn(...turn));
  #sequence = 0;
  #stopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Takes up what a stopped or killed process left; removes bodies of no job. */
  async resume(): Promise<void> {
    const { bodies, database, spool } = this.#parts;
    await trimLog(database);
    const left = await unfinishedJobs(database);
    const orders = left.map((job) => ({ job, order: jobOrderOf(job, spool) }));
    this.#sequence = await newestSequence(database);
    await bodies.sweep(new Set(orders.map(({ order }) => order.path)));
    for (const { job, order } of orders) {
      const text = 'the server was stopped: the job begins again';
      await tellLog(job.job_id, order, text, this.#parts);
      if (job.attempts > 0) this.#suspects.add(job.job_id);
      this.#wait(job.job_id, order);
    }
    this.#next();
  }

  /**
   * Records a job durably and lets it wait its turn; its id.
   * @param alongside in the transaction that records it
   * @throws Failure Busy when too many wait, or the server is stopping.
   */
  async submit(order: JobOrder, alongside?: Alongside): Promise<string> {
    if (this.#stopping) throw STOPPING;
    this.#waiting.checkLength(this.#parts.accountOf(order.workspace));
    const jobId = newJobId();
    if (order.ownFile) await this.#parts.bodies.keep(order.path);
    await this.#record(jobId, order, alongside);
    // It waits before its first line is written: from its row on, it can be cancelled.
    const told = tellLog(jobId, order, `jobId: ${jobId} has been created`, this.#parts);
    this.#wait(jobId, order, told);
    await told;
    this.#next();
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
   * Runs other work on a dataset when its turn comes: no load of it runs beside it.
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
      const turn = turnOf(workspace, dataset);
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
   * Ends a job that has not ended: a waiting one at once, a running one as soon as its statement
   * is interrupted. False when it had ended already.
   */
  async cancel(job: Job): Promise<boolean> {
    if (job.finished_ms !== null) return false;
    if (this.#waiting.removeJob(job.job_id)) {
      const order = jobOrderOf(job, this.#parts.spool);
      await this.#end(job.job_id, order, CANCELLED);
      this.#live.end(job.job_id);
      return true;
    }
    return this.#live.abort(job.job_id, CANCELLED);
  }

  /**
   * Resolves when the job has ended, whichever way.
   * @throws Failure when it ended and the catalog could not be told; ChildLost when its process was
   * killed: the same body may go well.
   */
  async ended(jobId: string): Promise<Job> {
    const { database } = this.#parts;
    const waits = this.#waiting.has(jobId);
    if (waits || this.#live.progressOf(jobId) !== undefined) await this.#live.ended(jobId);
    const lost = this.#lost.get(jobId);
    if (lost !== undefined) throw lost;
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
    return this.#live.progressOf(jobId);
  }

  /** Bytes that a running job's source has sent, fresher than its row. */
  bytesOf(jobId: string): number | undefined {
    return this.#live.bytesOf(jobId);
  }

  /** How much runs and waits, for the metrics. */
  load(): { readonly running: number; readonly waiting: number } {
    return {
      running: this.#running.size + this.#fetching.size,
      waiting: this.#waiting.size,
    };
  }

  /** More may run at once than before. */
  widened(): void {
    this.#next();
  }

  isStopping(): boolean {
    return this.#stopping;
  }

  /**
   * Starts nothing more and waits for what runs, so long; what runs still is stopped. It begins again
   * at the next start, as does what waits.
   */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    for (const jobId of this.#fetching.keys()) this.#live.abort(jobId, STOPPING);
    // Whatever comes now, the server was told to end.
    const { database, onFault } = this.#parts;
    await forgiveStarts(database, this.#live.ids()).catch((error) => onFault(error, 'stop'));
    const begun = [...this.#running.values(), ...this.#fetching.values()];
    const stopAll = (): void => {
      for (const jobId of this.#live.ids()) this.#live.abort(jobId, STOPPING);
    };
    const timer = setTimeout(stopAll, graceMs);
    await Promise.all(begun.map(({ ended }) => ended));
    clearTimeout(timer);
    await this.#endUnended();
  }

  #wait(jobId: string, order: JobOrder, told?: Promise<void>): void {
    const account = this.#parts.accountOf(order.workspace);
    if (order.fetch !== undefined) {
      this.#waiting.pushFetch({ account, jobId, order, told });
      return;
    }
    const run = async (signal: AbortSignal): Promise<void> => {
      await told;
      const onProgress = (percent: number): void => this.#live.progressed(jobId, percent);
      await this.#run(jobId, order, signal, async () => {
        if (order.ownFile) await this.#parts.bodies.bring(order.path, signal);
        await runLoad({ jobId, order, signal, onProgress }, this.#parts);
      });
    };
    const { workspace, dataset } = order;
    const turn = turnOf(workspace, dataset);
    this.#waiting.push({ account, turn, workspace, dataset, jobId, run });
  }

  #next(): void {
    const jobsAtOnce = this.#parts.jobsAtOnce();
    const mayGo = (jobId: string | undefined): boolean => this.#isTurnOf(jobId);
    while (!this.#stopping && this.#running.size <= jobsAtOnce) {
      const item = this.#waiting.takeTurn(this.#running, jobsAtOnce, mayGo);
      if (item === undefined) break;
      this.#running.set(item.turn, { account: item.account, ended: this.#begin(item) });
    }
    while (!this.#stopping && this.#fetching.size <= FETCHES_AT_ONCE) {
      const item = this.#waiting.takeFetch(this.#fetching, FETCHES_AT_ONCE, mayGo);
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
      await run(signal);
    } catch (error) {
      this.#parts.onFault(error, jobId ?? turn);
    }
    this.#running.delete(turn);
    if (jobId !== undefined) this.#live.end(jobId);
    this.#next();
  }

  async #beginFetch({ jobId, order, told }: WaitingFetch): Promise<void> {
    const signal = this.#live.begin(jobId);
    const { workspace, dataset } = order;
    await told;
    const inTurn = (work: () => Promise<void>): Promise<void> =>
      this.inTurn(workspace, dataset, work, signal);
    const onProgress = (percent: number): void => this.#live.progressed(jobId, percent);
    try {
      await this.#run(jobId, order, signal, () =>
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
    jobId: string,
    order: JobOrder,
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    const { clock, database, startsMax } = this.#parts;
    try {
      const starts = await awaited(() => beginAttempt(database, jobId, clock()), signal);
      if (starts > startsMax) throw endedTooOften(startsMax);
      const told = 'begin processing data job';
      await awaited(() => tellLog(jobId, order, told, this.#parts), signal);
      await work();
    } catch (error) {
      // A stopped one has not ended: it begins again at the next start.
      if (signal.reason === STOPPING) return;
      await this.#end(jobId, order, signal.aborted ? CANCELLED : error);
      return;
    }
    await this.#leaveBehind(jobId, order);
  }

  /** Ends a job in vain. When the catalog can't be written it stays unended, and keeps its file. */
  async #end(jobId: string, order: JobOrder, error: unknown): Promise<void> {
    if (isLost(error)) {
      const told = `job ${jobId} ended in ERROR, its process was killed: ${reasonOf(error)}`;
      this.#lost.set(jobId, new Failure('ChildLost', told));
    }
    try {
      await endInVain(jobId, order, error, this.#parts);
    } catch (fault) {
      this.#parts.onFault(fault, jobId);
      this.#unended.set(jobId, { order, error: toldFull(error) });
      return;
    }
    await this.#leaveBehind(jobId, order);
  }

  /** What follows when the catalog says that a job has ended. */
  async #leaveBehind(jobId: string, order: JobOrder): Promise<void> {
    if (order.ownFile) await this.#parts.bodies.remove(order.path);
    await this.#parts.afterEnd(jobId, order);
  }

  async #endUnended(): Promise<void> {
    for (const [jobId, { order, error }] of Array.from(this.#unended)) {
      this.#unended.delete(jobId);
      await this.#end(jobId, order, error);
    }
  }
}

/** Of work that is no job. */
const NEVER = new AbortController().signal;

const STOPPING = new Failure('Busy', 'the server is stopping');

/** Loads of one dataset take turns; names compare without case, as the directory does. */
const turnOf = (workspace: string, dataset: string): string =>
  `${workspace}.${dataset}`.toUpperCase();
