// Runs the catalog's connection on a separate thread. Statements are sent there in order, and the event loop
// never waits for a disk. An acknowledged commit is still synced.
import { Worker } from 'node:worker_threads';
import { Failure } from '../base/failure.ts';
import type { Piece, Ran } from '../catalog/statements.ts';
import type { Asked, Told } from './writerThread.ts';

/** Provides threads, and takes them back once they serve no catalog. */
export interface Threads {
  take(): Worker;
  done(thread: Worker): Promise<unknown>;
}

/** Starts one thread for each catalog. */
export const ownThreads: Threads = {
  take: () => {
    // Threads don't inherit the flags of the process: `node --input-type` accepts no file.
    const execArgv = process.execArgv.filter((flag) => flag.startsWith('--disable-warning'));
    return new Worker(new URL('./writerThread.ts', import.meta.url), { execArgv });
  },
  done: (thread) => thread.terminate(),
};

/** Starts the first thread immediately, in parallel to loading, before a catalog is opened. */
export function startedThreads(): Threads {
  let started: Worker | undefined = ownThreads.take();
  started.unref();
  const take = (): Worker => {
    const thread = started ?? ownThreads.take();
    started = undefined;
    return thread;
  };
  return { ...ownThreads, take };
}

interface PendingCall {
  readonly resolve: (ran: Ran) => void;
  readonly reject: (error: unknown) => void;
}

export class Writer {
  readonly #threads: Threads;
  readonly #thread: Worker;
  /** Pending calls in order; answers arrive in the same order. */
  readonly #pending: PendingCall[] = [];
  #isClosing = false;

  private constructor(threads: Threads) {
    this.#threads = threads;
    this.#thread = threads.take();
    this.#thread.on('message', this.#onAnswer);
    // The stored state is unknown: the process ends, and its next start reads it.
    this.#thread.on('error', rethrow);
    this.#thread.on('exit', this.#onExit);
    this.#thread.unref();
  }

  /** @throws the error of opening on the thread */
  static async open(path: string, threads = ownThreads): Promise<Writer> {
    const writer = new Writer(threads);
    try {
      await writer.#request({ open: path });
    } catch (error) {
      await writer.#detach();
      throw error;
    }
    return writer;
  }

  run(pieces: readonly Piece[]): Promise<Ran> {
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
    await this.#threads.done(this.#thread);
  }

  #request(request: Asked): Promise<Ran> {
    if (this.#isClosing) return Promise.reject(new Error('the catalog is closed'));
    // A thread with pending calls keeps the process alive.
    if (this.#pending.length === 0) this.#thread.ref();
    return new Promise<Ran>((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#thread.postMessage(request);
    });
  }

  readonly #onAnswer = (reply: Told): void => {
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
}: Extract<Told, { failed: unknown }>['failed']): Error {
  if (failure !== undefined) return new Failure(failure, message);
  return Object.assign(new Error(message), members);
}
