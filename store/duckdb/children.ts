// DuckDB children: so many processes, one request each, and a bounded line before them. A request that
// outlives its deadline or its memory is interrupted, then its child is killed: a killed child costs one
// request, never the server.
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { monotonicMs } from '../base/clock.ts';
import { Failure, OverMemory } from '../base/failure.ts';
import { callerLeft, TimedLine } from '../queues/timedLine.ts';
import type { Answer, FromChild, Request, Scope } from './protocol.ts';
import { type ChildProcesses, ownProcesses, send, spillFolder, startChild } from './slot.ts';
import { bytesOfQuestion, isStarted, markStarted, reserve, Slots } from './slots.ts';
import type { Borrowing, LentProcess, Question, Slot } from './slots.ts';

export interface PoolOptions extends Borrowing {
  /** Those that one account may have at a time; there is one more, so that another need not wait. */
  readonly children: number;
  /** DuckDB's memory for each child; when `shared`, for all that run, in equal parts. */
  readonly memoryBytes: number;
  readonly shared?: boolean;
  readonly threads: number;
  /**
   * A child may read the whole folders of a question's files: what it has open serves the next
   * version of a dataset too. Only where no statement is a caller's.
   */
  readonly byFolder?: boolean;
  /** Where a child may spill, each in a folder of its own, and how much at most. */
  readonly spill?: { readonly folder: string; readonly bytes: number };
  /** Unix niceness, 0 to 19: a child with more of it gives way to the server and to readers. */
  readonly niceness?: number;
  /** Processes of its own when undefined. */
  readonly processes?: ChildProcesses;
  /** Told how long a request took that failed by what its account asked for. */
  readonly onFailed?: (account: string, ms: number) => void;
  /** A lent process that runs a statement and says nothing for so long is given up. */
  readonly silentMs?: number;
}

/** How often it is tried to start a process where the last try failed. */
const RETRY_MS = 1_000;
/** After an interrupt a healthy child answers within milliseconds (STACK.md 1.2: 2 ms). */
const INTERRUPT_GRACE_MS = 1_000;
/**
 * DuckDB's buffers are under its own limit; Node, rendering and what DuckDB takes besides fit in
 * this: a sort of 5 M rows has about 400 MB resident beyond a limit of 384 or 768 MB.
 */
const CHILD_OVERHEAD_BYTES = 512 * 1024 ** 2;

/** A process that has not started by then is stopped. */
const START_MS = 30_000;
/** A parser of 5 s waits behind queries of 30 s. */
const LEAST_WAIT_MS = 30_000;

/** Its node tells of itself five times a second while it runs a statement. */
const SILENT_MS = 5_000;

type Wanted = Request['answer'];

/** Requests so far: their ids are of all pools, since a child may serve one after the other. */
let requests = 0;

/** How the processes of a pool are. */
export interface PoolLoad {
  readonly running: number;
  readonly waiting: number;
  /** Processes that ended by themselves, or had to be killed. */
  readonly lost: number;
  /** The last process that was to start could not. */
  readonly failing: boolean;
  /** Processes of other nodes. */
  readonly lent: number;
  /** What they answered. */
  readonly byLent: number;
}

/** A lent process did not answer: another one does. */
class GivenBack extends Error {}

