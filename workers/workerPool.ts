// Runs tasks in worker threads: accounts take turns, each task has a deadline and ends with its caller.
import { availableParallelism } from 'node:os';
import type { TransferListItem } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { Failure } from '../store/base/failure.ts';
import { FairQueue } from '../store/queues/fairQueue.ts';
import { callerGone } from '../store/queues/timedQueue.ts';
import type { ThreadInput, ThreadOutput, WorkerTask } from './workerTask.ts';

/** Two at least: a long task leaves one thread free. */
const THREADS = Math.max(2, availableParallelism());
/** Heap of a thread. The records of a backtest, 64 MiB as JSON, take some 400 MiB. */
const HEAP_MIB = 640;
/** An idle thread ends after this time. */
const IDLE_MS = 60_000;

export interface WorkerCall<Input> {
  readonly account: string;
  readonly input: Input;
  /** Ends the task, waiting or running. */
  readonly signal: AbortSignal;
  /** Buffers of the input that are moved into the thread instead of copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

/** Executes tasks outside the event loop. */
export interface Workers {
  /**
   * @throws Failure Busy, TimedOut, TooLarge; what the task threw
   */
  run<Input, Output>(task: WorkerTask<Input, Output>, call: WorkerCall<Input>): Promise<Output>;
}

interface Waiting {
  readonly task: WorkerTask<unknown, unknown>;
  readonly call: WorkerCall<unknown>;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class WorkerPool implements Workers {
  readonly #queue = new FairQueue<Waiting>();
  readonly #threads: number;
  readonly #heapMib: number;
  readonly #ended = new AbortController();
  #piscina: Promise<Piscina> | undefined;
  #runningCount = 0;
  #longCount = 0;

  constructor(threads = THREADS, heapMib = HEAP_MIB) {
    this.#threads = threads;
    this.#heapMib = heapMib;
  }

  async run<Input, Output>(
    task: WorkerTask<Input, Output>,
    call: WorkerCall<Input>,
  ): Promise<Output> {
    const { account, signal } = call;
    this.#ended.signal.throwIfAborted();
    if (signal.aborted) throw callerGone();
    const { name, waitingMax } = task;
    const isSame = (item: Waiting): boolean => item.task.name === name;
    const [all, own] = [this.#queue.count(isSame), this.#queue.count(isSame, account)];
    if (own >= waitingMax.account || all >= waitingMax.all) {
      throw new Failure('Busy', `The ${name} queue is full (${all}). Try again later.`);
    }
    return (await this.#enqueue(task as WorkerTask<unknown, unknown>, call)) as Output;
  }

  #enqueue(task: WorkerTask<unknown, unknown>, call: WorkerCall<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal } = call;
      const leave = (): void => {
        if (this.#queue.remove((item) => item === waiting)) reject(callerGone());
      };
      const detach = <T>(finish: (value: T) => void) => {
        return (value: T): void => {
          signal.removeEventListener('abort', leave);
          finish(value);
        };
      };
      const waiting = { task, call, resolve: detach(resolve), reject: detach(reject) };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(call.account, waiting);
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#runningCount < this.#threads && !this.#ended.signal.aborted) {
      const hasRoomForLong = this.#longCount < Math.max(1, this.#threads - 1);
      const next = this.#queue.take(({ task }) => hasRoomForLong || !task.isLong);
      if (next === undefined) return;
      void this.#execute(next);
    }
  }

  async #execute({ call, reject, resolve, task }: Waiting): Promise<void> {
    this.#runningCount += 1;
    if (task.isLong) this.#longCount += 1;
    const late = AbortSignal.timeout(task.deadlineMs);
    const signal = AbortSignal.any([call.signal, late, this.#ended.signal]);
    try {
      const piscina = await (this.#piscina ??= openPiscina(this.#threads, this.#heapMib));
      const input: ThreadInput = { file: task.file.href, input: call.input };
      const transferList = [...(call.transfer ?? [])] as TransferListItem[];
      resolve(unwrap((await piscina.run(input, { signal, transferList })) as ThreadOutput));
    } catch (error) {
      if (call.signal.aborted) reject(callerGone());
      else if (this.#ended.signal.aborted) reject(this.#ended.signal.reason);
      else if (late.aborted) reject(new Failure('TimedOut', `the ${task.name} took too long`));
      else reject(toFailure(error, task));
    } finally {
      this.#runningCount -= 1;
      if (task.isLong) this.#longCount -= 1;
      this.#startNext();
    }
  }

  /** Rejects waiting and running tasks, and ends the threads. */
  async close(): Promise<void> {
    const ended = new Failure('Busy', 'the server ends');
    this.#ended.abort(ended);
    for (let item = this.#queue.take(() => true); item !== undefined;) {
      item.reject(ended);
      item = this.#queue.take(() => true);
    }
    await (await this.#piscina)?.destroy();
  }
}

function unwrap(answer: ThreadOutput): unknown {
  if ('output' in answer) return answer.output;
  const { detail, type, waitMs } = answer.failure;
  throw new Failure(type, detail, waitMs);
}

function toFailure(error: unknown, { name }: WorkerTask<unknown, unknown>): unknown {
  const { code } = error as { readonly code?: string };
  const isFull = code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isFull ? new Failure('TooLarge', `the ${name} needs too much memory`) : error;
}

async function openPiscina(maxThreads: number, heapMib: number): Promise<Piscina> {
  // Loaded with the first task: a start of the server needs no pool.
  const { Piscina } = await import('piscina');
  const piscina = new Piscina({
    filename: new URL('./thread.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: 0,
    maxThreads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: heapMib },
  });
  // A thread that ends rejects its task; an idle one fails no caller.
  piscina.on('error', () => undefined);
  return piscina;
}
