// A pool of DuckDB child processes with one request each and a bounded queue. A request that exceeds its
// deadline or memory is interrupted, then its child is killed: that fails one request, never the server.
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { monotonicMs } from '../base/clock.ts';
import { Failure, OverMemory, SERVER_STOPPING } from '../base/failure.ts';
import { callerGone, TimedQueue } from '../queues/timedQueue.ts';
import type { Answer, FromChild, Request, Scope } from './protocol.ts';
import { type ChildProcesses, ownProcesses, send, spillFolder, startChild } from './slot.ts';
import { measureRequest, isStarted, markStarted, reserveSlot, Slots } from './slots.ts';
import type { RemoteOptions, RemoteProcess, PoolRequest, Slot } from './slots.ts';

export interface PoolOptions extends RemoteOptions {
  /** Processes that one account may use concurrently; there is one more for other accounts. */
  readonly children: number;
  /** DuckDB's memory for each child; with `shared`, for all running children, in equal parts. */
  readonly memoryBytes: number;
  readonly shared?: boolean;
  readonly threads: number;
  /**
   * A child may read the whole folders of a request's files, so that its instance can also serve the next
   * version of a dataset. Only for pools that run no statement of a caller.
   */
  readonly byFolder?: boolean;
  /** Where children may spill, each in its own folder, and the limit of each. */
  readonly spill?: { readonly folder: string; readonly bytes: number };
  /** Unix niceness, 0 to 19: with a higher value the server and readers have priority. */
  readonly niceness?: number;
  /** Undefined: the pool's own processes. */
  readonly processes?: ChildProcesses;
  /** Called with the duration of a request that failed because of its account's input. */
  readonly onFailed?: (account: string, ms: number) => void;
  /** A remote process that runs a statement is abandoned after such a silence. */
  readonly silentMs?: number;
}

/** Interval of retries after a process could not be started. */
const RETRY_MS = 1_000;
/** After an interrupt a healthy child answers within milliseconds (STACK.md 1.2: 2 ms). */
const INTERRUPT_GRACE_MS = 1_000;
/**
 * DuckDB's buffers are within its own limit. Node, rendering and DuckDB's other memory fit into this:
 * a sort of 5 M rows has about 400 MB resident beyond a limit of 384 or 768 MB.
 */
const CHILD_OVERHEAD_BYTES = 512 * 1024 ** 2;

/** A process that has not started within this time is stopped. */
const START_TIMEOUT_MS = 30_000;
/** Minimum wait in the queue: a 5 s parse request may wait behind 30 s queries. */
const WAIT_MIN_MS = 30_000;

/** A remote node reports five times a second while it runs a statement. */
const SILENCE_MAX_MS = 5_000;

type AnswerKind = Request['answer'];

/** Number of requests, from which ids derive. All pools share it: a child may serve several in turn. */
let requestCount = 0;

/** The load of a pool's processes. */
export interface PoolLoad {
  readonly running: number;
  readonly waiting: number;
  /** Processes that ended unexpectedly or were killed. */
  readonly lost: number;
  /** The last start of a process failed. */
  readonly failing: boolean;
  /** Processes of other nodes. */
  readonly remote: number;
  /** Requests that they answered. */
  readonly answeredRemotely: number;
}

/** A remote process did not answer: the request is repeated on another one. */
class RemoteLost extends Error {}

