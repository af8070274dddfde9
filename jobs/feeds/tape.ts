// A session of the synthetic exchange, drawn by a worker.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Wanted } from '../../market/exchange/drawn.ts';
import type { Tick } from '../../market/live/tick.ts';

export class Tape {
  readonly #worker: Worker;
  #isEnded = false;

  constructor(wanted: Wanted) {
    this.#worker = new Worker(new URL('./tapeWorker.ts', import.meta.url), { workerData: wanted });
    this.#worker.once('exit', () => (this.#isEnded = true));
    this.#worker.unref();
  }

  /** Ticks before an instant that were not told yet. @throws what the worker threw */
  async until(ms: number): Promise<readonly Tick[]> {
    if (this.#isEnded) throw new Error('the worker of the exchange has ended');
    this.#worker.postMessage(ms);
    const exit = new AbortController();
    try {
      const [ticks] = (await Promise.race([
        once(this.#worker, 'message', exit),
        once(this.#worker, 'exit', exit).then(() => {
          throw new Error('the worker of the exchange ended');
        }),
      ])) as [readonly Tick[]];
      return ticks;
    } finally {
      exit.abort();
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
