// Writes the records of inputs to files, in a worker: 2.7 million minutes take it seconds. One worker serves
// all inputs of a fill, one after the other: starting it takes longer than most of them.
import { Worker } from 'node:worker_threads';
import type { RecordRequest } from '../../market/exchange/sampledMarket.ts';

export interface ExchangeTask {
  readonly path: string;
  readonly request: RecordRequest;
}

export interface ExchangeAnswer {
  readonly records: number;
  readonly bytes: number;
}

/** Writer of one fill: its worker ends with it. */
export interface ExchangeWriter extends AsyncDisposable {
  /** One call at a time. @throws what the worker threw, or the signal's reason. */
  readonly write: (task: ExchangeTask, signal: AbortSignal) => Promise<ExchangeAnswer>;
}

export function createExchangeWriter(): ExchangeWriter {
  let worker: Worker | undefined;
  const end = async (): Promise<void> => {
    await worker?.terminate();
    worker = undefined;
  };
  return {
    write: async (task, signal) => {
      signal.throwIfAborted();
      worker ??= new Worker(new URL('./exchangeWorker.ts', import.meta.url));
      try {
        return await waitForAnswer(worker, task, signal);
      } catch (error) {
        await end();
        throw error;
      }
    },
    [Symbol.asyncDispose]: end,
  };
}

const WORKER_EVENTS = ['message', 'error', 'exit'] as const;

async function waitForAnswer(
  worker: Worker,
  task: ExchangeTask,
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  const over = new AbortController();
  try {
    return await new Promise<ExchangeAnswer>((resolve, reject) => {
      const once = { once: true, signal: over.signal };
      signal.addEventListener('abort', () => reject(signal.reason), once);
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the exchange's worker ended with ${code}`)));
      worker.postMessage(task);
    });
  } finally {
    over.abort();
    for (const event of WORKER_EVENTS) worker.removeAllListeners(event);
  }
}
