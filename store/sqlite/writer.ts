// The thread that owns the catalog's connection: statements go there in their order, and the event loop
// never waits for a disk. An answer of a commit still means that it is synced.
import { Worker } from 'node:worker_threads';
import { Failure } from '../base/failure.ts';
import type { Piece, Ran } from '../catalog/statements.ts';
import type { Told } from './writerThread.ts';

interface Waiting {
  readonly resolve: (ran: Ran) => void;
  readonly reject: (error: unknown) => void;
}

export class Writer {
  readonly #thread: Worker;
  /** In the order of asking, which is that of the answers. */
  readonly #waiting: Waiting[] = [];
  #isClosing = false;

  private constructor(thread: Worker) {
    this.#thread = thread;
    thread.on('message', (told: Told) => this.#answer(told));
    // Nobody can say any more what is stored: the process ends, and its next start looks.
    thread.on('error', (error) => {
      throw error;
    });
    thread.on('exit', (code) => {
      if (!this.#isClosing) throw new Error(`the thread of the catalog ended with ${code}`);
    });
    thread.unref();
  }

  /** @throws what opening throws there */
  static async open(path: string): Promise<Writer> {
    // What a process runs is not what its threads run: `node --input-type` takes no file.
    const execArgv = process.execArgv.filter((flag) => flag.startsWith('--disable-warning'));
    const script = new URL('./writerThread.ts', import.meta.url);
    const thread = new Worker(script, { workerData: path, execArgv });
    const writer = new Writer(thread);
    try {
      await writer.#ask(undefined);
    } catch (error) {
      writer.#isClosing = true;
      throw error;
    }
    return writer;
  }

  run(pieces: readonly Piece[]): Promise<Ran> {
    return this.#ask(pieces);
  }

  /** What is asked from now on is refused: the thread may end before it answers. */
  async close(): Promise<void> {
    const closed = this.#ask('close');
    this.#isClosing = true;
    await closed;
    await this.#thread.terminate();
  }

  /** @param asked undefined for what the thread tells by itself: that it opened the catalog */
  #ask(asked: readonly Piece[] | 'close' | undefined): Promise<Ran> {
    if (this.#isClosing) return Promise.reject(new Error('the catalog is closed'));
    // A thread that works for somebody keeps the process.
    if (this.#waiting.length === 0) this.#thread.ref();
    return new Promise<Ran>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (asked !== undefined) this.#thread.postMessage(asked);
    });
  }

  #answer(told: Told): void {
    const next = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#thread.unref();
    if ('ran' in told) next?.resolve(told.ran);
    else next?.reject(errorOf(told.failed));
  }
}

/** What was thrown on the thread, as it would have been here. */
function errorOf({
  failure,
  message,
  members,
}: Extract<Told, { failed: unknown }>['failed']): Error {
  if (failure !== undefined) return new Failure(failure, message);
  return Object.assign(new Error(message), members);
}