export class Children {
  readonly #options: PoolOptions;
  readonly #slots: Slots;
  #byLent = 0;
  readonly #line: TimedLine<Question, Slot>;
  /** Its end, once it was closed. */
  #closing: Promise<void> | undefined;
  #lost = 0;
  #isWarming = false;
  /** When a process could not be started, while none was since. */
  #failedMs: number | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = new Slots(options.children + 1, options);
    this.#line = new TimedLine({
      places: () => options.children + this.#slots.lent,
      leastWaitMs: LEAST_WAIT_MS,
      bytesOf: bytesOfQuestion,
    });
  }

  /** A process of another node, until it ends. */
  lend(child: LentProcess): void {
    const slot = this.#isClosed ? undefined : this.#slots.lend(child);
    if (slot === undefined) return void child.kill();
    child.on('message', (message: FromChild) => this.#hear(slot, message));
    child.once('exit', () => {
      this.#slots.gone(slot);
      slot.running?.failed(slot.running.stopped ?? new GivenBack());
    });
    this.#next();
  }

  /** None of other nodes from here on: what they were asked is asked here. */
  dismiss(): void {
    for (const slot of this.#slots.all) if (slot.isLent) slot.child.kill();
  }

  load(): PoolLoad {
    const running = this.#slots.all.filter((slot) => slot.running !== undefined).length;
    const told = { lost: this.#lost, failing: this.#failedMs !== undefined };
    return {
      running,
      waiting: this.#line.size,
      ...told,
      lent: this.#slots.lent,
      byLent: this.#byLent,
    };
  }

  /** Starts the children ahead of the first request. */
  warm(): void {
    this.#isWarming = true;
    for (const slot of this.#slots.own.slice(0, -1)) if (!this.#startAhead(slot)) return;
  }

  /** A question comes soon: a process for it starts meanwhile, where none is free. */
  expect(): void {
    const slot = this.#slots.own.find(({ running }) => running === undefined);
    if (!this.#isClosed && slot !== undefined) this.#startAhead(slot);
  }

  /** False where it could not: a request tries again, and so does whoever asks whether the pool is ready. */
  #startAhead(slot: Slots['own'][number]): boolean {
    try {
      slot.child ??= this.#start(slot);
      return true;
    } catch {
      return false;
    }
  }

  /** True while none of those that were started ahead has begun to read requests. */
  get isStarting(): boolean {
    return this.#isWarming && !this.#slots.own.some(isStarted);
  }

  /** True when processes can be started, as far as the last try tells; a failed one is repeated. */
  ready(): boolean {
    if (this.#failedMs === undefined) return true;
    if (monotonicMs() - this.#failedMs >= RETRY_MS) this.warm();
    return this.#failedMs === undefined;
  }

  /** Again it waits for the same end: a process that was given back may serve another pool by then. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  get #isClosed(): boolean {
    return this.#closing !== undefined;
  }

  async #end(): Promise<void> {
    const { processes = ownProcesses } = this.#options;
    this.dismiss();
    const ended = this.#slots.own.map(async ({ child, running }) => {
      if (child !== undefined) await processes.end(child, running === undefined);
    });
    await Promise.all(ended);
  }

  /** @throws Failure TimedOut, ChildLost, Busy, TooLarge; SystemError with DuckDB's sentence. */
  async ask(question: Question, answer: Wanted): Promise<Answer> {
    const began = monotonicMs();
    try {
      return await this.#askOnce(question, answer);
    } catch (error) {
      if (!(error instanceof GivenBack)) throw error;
      const deadlineMs = Math.max(1, question.deadlineMs - (monotonicMs() - began));
      return this.#askOnce({ ...question, deadlineMs, isOwn: true }, answer);
    }
  }

  async #askOnce(question: Question, answer: Wanted): Promise<Answer> {
    const slot = await this.#take(question);
    const began = monotonicMs();
    try {
      return await this.#run(slot, question, answer);
    } catch (error) {
      this.#dropBody(slot, question);
      const isOurs = error instanceof Failure ? error.type === 'Busy' : error instanceof GivenBack;
      if (!isOurs) this.#options.onFailed?.(question.account, monotonicMs() - began);
      throw error;
    } finally {
      slot.running = undefined;
      this.#line.tookMs(monotonicMs() - began);
      this.#refresh(slot);
      this.#next();
    }
  }

  /**
   * Memory that a child was given it seldom gives back: after a large request the next one would
   * be weighed with it. So a child that grew beyond half of its overhead gives way to a new one.
   */
  #refresh(slot: Slot): void {
    const most = this.#options.memoryBytes + CHILD_OVERHEAD_BYTES / 2;
    if (slot.child === undefined || slot.bytes <= most) return;
    if (slot.isLent) return void slot.child.kill();
    const { child } = slot;
    slot.child = undefined;
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  }

  async #take(question: Question): Promise<Slot> {
    if (this.#isClosed) throw stopping();
    // Nobody who waits may take a slot that is free now: it was offered to them when it became free.
    return this.#reserved(question) ?? this.#line.wait(question);
  }

  #reserved(question: Question): Slot | undefined {
    const free = this.#slots.for(question);
    return free === undefined ? undefined : reserve(free, question);
  }

  #next(): void {
    const slotFor = (question: Question): Slot | undefined => this.#reserved(question);
    while (this.#line.give(slotFor, this.#slots.lent === 0));
  }

  #run(slot: Slot, question: Question, answer: Wanted): Promise<Answer> {
    const id = (requests += 1);
    const scope = this.#scope(slot, question);
    // Its turn came as the pool was closing: the process may be another one's by now.
    if (this.#isClosed) throw stopping();
    const child = slot.isLent ? slot.child : (slot.child ??= this.#start(slot));
    return new Promise<Answer>((answered, failed) => {
      const { memoryBytes } = scope;
      const running = { id, memoryBytes, question, answered, failed, stopped: undefined };
      slot.running = running;
      const parameters = question.parameters ?? [];
      const progress = question.onProgress !== undefined;
      const { endsAt, file, statements, written } = question;
      const request = {
        id,
        scope,
        statements,
        parameters,
        answer,
        progress,
        ...(endsAt === undefined ? {} : { endsAt }),
        ...(file === undefined ? {} : { file }),
        ...(written === undefined ? {} : { written }),
      };
      send(child, { kind: 'request', request });
    }).finally(this.#watch(slot, question));
  }

  /** Sets the deadline and the caller's signal; the returned function lifts both. */
  #watch(slot: Slot, question: Question): () => void {
    const stop = (detail: string): void => this.#stop(slot, new Failure('TimedOut', detail));
    const late = `the ${question.deadlineMs} ms time limit was reached`;
    const begin = (): NodeJS.Timeout => setTimeout(stop, question.deadlineMs, late);
    let timer: NodeJS.Timeout;
    if (isStarted(slot)) timer = begin();
    else {
      // That a process starts is no part of a caller's time.
      const unstarted = new Failure('Busy', 'the query process takes too long to start', START_MS);
      timer = setTimeout(() => this.#stop(slot, unstarted), START_MS);
      if (slot.running !== undefined) {
        slot.running.onStarted = () => {
          clearTimeout(timer);
          timer = begin();
        };
      }
    }
    const leave = (): void => this.#stop(slot, callerLeft());
    const looking = slot.isLent ? this.#listenTo(slot) : undefined;
    question.signal?.addEventListener('abort', leave, { once: true });
    if (question.signal?.aborted === true) leave();
    return () => {
      clearTimeout(timer);
      clearInterval(looking);
      question.signal?.removeEventListener('abort', leave);
    };
  }

  /** A process of another machine that says nothing is not waited for. */
  #listenTo(slot: Extract<Slot, { readonly isLent: true }>): NodeJS.Timeout {
    slot.heardMs = monotonicMs();
    const { silentMs = SILENT_MS } = this.#options;
    const look = (): void => {
      if (monotonicMs() - slot.heardMs > silentMs) slot.child.kill();
    };
    return setInterval(look, silentMs / 5);
  }

  #stop(slot: Slot, reason: Failure): void {
    const { running, child } = slot;
    if (running === undefined || child === undefined || running.stopped !== undefined) return;
    running.stopped = reason;
    send(child, { kind: 'interrupt', id: running.id });
    setTimeout(() => {
      if (slot.running === running) child.kill('SIGKILL');
    }, INTERRUPT_GRACE_MS).unref();
  }

  #scope(slot: Slot, question: Question): Scope {
    const { byFolder, shared, spill } = this.#options;
    const threads = Math.min(question.threads ?? Infinity, this.#options.threads);
    const sharing = shared === true ? Math.max(1, this.load().running) : 1;
    const most = question.limits?.memoryBytes ?? Infinity;
    const memoryBytes = Math.min(most, Math.floor(this.#options.memoryBytes / sharing));
    const { files, skips } = question;
    const scope = { files, memoryBytes, threads, ...(skips === undefined ? {} : { skips }) };
    if (spill !== undefined) {
      const spillBytes = Math.min(question.limits?.spillBytes ?? Infinity, spill.bytes);
      return { ...scope, folder: spillFolder(spill.folder, slot.place), spillBytes, kept: true };
    }
    const { below = [], folder, shared: workspace } = question;
    if (folder !== undefined) {
      const more = workspace === undefined ? {} : { shared: workspace };
      return { ...scope, ...more, folder, ...(below.length === 0 ? {} : { folders: below }) };
    }
    return byFolder === true ? { ...scope, folders: foldersOf(question.files) } : scope;
  }

  /** @throws Failure Busy when no process can be started; the slot is as it was. */
  #start(slot: Slots['own'][number]): ChildProcess {
    slot.bytes = 0;
    let child: ChildProcess;
    try {
      child = startChild(this.#options, slot.place, this.#options.processes ?? ownProcesses);
    } catch (error) {
      this.#failedMs = monotonicMs();
      throw error;
    }
    this.#failedMs = undefined;
    child.on('message', (message: FromChild) => this.#hear(slot, message));
    child.once('exit', (code, signal) => {
      if (slot.child === child) slot.child = undefined;
      if (!this.#isClosed) this.#lost += 1;
      const how = signal ?? `code ${code}`;
      const lost = new Failure('ChildLost', `the query process ended (${how}); try again`);
      slot.running?.failed(slot.running.stopped ?? lost);
    });
    return child;
  }

  /** What a failed request had written of its body is nobody's. */
  #dropBody(slot: Slot, { file }: Question): void {
    const { spill } = this.#options;
    if (spill === undefined || file === undefined) return;
    rmSync(join(spillFolder(spill.folder, slot.place), file.name), { force: true });
  }

  #hear(slot: Slot, message: FromChild): void {
    const { running } = slot;
    if (slot.isLent) slot.heardMs = monotonicMs();
    if (message.kind === 'started') {
      if (!slot.isLent && slot.child !== undefined) markStarted(slot.child);
      this.#isWarming = false;
      return running?.onStarted?.();
    }
    if (message.kind === 'memory') return this.#weigh(slot, message.bytes);
    if (slot.isLent && message.kind === 'answer') this.#byLent += 1;
    if (running === undefined || message.id !== running.id) return;
    if (message.kind === 'progress') running.question.onProgress?.(message.percent);
    else if (running.stopped !== undefined) running.failed(running.stopped);
    else if (message.kind === 'answer') running.answered(message.answer);
    // It may be that machine: here it is known what it is.
    else if (slot.isLent && message.type === 'SystemError') running.failed(new GivenBack());
    else running.failed(new Failure(message.type, message.detail));
  }

  #weigh(slot: Slot, bytes: number): void {
    slot.bytes = bytes;
    if (slot.running === undefined) return;
    const most = slot.running.memoryBytes + CHILD_OVERHEAD_BYTES;
    if (bytes <= most) return;
    slot.running.stopped ??= new OverMemory(most);
    slot.child?.kill('SIGKILL');
  }
}

const foldersOf = (files: readonly string[]): readonly string[] =>
  [...new Set(files.map((path) => dirname(path)))].sort();

const stopping = (): Failure => new Failure('Busy', 'the server is stopping');
