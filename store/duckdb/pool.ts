// DuckDB children: so many processes, one request each, a bounded queue before them. A request
// that outlives its deadline or its memory is interrupted, then its child is killed: a killed
// child costs one request, never the server (STACK.md 1.3, 1.4).
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import type { Content } from '../contents.ts';
import { Failure } from '../failure.ts';
import type {
  Answer,
  Body,
  BodyFile,
  BodyFormat,
  Bound,
  FromChild,
  Page,
  Request,
  Row,
  Scope,
  ToChild,
} from './protocol.ts';

interface PoolOptions {
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
}

interface Question {
  readonly files: readonly string[];
  readonly folder?: string;
  /** Run in order on one connection; `parameters` are bound to the last. */
  readonly statements: readonly string[];
  readonly parameters?: readonly Bound[];
  readonly deadlineMs: number;
  /** Of DuckDB and of the disk, when less than the pool's own. */
  readonly limits?: { readonly memoryBytes: number; readonly spillBytes: number };
  /** The caller went away: the statement is interrupted. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (percent: number) => void;
  /** The body is to be a file of the pool's spill, or of `folder`: its caller removes it. */
  readonly file?: BodyFile;
}

/** Requests that may wait for a child; one more is refused with 503, so that memory is bounded. */
const WAITING_MAX = 1_000;
/** After an interrupt a healthy child answers within milliseconds (STACK.md 1.2: 2 ms). */
const INTERRUPT_GRACE_MS = 1_000;
/**
 * DuckDB's buffers are under its own limit; Node, rendering and what DuckDB takes besides fit in
 * this: a sort of 5 M rows has about 400 MB resident beyond a limit of 384 or 768 MB.
 */
const CHILD_OVERHEAD_BYTES = 512 * 1024 ** 2;

type Wanted = Request['answer'];

interface Running {
  readonly id: number;
  readonly memoryBytes: number;
  readonly question: Question;
  readonly answered: (answer: Answer) => void;
  readonly failed: (failure: Failure) => void;
  /** Why it was interrupted, once it was. */
  stopped: Failure | undefined;
}

interface Slot {
  readonly place: number;
  child: ChildProcess | undefined;
  /** Resident bytes that the child told last. */
  bytes: number;
  running: Running | undefined;
}

