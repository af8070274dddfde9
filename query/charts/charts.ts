// Who waits for a picture. Pictures are drawn by one thread, which starts with the first of them and ends
// when it had nothing to do for a while.
import { Worker } from 'node:worker_threads';
import { Failure } from '../../store/base/failure.ts';
import { type Body, lengthOf } from '../../store/duckdb/protocol.ts';
import { FairQueue } from '../../store/queues/fairQueue.ts';
import type { Drawing, DrawingTask, Wish } from './drawing.ts';

/** Bytes of records, as JSON, that a picture is made of at most: parsed they take ten times that. */
export const RECORD_BYTES_MAX = 4 * 1024 ** 2;
/** Pictures that wait at most, of one account and of all. */
const WAITING_MAX = { account: 16, all: 64 };
/** Of the thread, in MiB. */
const HEAP_MIB = 192;
/** Half a million values take 1 s on a busy machine. */
const DEADLINE_MS = 10_000;
const IDLE_MS = 60_000;

/** Which parameter says what is refused. */
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
  #now: Waiting | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deadlineMs = DEADLINE_MS) {
    this.#deadlineMs = deadlineMs;
  }

  /**
   * @throws Failure InvalidParameter, naming `format`, `chartColumn` or `chartKind`, for records that make no
   * such chart or are too many; Busy; TimedOut; what `signal` says when its caller goes away while it waits
   */
  async draw(account: string, wish: Wish, body: Body, signal: AbortSignal): Promise<Uint8Array> {
    if (this.#isClosed) throw new Failure('Busy', 'the server ends');
    if (lengthOf(body) > RECORD_BYTES_MAX) {
      const most = `at most ${RECORD_BYTES_MAX} bytes of records`;
      const rule = `${wish.format} draws ${most}: ask for fewer, or for two of their attributes`;
      throw new Failure('InvalidParameter', `"format" ${rule}`);
    }
    if (this.#queue.sizeOf(account) >= WAITING_MAX.account || this.#queue.size >= WAITING_MAX.all) {
      throw new Failure('Busy', `${this.#queue.size} pictures wait to be drawn: ask again later`);
    }
    const drawing = await this.#drawn(account, { wish, records: recordsOf(body) }, signal);
    if (drawing.kind === 'picture') return drawing.bytes;
    throw new Failure('InvalidParameter', `"${PARAMETERS[drawing.about]}" ${drawing.rule}`);
  }

  #drawn(account: string, task: DrawingTask, signal: AbortSignal): Promise<Drawing> {
    signal.throwIfAborted();
    return new Promise<Drawing>((resolve, reject) => {
      const leave = (): void => {
        if (this.#queue.remove((item) => item === waiting)) reject(signal.reason as Error);
      };
      const heard = <T>(tell: (value: T) => void) => {
        return (value: T): void => {
          signal.removeEventListener('abort', leave);
          tell(value);
        };
      };
      const waiting: Waiting = { task, resolve: heard(resolve), reject: heard(reject) };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(account, waiting);
      this.#next();
    });
  }

  #next(): void {
    if (this.#now !== undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#now = this.#queue.take(() => true);
    if (this.#now === undefined) {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS);
      this.#timer.unref();
      return;
    }
    const late = new Failure('TimedOut', 'the picture took too long to draw: ask for less');
    this.#timer = setTimeout(() => this.#lose(late), this.#deadlineMs);
    this.#thread ??= this.#started();
    // A thread that draws for somebody keeps the process.
    this.#thread.ref();
    this.#thread.postMessage(this.#now.task);
  }

  #started(): Worker {
    const thread = new Worker(new URL('./chartWorker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    thread.on('message', (drawing: Drawing) => {
      if (thread !== this.#thread) return;
      thread.unref();
      const { resolve } = this.#now ?? {};
      this.#now = undefined;
      resolve?.(drawing);
      this.#next();
    });
    thread.on('error', (error) => {
      const { code } = error as { readonly code?: string };
      const isFull = code === 'ERR_WORKER_OUT_OF_MEMORY';
      const full = new Failure('TooLarge', 'the records of the picture take too much memory');
      this.#lose(isFull ? full : error, thread);
    });
    return thread;
  }

  /** The task of now ends without a picture, and the thread with it. */
  #lose(error: unknown, thread = this.#thread): void {
    if (thread !== this.#thread) return;
    const { reject } = this.#now ?? {};
    this.#now = undefined;
    this.#end();
    reject?.(error);
    this.#next();
  }

  #end(): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  /** Nothing is drawn any more; what waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const ended = new Failure('Busy', 'the server ends');
    this.#now?.reject(ended);
    for (let item = this.#queue.take(() => true); item !== undefined;) {
      item.reject(ended);
      item = this.#queue.take(() => true);
    }
    await this.#thread?.terminate();
  }
}

/** Bytes of their own: a part of a page in memory would be sent with all of the page. */
const recordsOf = ({ bytes, file }: Body): Uint8Array | string =>
  file === undefined ? bytes.slice() : file.path;
