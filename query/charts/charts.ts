// Queues charts and draws them in one thread, which starts with the first chart and stops after being idle
// for a while.
import { Worker } from 'node:worker_threads';
import { Failure } from '../../store/base/failure.ts';
import { type Body, bodyLength } from '../../store/duckdb/protocol.ts';
import { FairQueue } from '../../store/queues/fairQueue.ts';
import type { Drawing, DrawingTask, DrawingOptions } from './drawing.ts';

/** Most bytes of records, as JSON, of one chart: parsed they need ten times that. */
export const RECORD_BYTES_MAX = 4 * 1024 ** 2;
/** Most waiting charts, of one account and of all. */
const WAITING_MAX = { account: 16, all: 64 };
/** Heap of the thread, in MiB. */
const HEAP_MIB = 192;
/** Half a million values take 1 s on a busy machine. */
const DEADLINE_MS = 10_000;
const IDLE_MS = 60_000;

/** The parameter that a refusal names. */
const PARAMETERS = { column: 'chartColumn', kind: 'chartKind', records: 'format' } as const;

interface Waiting {
  readonly task: DrawingTask;
  readonly resolve: (drawing: Drawing) => void;
  readonly reject: (error: unknown) => void;
}

export class Charts {
  readonly #queue = new FairQueue<Waiting>();
  readonly #deadlineMs: number;
  #thread: Worker | undefined;
  #current: Waiting | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deadlineMs = DEADLINE_MS) {
    this.#deadlineMs = deadlineMs;
  }

  /**
   * @throws Failure InvalidParameter, naming `format`, `chartColumn` or `chartKind`, for records that make no
   * such chart or are too many; Busy; TimedOut; the reason of `signal` if its caller disconnects early
   */
  async draw(
    account: string,
    wish: DrawingOptions,
    body: Body,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    if (this.#isClosed) throw new Failure('Busy', 'the server ends');
    if (bodyLength(body) > RECORD_BYTES_MAX) {
      const most = `at most ${RECORD_BYTES_MAX} bytes of records`;
      const rule = `${wish.format} draws ${most}: request fewer, or two of their attributes`;
      throw new Failure('InvalidParameter', `"format" ${rule}`);
    }
    if (this.#queue.sizeOf(account) >= WAITING_MAX.account || this.#queue.size >= WAITING_MAX.all) {
      throw new Failure('Busy', `The chart queue is full (${this.#queue.size}). Try again later.`);
    }
    const drawing = await this.#enqueue(
      account,
      { options: wish, records: recordsOf(body) },
      signal,
    );
    if (drawing.kind === 'picture') return drawing.bytes;
    throw new Failure('InvalidParameter', `"${PARAMETERS[drawing.about]}" ${drawing.rule}`);
  }

  #enqueue(account: string, task: DrawingTask, signal: AbortSignal): Promise<Drawing> {
    signal.throwIfAborted();
    return new Promise<Drawing>((resolve, reject) => {
      const leave = (): void => {
        if (this.#queue.remove((item) => item === waiting)) reject(signal.reason as Error);
      };
      const detaching = <T>(finish: (value: T) => void) => {
        return (value: T): void => {
          signal.removeEventListener('abort', leave);
          finish(value);
        };
      };
      const waiting: Waiting = { task, resolve: detaching(resolve), reject: detaching(reject) };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(account, waiting);
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#current = this.#queue.take(() => true);
    if (this.#current === undefined) {
      this.#timer = setTimeout(() => this.#stopThread(), IDLE_MS);
      this.#timer.unref();
      return;
    }
    const late = new Failure('TimedOut', 'the chart took too long to draw: request less');
    this.#timer = setTimeout(() => this.#fail(late), this.#deadlineMs);
    this.#thread ??= this.#startThread();
    // While it draws for a caller the thread keeps the process alive.
    this.#thread.ref();
    this.#thread.postMessage(this.#current.task);
  }

  #startThread(): Worker {
    const thread = new Worker(new URL('./chartWorker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    thread.on('message', (drawing: Drawing) => {
      if (thread !== this.#thread) return;
      thread.unref();
      const { resolve } = this.#current ?? {};
      this.#current = undefined;
      resolve?.(drawing);
      this.#next();
    });
    thread.on('error', (error) => {
      const { code } = error as { readonly code?: string };
      const isFull = code === 'ERR_WORKER_OUT_OF_MEMORY';
      const full = new Failure('TooLarge', 'the records of the chart need too much memory');
      this.#fail(isFull ? full : error, thread);
    });
    return thread;
  }

  /** Ends the current task without a chart, and the thread with it. */
  #fail(error: unknown, thread = this.#thread): void {
    if (thread !== this.#thread) return;
    const { reject } = this.#current ?? {};
    this.#current = undefined;
    this.#stopThread();
    reject?.(error);
    this.#next();
  }

  #stopThread(): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  /** Stops drawing and rejects the waiting tasks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const ended = new Failure('Busy', 'the server ends');
    this.#current?.reject(ended);
    for (let item = this.#queue.take(() => true); item !== undefined;) {
      item.reject(ended);
      item = this.#queue.take(() => true);
    }
    await this.#thread?.terminate();
  }
}

/** Copies the bytes: a slice of a cached page would be sent with the whole page. */
const recordsOf = ({ bytes, file }: Body): Uint8Array | string =>
  file === undefined ? bytes.slice() : file.path;
