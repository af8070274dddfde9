// The records of one input as a file, made by a worker: 2.7 million minutes take it seconds.
import { Worker } from 'node:worker_threads';
import type { Wanted } from '../../market/exchange/drawn.ts';

export interface ExchangeTask {
  readonly path: string;
  readonly wanted: Wanted;
}

export interface ExchangeAnswer {
  readonly records: number;
  readonly bytes: number;
}

/** @throws what the worker threw, or the signal's reason. */
export async function writeRecords(
  task: ExchangeTask,
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./exchangeWorker.ts', import.meta.url), { workerData: task });
  try {
    return await new Promise<ExchangeAnswer>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', (code) => reject(new Error(`the exchange's worker ended with ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}
