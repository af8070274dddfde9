// The scheduler: one timer for all schedules, and each due time is taken once. A due time is advanced, its
// run recorded and its job queued in one transaction; a schedule whose job has not ended waits.
import type { Clock } from '../../store/base/clock.ts';
import { findSource } from '../../store/work/dataSources.ts';
import type { TransactionStep, Database } from '../../store/catalog/database.ts';
import { Failure } from '../../store/base/failure.ts';
import { type Job, listUnfinishedJobs } from '../../store/work/jobs.ts';
import {
  listAllSchedules,
  insertRun,
  insertSchedule,
  removeSchedule,
  savePosition,
  saveSchedule,
  type Schedule,
  trimRuns,
} from '../../store/work/schedules.ts';
import { nextTime } from './cron.ts';
import { decideDueRuns } from './dueRuns.ts';
import type { JobEnd } from '../run/jobLife.ts';
import { type ScheduleHealth, ScheduleHealths } from './health.ts';
import { type FetchOrder, type JobOrder, type ScheduledRun, fetchOrder } from '../run/order.ts';

interface SchedulerParts {
  readonly database: Database;
  readonly clock: Clock;
  /** 0 up to 1, for the jitter of retries. */
  readonly random: () => number;
  readonly submit: (order: FetchOrder, alongside: TransactionStep) => Promise<string>;
  readonly onFault: (reason: unknown) => void;
  /** Called when a run failed, whether it is retried or not. */
  readonly onFailed: (schedule: Schedule, end: JobEnd) => void;
}

