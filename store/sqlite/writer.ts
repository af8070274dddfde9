// The thread that owns the catalog's connection: statements go there in their order, and the event loop
// never waits for a disk. An answer of a commit still means that it is synced.
import { Worker } from 'node:worker_threads';
import { Failure } from '../base/failure.ts';
import type { Piece, Ran } from '../catalog/statements.ts';
import type { Asked, Told } from './writerThread.ts';

/** Where threads come from, and go to once they serve no catalog. */
export interface Threads {
  take(): Worker;
  done(thread: Worker): Promise<unknown>;
}

/** One for each catalog. */
export const ownThreads: Threads = {
  take: () => {
    // What a process runs is not what its threads run: `node --input-type` takes no file.
    const execArgv = process.execArgv.filter((flag) => flag.startsWith('--disable-warning'));
    return new Worker(new URL('./writerThread.ts', import.meta.url), { execArgv });
  },
  done: (thread) => thread.terminate(),
};

/** The first of them starts at once, beside whatever is loaded until a catalog is opened. */
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

interface Waiting {
  readonly resolve: (ran: Ran) => void;
  readonly reject: (error: unknown) => void;
}

export class Writer {
  readonly #threads: Threads;
  readonly #thread: Worker;
  /** In the order of asking, which is that of the answers. */
  readonly #waiting: Waiting[] = [];
  #isClosing = false;

  private constructor(threads: Threads) {
    this.#threads = threads;
    this.#thread = threads.take();
    this.#thread.on('message', this.#answer);
    // Nobody can say any more what is stored: the process ends, and its next start looks.
    this.#thread.on('error', thrown);
    this.#thread.on('exit', this.#onExit);
    this.#thread.unref();
  }

  /** @throws what opening throws there */
  static async open(path: string, threads = ownThreads): Promise<Writer> {
    const writer = new Writer(threads);
    try {
      await writer.#ask({ open: path });
    } catch (error) {
      await writer.#leave();
      throw error;
    }
    return writer;
  }

  run(pieces: readonly Piece[]): Promise<Ran> {
    return this.#ask(pieces);
  }

  /** What is asked from now on is refused. */
  async close(): Promise<void> {
    const closed = this.#ask('close');
    this.#isClosing = true;
    await closed;
    await this.#leave();
  }

  async #leave(): Promise<void> {
    this.#isClosing = true;
    this.#thread.off('message', this.#answer);
    this.#thread.off('error', thrown);
    this.#thread.off('exit', this.#onExit);
    await this.#threads.done(this.#thread);
  }

  #ask(asked: Asked): Promise<Ran> {
    if (this.#isClosing) return Promise.reject(new Error('the catalog is closed'));
    // A thread that works for somebody keeps the process.
    if (this.#waiting.length === 0) this.#thread.ref();
    return new Promise<Ran>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#thread.postMessage(asked);
    });
  }

  readonly #answer = (told: Told): void => {
    const next = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#thread.unref();
    if ('ran' in told) next?.resolve(told.ran);
    else next?.reject(errorOf(told.failed));
  };

  readonly #onExit = (code: number): void => {
    if (!this.#isClosing) throw new Error(`the thread of the catalog ended with ${code}`);
  };
}

const thrown = (error: unknown): never => {
  throw error;
};

/** What was thrown on the thread, as it would have been here. */
function errorOf({
  failure,
  message,
  members,
}: Extract<Told, { failed: unknown }>['failed']): Error {
  if (failure !== undefined) return new Failure(failure, message);
  return Object.assign(new Error(message), members);
}