export class DuckDbPool {
  readonly #options: PoolOptions;
  readonly #slots: readonly Slot[];
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #nextId = 1;
  #closed = false;
  #lost = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    const slots = Array.from({ length: options.children }, (_, place) => place);
    const empty = { child: undefined, bytes: 0, running: undefined };
    this.#slots = slots.map((place) => ({ place, ...empty }));
  }

  /** How busy the pool is, for the metrics. */
  load(): { readonly running: number; readonly waiting: number; readonly lost: number } {
    const running = this.#slots.filter((slot) => slot.running !== undefined).length;
    return { running, waiting: this.#waiting.length, lost: this.#lost };
  }

  /** Starts the children ahead of the first request. */
  warm(): void {
    for (const slot of this.#slots) slot.child ??= this.#start(slot);
  }

  /**
   * Answers the rows of each statement: for small results, since these rows cross the process.
   * @throws Failure TimedOut, ChildLost, Busy; SystemError with DuckDB's sentence.
   */
  async rows(question: Question): Promise<readonly (readonly Row[])[]> {
    const answer = await this.#ask(question, 'rows');
    return answer.kind === 'rows' ? answer.rows : [];
  }

  /** Answers the last statement's rendered bytes and its count of rows. */
  async body(question: Question, format: BodyFormat): Promise<Body> {
    const answer = await this.#ask(question, format);
    return answer.kind === 'body' ? answer.body : { objects: 0, bytes: new Uint8Array() };
  }

  /** Answers the last statement's records as JSON, its first column as the number that orders them. */
  async page(question: Question): Promise<Page> {
    const answer = await this.#ask(question, 'page');
    if (answer.kind === 'page') return answer.page;
    return { bytes: new Uint8Array(), ends: new Uint32Array(), dates: new Float64Array() };
  }

  /** Answers the columns of the last statement, `name` and `type` of each. */
  async columns(question: Question): Promise<readonly Row[]> {
    const answer = await this.#ask(question, 'columns');
    return answer.kind === 'rows' ? (answer.rows[0] ?? []) : [];
  }

  /** Answers length and SHA-256 of each file: a hash of many bytes would keep the event loop. */
  async contents(files: readonly string[], deadlineMs: number): Promise<readonly Content[]> {
    const answer = await this.#ask({ files, statements: [], deadlineMs }, 'contents');
    const rows = answer.kind === 'rows' ? (answer.rows[0] ?? []) : [];
    return rows.map((row) => ({ bytes: Number(row['bytes']), sha256: String(row['sha256']) }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const children = this.#slots.flatMap((slot) => (slot.child ? [slot.child] : []));
    const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
  }

  async #ask(question: Question, answer: Wanted): Promise<Answer> {
    const slot = await this.#take(question);
    try {
      return await this.#run(slot, question, answer);
    } catch (error) {
      this.#dropBody(slot, question);
      throw error;
    } finally {
      slot.running = undefined;
      this.#refresh(slot);
      this.#waiting.shift()?.(slot);
    }
  }

  /**
   * Memory that a child was given it seldom gives back: after a large request the next one would
   * be weighed with it. So a child that grew beyond half of its overhead gives way to a new one.
   */
  #refresh(slot: Slot): void {
    const { child } = slot;
    const most = this.#options.memoryBytes + CHILD_OVERHEAD_BYTES / 2;
    if (child === undefined || slot.bytes <= most) return;
    slot.child = undefined;
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  }

  async #take(question: Question): Promise<Slot> {
    if (this.#closed) throw new Failure('Busy', 'the server is stopping');
    const free = this.#slots.find((slot) => slot.running === undefined);
    if (free !== undefined && this.#waiting.length === 0) return reserve(free, question);
    if (this.#waiting.length >= WAITING_MAX) {
      throw new Failure('Busy', `${WAITING_MAX} requests are waiting already: try again later`);
    }
    return new Promise((resolve) => {
      this.#waiting.push((slot) => resolve(reserve(slot, question)));
    });
  }

  #run(slot: Slot, question: Question, answer: Wanted): Promise<Answer> {
    const id = this.#nextId++;
    const scope = this.#scope(slot, question);
    const child = slot.child ?? this.#start(slot);
    slot.child = child;
    return new Promise<Answer>((answered, failed) => {
      const { memoryBytes } = scope;
      const running: Running = { id, memoryBytes, question, answered, failed, stopped: undefined };
      slot.running = running;
      const parameters = question.parameters ?? [];
      const progress = question.onProgress !== undefined;
      const { statements } = question;
      const request = { id, scope, statements, parameters, answer, progress };
      const { file } = question;
      const whole = file === undefined ? request : { ...request, file };
      send(child, { kind: 'request', request: whole });
    }).finally(this.#watch(slot, question));
  }

  /** Sets the deadline and the caller's signal; the returned function lifts both. */
  #watch(slot: Slot, question: Question): () => void {
    const stop = (detail: string): void => this.#stop(slot, new Failure('TimedOut', detail));
    const late = `the ${question.deadlineMs} ms time limit was reached`;
    const timer = setTimeout(stop, question.deadlineMs, late);
    const gone = (): void => stop('the caller went away');
    question.signal?.addEventListener('abort', gone, { once: true });
    if (question.signal?.aborted === true) gone();
    return () => {
      clearTimeout(timer);
      question.signal?.removeEventListener('abort', gone);
    };
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
    const { byFolder, shared, spill, threads } = this.#options;
    const sharing = shared === true ? Math.max(1, this.load().running) : 1;
    const most = question.limits?.memoryBytes ?? Infinity;
    const memoryBytes = Math.min(most, Math.floor(this.#options.memoryBytes / sharing));
    const scope = { files: question.files, memoryBytes, threads };
    if (spill !== undefined) {
      const spillBytes = Math.min(question.limits?.spillBytes ?? Infinity, spill.bytes);
      return { ...scope, folder: spillFolder(spill.folder, slot), spillBytes, kept: true };
    }
    if (question.folder !== undefined) return { ...scope, folder: question.folder };
    return byFolder === true ? { ...scope, folders: foldersOf(question.files) } : scope;
  }

  #start(slot: Slot): ChildProcess {
    // No environment: a child knows no setting and no secret.
    slot.bytes = 0;
    this.#clearSpill(slot);
    const child = fork(new URL('./child.ts', import.meta.url), [], {
      serialization: 'advanced',
      execArgv: [],
      env: { UV_THREADPOOL_SIZE: '4' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    // At once: the threads that it starts inherit it, those that run already would not change.
    if (child.pid !== undefined) setPriority(child.pid, this.#options.niceness ?? 0);
    child.on('message', (message: FromChild) => this.#hear(slot, message));
    child.on('error', () => undefined);
    child.once('exit', (code, signal) => {
      if (slot.child === child) slot.child = undefined;
      if (!this.#closed) this.#lost += 1;
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
    rmSync(join(spillFolder(spill.folder, slot), file.name), { force: true });
  }

  /** What a killed child had spilled is nobody's. */
  #clearSpill(slot: Slot): void {
    const { spill } = this.#options;
    if (spill === undefined) return;
    const folder = spillFolder(spill.folder, slot);
    mkdirSync(folder, { recursive: true });
    // Bodies are on their way to somebody yet.
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(BODY_PREFIX))
        rmSync(join(folder, name), { recursive: true, force: true });
    }
  }

  #hear(slot: Slot, message: FromChild): void {
    const { running } = slot;
    if (message.kind === 'memory') return this.#weigh(slot, message.bytes);
    if (running === undefined || message.id !== running.id) return;
    if (message.kind === 'progress') running.question.onProgress?.(message.percent);
    else if (running.stopped !== undefined) running.failed(running.stopped);
    else if (message.kind === 'answer') running.answered(message.answer);
    else running.failed(new Failure(message.type, message.detail));
  }

  #weigh(slot: Slot, bytes: number): void {
    slot.bytes = bytes;
    if (slot.running === undefined) return;
    const most = slot.running.memoryBytes + CHILD_OVERHEAD_BYTES;
    if (bytes <= most) return;
    slot.running.stopped ??= new Failure('TooLarge', `the ${most} byte memory limit was reached`);
    slot.child?.kill('SIGKILL');
  }
}

/** Names of files that hold bodies begin with it. */
export const BODY_PREFIX = 'body-';

const foldersOf = (files: readonly string[]): readonly string[] =>
  [...new Set(files.map((path) => dirname(path)))].sort();

const spillFolder = (folder: string, { place }: Slot): string => join(folder, `sql-${place}`);

/** Marks a slot as taken before its request exists, so that no one else takes it. */
function reserve(slot: Slot, question: Question): Slot {
  const ignore = (): void => undefined;
  const nothing = { id: 0, memoryBytes: Number.MAX_SAFE_INTEGER, stopped: undefined };
  slot.running = { ...nothing, question, answered: ignore, failed: ignore };
  return slot;
}

const send = (child: ChildProcess, message: ToChild): void => {
  // A failed send shows as the child's exit, which fails the request.
  child.send(message, () => undefined);
};