export class ChildPool {
  readonly #options: PoolOptions;
  readonly #slots: Slots;
  #remoteAnswers = 0;
  readonly #queue: TimedQueue<PoolRequest, Slot>;
  /** Resolves when the pool is closed. */
  #closed: Promise<void> | undefined;
  #lost = 0;
  #isWarming = false;
  /** When the last start failed; undefined after a successful one. */
  #failedMs: number | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = new Slots(options.children + 1, options);
    this.#queue = new TimedQueue({
      places: () => options.children + this.#slots.remoteCount,
      leastWaitMs: WAIT_MIN_MS,
      bytesOf: measureRequest,
    });
  }

  /** Adds a process of another node, until it ends. */
  addRemote(child: RemoteProcess): void {
    const slot = this.#isClosed ? undefined : this.#slots.addRemote(child);
    if (slot === undefined) return void child.kill();
    child.on('message', (message: FromChild) => this.#receive(slot, message));
    child.once('exit', () => {
      this.#slots.remove(slot);
      slot.running?.failed(slot.running.stopped ?? new RemoteLost());
    });
    this.#serveQueue();
  }

  /** Removes all remote processes; their requests run on this node. */
  removeRemotes(): void {
    for (const slot of this.#slots.all) if (slot.isRemote) slot.child.kill();
  }

  load(): PoolLoad {
    const running = this.#slots.all.filter((slot) => slot.running !== undefined).length;
    return {
      running,
      waiting: this.#queue.size,
      lost: this.#lost,
      failing: this.#failedMs !== undefined,
      remote: this.#slots.remoteCount,
      answeredRemotely: this.#remoteAnswers,
    };
  }

  /** Starts the children ahead of the first request. */
  warm(): void {
    this.#isWarming = true;
    for (const slot of this.#slots.own.slice(0, -1)) if (!this.#startAhead(slot)) return;
  }

  /** Starts a process for an imminent request if none is free. */
  startOne(): void {
    const slot = this.#slots.own.find(({ running }) => running === undefined);
    if (!this.#isClosed && slot !== undefined) this.#startAhead(slot);
  }

  /** Starts a process. @returns false if it failed: a request or the next readiness check retries */
  #startAhead(slot: Slots['own'][number]): boolean {
    try {
      slot.child ??= this.#start(slot);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether no process that was started ahead accepts requests yet. */
  get isStarting(): boolean {
    return this.#isWarming && !this.#slots.own.some(isStarted);
  }

  /** Whether processes can be started, by the last attempt; a failed one is retried. */
  ready(): boolean {
    if (this.#failedMs === undefined) return true;
    if (monotonicMs() - this.#failedMs >= RETRY_MS) this.warm();
    return this.#failedMs === undefined;
  }

  /** Closes the pool once. Repeated calls share the promise: a process may serve another pool by then. */
  close(): Promise<void> {
    this.#closed ??= this.#killAll();
    return this.#closed;
  }

  get #isClosed(): boolean {
    return this.#closed !== undefined;
  }

  async #killAll(): Promise<void> {
    const { processes = ownProcesses } = this.#options;
    this.removeRemotes();
    const ended = this.#slots.own.map(async ({ child, running }) => {
      if (child !== undefined) await processes.end(child, running === undefined);
    });
    await Promise.all(ended);
  }

  /** @throws Failure TimedOut, ChildLost, Busy, TooLarge; SystemError with DuckDB's sentence. */
  async run(question: PoolRequest, answer: AnswerKind): Promise<Answer> {
    const startMs = monotonicMs();
    try {
      return await this.#runOnce(question, answer);
    } catch (error) {
      if (!(error instanceof RemoteLost)) throw error;
      const deadlineMs = Math.max(1, question.deadlineMs - (monotonicMs() - startMs));
      return this.#runOnce({ ...question, deadlineMs, isLocalOnly: true }, answer);
    }
  }

  async #runOnce(question: PoolRequest, answer: AnswerKind): Promise<Answer> {
    const slot = await this.#take(question);
    const startMs = monotonicMs();
    try {
      return await this.#run(slot, question, answer);
    } catch (error) {
      this.#dropBody(slot, question);
      const isOurs = error instanceof Failure ? error.type === 'Busy' : error instanceof RemoteLost;
      if (!isOurs) this.#options.onFailed?.(question.account, monotonicMs() - startMs);
      throw error;
    } finally {
      slot.running = undefined;
      this.#queue.recordMs(monotonicMs() - startMs);
      this.#replaceIfLarge(slot);
      this.#serveQueue();
    }
  }

  /**
   * A child seldom releases memory, which would be charged to its next request. So a child that grew
   * beyond half of its overhead is replaced by a new one.
   */
  #replaceIfLarge(slot: Slot): void {
    const most = this.#options.memoryBytes + CHILD_OVERHEAD_BYTES / 2;
    if (slot.child === undefined || slot.bytes <= most) return;
    if (slot.isRemote) return void slot.child.kill();
    const { child } = slot;
    slot.child = undefined;
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  }

  async #take(question: PoolRequest): Promise<Slot> {
    if (this.#isClosed) throw stoppingFailure();
    // A slot that is free now was already offered to the waiting requests, which cannot use it.
    return this.#reserved(question) ?? this.#queue.wait(question);
  }

  #reserved(question: PoolRequest): Slot | undefined {
    const free = this.#slots.findFree(question);
    return free === undefined ? undefined : reserveSlot(free, question);
  }

  #serveQueue(): void {
    const slotFor = (question: PoolRequest): Slot | undefined => this.#reserved(question);
    while (this.#queue.assign(slotFor, this.#slots.remoteCount === 0));
  }

  #run(slot: Slot, question: PoolRequest, answer: AnswerKind): Promise<Answer> {
    const id = (requestCount += 1);
    const scope = this.#scope(slot, question);
    // The pool was closed in the meantime: the process may belong to another pool by now.
    if (this.#isClosed) throw stoppingFailure();
    const child = slot.isRemote ? slot.child : (slot.child ??= this.#start(slot));
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

  /** Starts the deadline and listens to the caller's signal. @returns a function that removes both */
  #watch(slot: Slot, question: PoolRequest): () => void {
    const stop = (detail: string): void => this.#stop(slot, new Failure('TimedOut', detail));
    const late = `the ${question.deadlineMs} ms time limit was reached`;
    const begin = (): NodeJS.Timeout => setTimeout(stop, question.deadlineMs, late);
    let timer: NodeJS.Timeout;
    if (isStarted(slot)) timer = begin();
    else {
      // The start of a process does not count as a caller's time.
      const unstarted = new Failure(
        'Busy',
        'the query process takes too long to start',
        START_TIMEOUT_MS,
      );
      timer = setTimeout(() => this.#stop(slot, unstarted), START_TIMEOUT_MS);
      if (slot.running !== undefined) {
        slot.running.onStarted = () => {
          clearTimeout(timer);
          timer = begin();
        };
      }
    }
    const leave = (): void => this.#stop(slot, callerGone());
    const silenceTimer = slot.isRemote ? this.#watchSilence(slot) : undefined;
    question.signal?.addEventListener('abort', leave, { once: true });
    if (question.signal?.aborted === true) leave();
    return () => {
      clearTimeout(timer);
      clearInterval(silenceTimer);
      question.signal?.removeEventListener('abort', leave);
    };
  }

  /** Kills the connection to a remote process that is silent for too long. */
  #watchSilence(slot: Extract<Slot, { readonly isRemote: true }>): NodeJS.Timeout {
    slot.lastMessageMs = monotonicMs();
    const { silentMs = SILENCE_MAX_MS } = this.#options;
    const check = (): void => {
      if (monotonicMs() - slot.lastMessageMs > silentMs) slot.child.kill();
    };
    return setInterval(check, silentMs / 5);
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

  #scope(slot: Slot, question: PoolRequest): Scope {
    const { byFolder, shared, spill } = this.#options;
    const threads = Math.min(question.threads ?? Infinity, this.#options.threads);
    const sharing = shared === true ? Math.max(1, this.load().running) : 1;
    const most = question.limits?.memoryBytes ?? Infinity;
    const memoryBytes = Math.min(most, Math.floor(this.#options.memoryBytes / sharing));
    const { files, skips } = question;
    const scope = { files, memoryBytes, threads, ...(skips === undefined ? {} : { skips }) };
    if (spill !== undefined) {
      const spillBytes = Math.min(question.limits?.spillBytes ?? Infinity, spill.bytes);
      return { ...scope, folder: spillFolder(spill.folder, slot.place), spillBytes, isKept: true };
    }
    const { below = [], folder, shared: workspace } = question;
    if (folder !== undefined) {
      const more = workspace === undefined ? {} : { shared: workspace };
      return { ...scope, ...more, folder, ...(below.length === 0 ? {} : { folders: below }) };
    }
    return byFolder === true ? { ...scope, folders: parentFolders(question.files) } : scope;
  }

  /** @throws Failure Busy if no process can be started; the slot is unchanged. */
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
    child.on('message', (message: FromChild) => this.#receive(slot, message));
    child.once('exit', (code, signal) => {
      if (slot.child === child) slot.child = undefined;
      if (!this.#isClosed) this.#lost += 1;
      const how = signal ?? `code ${code}`;
      const lost = new Failure('ChildLost', `the query process ended (${how}); try again`);
      slot.running?.failed(slot.running.stopped ?? lost);
    });
    return child;
  }

  /** Deletes the incomplete body of a failed request. */
  #dropBody(slot: Slot, { file }: PoolRequest): void {
    const { spill } = this.#options;
    if (spill === undefined || file === undefined) return;
    rmSync(join(spillFolder(spill.folder, slot.place), file.name), { force: true });
  }

  #receive(slot: Slot, message: FromChild): void {
    const { running } = slot;
    if (slot.isRemote) slot.lastMessageMs = monotonicMs();
    if (message.kind === 'started') {
      if (!slot.isRemote && slot.child !== undefined) markStarted(slot.child);
      this.#isWarming = false;
      return running?.onStarted?.();
    }
    if (message.kind === 'memory') return this.#checkMemory(slot, message.bytes);
    if (slot.isRemote && message.kind === 'answer') this.#remoteAnswers += 1;
    if (running === undefined || message.id !== running.id) return;
    if (message.kind === 'progress') running.question.onProgress?.(message.percent);
    else if (running.stopped !== undefined) running.failed(running.stopped);
    else if (message.kind === 'answer') running.answered(message.answer);
    // The cause may be the remote machine: the request is repeated on this one.
    else if (slot.isRemote && message.type === 'SystemError') running.failed(new RemoteLost());
    else running.failed(new Failure(message.type, message.detail));
  }

  #checkMemory(slot: Slot, bytes: number): void {
    slot.bytes = bytes;
    if (slot.running === undefined) return;
    const most = slot.running.memoryBytes + CHILD_OVERHEAD_BYTES;
    if (bytes <= most) return;
    slot.running.stopped ??= new OverMemory(most);
    slot.child?.kill('SIGKILL');
  }
}

const parentFolders = (files: readonly string[]): readonly string[] =>
  [...new Set(files.map((path) => dirname(path)))].sort();

const stoppingFailure = (): Failure => new Failure('Busy', SERVER_STOPPING);