/** Longest time between two rounds: the clock may be set. */
const ROUND_MS_MAX = 60_000;
/** Delay after an incomplete round: too many jobs may be waiting. */
const FAULT_MS = 5_000;
/** Longest wait between two tries. */
const RETRY_MS_MAX = 3_600_000;
/** Waits vary by up to this share, so that sources are not called all at the same time. */
const JITTER = 0.25;
/** Stored runs of a schedule are trimmed after this many runs. */
const TRIM_EVERY = 100;

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #schedules = new Map<string, Schedule>();
  /** Schedules whose job has not ended. */
  readonly #running = new Set<string>();
  /** Retries decided by `atEnd`, by job, until its transaction is committed. */
  readonly #retries = new Map<string, Schedule['retry']>();
  /** Ends of jobs whose transaction is not committed. */
  readonly #ends = new Map<string, JobEnd>();
  readonly #healths: ScheduleHealths;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<number> | undefined;
  #isStarted = false;
  #runs = 0;

  private constructor(parts: SchedulerParts, healths: ScheduleHealths) {
    this.#parts = parts;
    this.#healths = healths;
  }

  /** Called before the runner resumes jobs: the unfinished ones are registered by then. */
  static async open(parts: SchedulerParts): Promise<Scheduler> {
    const scheduler = new Scheduler(parts, await ScheduleHealths.open(parts.database));
    for (const schedule of await listAllSchedules(parts.database)) {
      scheduler.#schedules.set(schedule.id, schedule);
    }
    for (const job of await listUnfinishedJobs(parts.database)) {
      const run = parseRun(job);
      if (run !== undefined) scheduler.#running.add(run.scheduleId);
    }
    return scheduler;
  }

  /** Starts the automatic rounds. */
  start(): void {
    this.#isStarted = true;
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    await this.#round;
  }

  list(workspace: string): readonly Schedule[] {
    return [...this.#schedules.values()].filter((item) => item.workspace === workspace);
  }

  get(workspace: string, id: string): Schedule | undefined {
    const schedule = this.#schedules.get(id);
    return schedule?.workspace === workspace ? schedule : undefined;
  }

  /** Of all workspaces. */
  all(): readonly Schedule[] {
    return [...this.#schedules.values()];
  }

  health(id: string): ScheduleHealth {
    return this.#healths.of(id);
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  async add(schedule: Schedule): Promise<void> {
    await insertSchedule(this.#parts.database, schedule);
    this.#schedules.set(schedule.id, schedule);
    this.#arm();
  }

  /** @param anew the next pull starts from the beginning */
  async change(schedule: Schedule, anew: boolean): Promise<void> {
    await this.#parts.database.transaction().execute(async (transaction) => {
      await saveSchedule(transaction, schedule);
      if (anew) await savePosition(transaction, schedule.id, null);
    });
    this.#schedules.set(schedule.id, schedule);
    this.#arm();
  }

  /** Removes a schedule; its running job goes on. */
  async remove(id: string): Promise<void> {
    await removeSchedule(this.#parts.database, id);
    this.#schedules.delete(id);
    this.#healths.remove(id);
  }

  /**
   * Runs it immediately, in any state; returns the job's id.
   * @param alongside in the transaction that records it
   * @throws Failure Conflict while a job of it runs.
   */
  async runNow(schedule: Schedule, alongside?: TransactionStep): Promise<string> {
    if (this.#running.has(schedule.id)) {
      throw new Failure('Conflict', 'a job of the schedule has not ended yet');
    }
    const run = { scheduleId: schedule.id, dueMs: this.#parts.clock(), attempt: 1 };
    return this.#submit({ ...schedule, retry: null }, run, 1, [], alongside);
  }

  /** Takes all due times; resolves when they are recorded, with the count of schedules. */
  async takeDue(): Promise<number> {
    while (this.#round !== undefined) await this.#round;
    this.#round = this.#takeDue().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  /** Decides about a retry, in the transaction that ends a job. */
  async atEnd(transaction: Database, end: JobEnd): Promise<void> {
    const run = end.order.fetch?.run;
    const schedule = run === undefined ? undefined : this.#schedules.get(run.scheduleId);
    if (run === undefined || schedule === undefined) return;
    const again =
      end.status === 'ERROR' &&
      end.transient &&
      schedule.state === 'ENABLED' &&
      run.attempt < schedule.body.attemptsMax;
    const retry = again
      ? { atMs: end.timeMs + this.#wait(schedule, run.attempt), ...runPart(run) }
      : null;
    await saveSchedule(transaction, { ...schedule, retry });
    this.#retries.set(end.jobId, retry);
    this.#ends.set(end.jobId, end);
  }

  /** Called when the job's end is in the catalog. */
  async afterEnd(jobId: string, order: JobOrder): Promise<void> {
    const run = order.fetch?.run;
    if (run === undefined) return;
    const schedule = this.#schedules.get(run.scheduleId);
    const retry = this.#retries.get(jobId) ?? null;
    this.#retries.delete(jobId);
    const end = this.#ends.get(jobId);
    this.#ends.delete(jobId);
    if (schedule !== undefined) {
      this.#schedules.set(schedule.id, { ...schedule, retry });
      if (end !== undefined) this.#healths.ended(schedule.id, end);
      if (end?.status === 'ERROR') this.#parts.onFailed(schedule, end);
    }
    this.#running.delete(run.scheduleId);
    this.#runs += 1;
    if (this.#runs % TRIM_EVERY === 0) await trimRuns(this.#parts.database, run.scheduleId);
    this.#arm();
  }

  #wait({ body }: Schedule, attempt: number): number {
    const plain = Math.min(RETRY_MS_MAX, body.retryMs * 2 ** (attempt - 1));
    return Math.round(plain * (1 + JITTER * (2 * this.#parts.random() - 1)));
  }

  async #takeDue(): Promise<number> {
    const now = this.#parts.clock();
    const due = [...this.#schedules.values()].filter((item) => this.#nextActionMs(item) <= now);
    const faults: unknown[] = [];
    for (const schedule of due.sort((a, b) => this.#nextActionMs(a) - this.#nextActionMs(b))) {
      // A schedule that fails must not delay the others; it stays due.
      await this.#takeOne(schedule.id, now).catch((error: unknown) => faults.push(error));
    }
    if (faults.length > 0) throw faults[0];
    return due.length;
  }

  async #takeOne(id: string, now: number): Promise<void> {
    // The schedule may have changed while others were taken.
    const schedule = this.#schedules.get(id);
    if (schedule === undefined || this.#nextActionMs(schedule) > now) return;
    const { body, nextMs, retry } = schedule;
    const { cron, missedRuns, timeZone } = body;
    if (nextMs === null || nextMs > now) {
      if (retry === null) return;
      const run = { scheduleId: id, dueMs: retry.dueMs, attempt: retry.attempt + 1 };
      await this.#submit({ ...schedule, retry: null }, run, 1, []);
      return;
    }
    const decision = decideDueRuns(nextMs, missedRuns, now, (ms) => nextTime(cron, ms, timeZone));
    const advanced = { ...schedule, nextMs: decision.nextMs, retry: null };
    const skipped = decision.runs.filter(({ outcome }) => outcome === 'SKIPPED');
    const dueRun = decision.runs.find(({ outcome }) => outcome === 'RUN');
    if (dueRun !== undefined) {
      const run = { scheduleId: id, dueMs: dueRun.dueMs, attempt: 1 };
      await this.#submit(advanced, run, dueRun.dues, skipped);
      return;
    }
    await this.#parts.database.transaction().execute(async (transaction) => {
      await saveSchedule(transaction, advanced);
      for (const item of skipped) await this.#note(transaction, advanced, item, 'SKIPPED', null);
    });
    this.#schedules.set(id, advanced);
  }

  async #submit(
    schedule: Schedule,
    run: ScheduledRun,
    dues: number,
    skipped: readonly { readonly dueMs: number; readonly dues: number }[],
    alongside?: TransactionStep,
  ): Promise<string> {
    this.#running.add(schedule.id);
    try {
      const order = await this.#orderOf(schedule, run);
      const jobId = await this.#parts.submit(order, async (transaction, id) => {
        await saveSchedule(transaction, schedule);
        for (const item of skipped) await this.#note(transaction, schedule, item, 'SKIPPED', null);
        const dueRun = { dueMs: run.dueMs, dues, attempt: run.attempt };
        await this.#note(transaction, schedule, dueRun, 'RUN', id);
        await alongside?.(transaction, id);
        this.#schedules.set(schedule.id, schedule);
      });
      return jobId;
    } catch (error) {
      this.#running.delete(schedule.id);
      throw error;
    }
  }

  async #note(
    transaction: Database,
    { dataset, id, workspace }: Schedule,
    dueRun: { readonly dueMs: number; readonly dues: number; readonly attempt?: number },
    outcome: string,
    jobId: string | null,
  ): Promise<void> {
    const { attempt = 0, dueMs, dues } = dueRun;
    const recorded = { made_ms: this.#parts.clock(), note: '' };
    const what = { schedule_id: id, workspace, dataset, outcome, job_id: jobId };
    await insertRun(transaction, { ...what, ...recorded, due_ms: dueMs, dues, attempt });
  }

  async #orderOf(schedule: Schedule, run: ScheduledRun): Promise<FetchOrder> {
    const { accountId, body, dataset, sourceId, workspace } = schedule;
    const source = await findSource(this.#parts.database, workspace, sourceId);
    const fetch = { sourceId, sourceType: source?.type ?? '', run };
    return fetchOrder({ ...body, accountId, workspace, dataset, fetch });
  }

  /** Time of the next action for a schedule; infinity for none. */
  #nextActionMs(schedule: Schedule): number {
    if (schedule.state === 'PAUSED' || this.#running.has(schedule.id)) return Infinity;
    return Math.min(schedule.nextMs ?? Infinity, schedule.retry?.atMs ?? Infinity);
  }

  #arm(waitMs = 0): void {
    if (!this.#isStarted) return;
    clearTimeout(this.#timer);
    let first = Infinity;
    for (const schedule of this.#schedules.values())
      first = Math.min(first, this.#nextActionMs(schedule));
    const soonest = Math.max(waitMs, first - this.#parts.clock());
    const run = (): void => {
      this.takeDue().then(
        () => this.#arm(),
        (error: unknown) => {
          this.#parts.onFault(error);
          this.#arm(FAULT_MS);
        },
      );
    };
    this.#timer = setTimeout(run, Math.min(ROUND_MS_MAX, soonest)).unref();
  }
}

const runPart = ({ attempt, dueMs }: ScheduledRun): { attempt: number; dueMs: number } => ({
  attempt,
  dueMs,
});

function parseRun(job: Job): ScheduledRun | undefined {
  return (JSON.parse(job.load_json) as FetchOrder).fetch?.run;
}
