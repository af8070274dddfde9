// Runs the catalog's connection on a separate thread. Statements are sent there in order, and the event loop
// never waits for a disk. An acknowledged commit is still synced.
import { Worker } from 'node:worker_threads';
import { Failure } from '../base/failure.ts';
import type { BatchStatement, StatementResult } from '../catalog/statements.ts';
import type { WriterRequest, WriterReply } from './writerThread.ts';

/** Provides threads, and takes them back once they serve no catalog. */
export interface ThreadPool {
  take(): Worker;
  release(thread: Worker): Promise<unknown>;
}

/** Starts one thread for each catalog. */
export const dedicatedThreads: ThreadPool = {
  take: () => {
    // Threads don't inherit the flags of the process: `node --input-type` accepts no file.
    const execArgv = process.execArgv.filter((flag) => flag.startsWith('--disable-warning'));
    return new Worker(new URL('./writerThread.ts', import.meta.url), { execArgv });
  },
  release: (thread) => thread.terminate(),
};

/** Starts the first thread immediately, in parallel to loading, before a catalog is opened. */
export function prestartedThreads(): ThreadPool {
  let started: Worker | undefined = dedicatedThreads.take();
  started.unref();
  const take = (): Worker => {
    const thread = started ?? dedicatedThreads.take();
    started = undefined;
    return thread;
  };
  return { ...dedicatedThreads, take };
}

interface PendingCall {
  readonly resolve: (ran: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

export class Writer {
  readonly #threads: ThreadPool;
  readonly #thread: Worker;
  /** Pending calls in order; answers arrive in the same order. */
  readonly #pending: PendingCall[] = [];
  #isClosing = false;

  private constructor(threads: ThreadPool) {
    this.#threads = threads;
    this.#thread = threads.take();
    this.#thread.on('message', this.#onAnswer);
    // The stored state is unknown: the process ends, and its next start reads it.
    this.#thread.on('error', rethrow);
    this.#thread.on('exit', this.#onExit);
    this.#thread.unref();
  }

  /** @throws the error of opening on the thread */
  static async open(path: string, threads = dedicatedThreads): Promise<Writer> {
    const writer = new Writer(threads);
    try {
      await writer.#request({ open: path });
    } catch (error) {
      await writer.#detach();
      throw error;
    }
    return writer;
  }

  run(pieces: readonly BatchStatement[]): Promise<StatementResult> {
    return this.#request(pieces);
  }

  /** Closes the catalog; later calls are refused. */
  async close(): Promise<void> {
    const closed = this.#request('close');
    this.#isClosing = true;
    await closed;
    await this.#detach();
  }

  async #detach(): Promise<void> {
    this.#isClosing = true;
    this.#thread.off('message', this.#onAnswer);
    this.#thread.off('error', rethrow);
    this.#thread.off('exit', this.#onExit);
    await this.#threads.release(this.#thread);
  }

  #request(request: WriterRequest): Promise<StatementResult> {
    if (this.#isClosing) return Promise.reject(new Error('the catalog is closed'));
    // A thread with pending calls keeps the process alive.
    if (this.#pending.length === 0) this.#thread.ref();
    return new Promise<StatementResult>((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#thread.postMessage(request);
    });
  }

  readonly #onAnswer = (reply: WriterReply): void => {
    const next = this.#pending.shift();
    if (this.#pending.length === 0) this.#thread.unref();
    if ('ran' in reply) next?.resolve(reply.ran);
    else next?.reject(toError(reply.failed));
  };

  readonly #onExit = (code: number): void => {
    if (!this.#isClosing) throw new Error(`the thread of the catalog ended with ${code}`);
  };
}

const rethrow = (error: unknown): never => {
  throw error;
};

/** Restores an error that was thrown on the thread. */
function toError({
  failure,
  message,
  members,
}: Extract<WriterReply, { failed: unknown }>['failed']): Error {
  if (failure !== undefined) return new Failure(failure, message);
  return Object.assign(new Error(message), members);
}
