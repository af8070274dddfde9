// The task that writes the records of an input of the synthetic exchange to a file.
import type { RecordRequest } from '../../market/exchange/sampledMarket.ts';
import type { WorkerTask } from '../../workers/workerTask.ts';

export interface ExchangeTask {
  readonly path: string;
  readonly request: RecordRequest;
}

export interface ExchangeAnswer {
  readonly records: number;
  readonly bytes: number;
}

export const EXCHANGE_TASK: WorkerTask<ExchangeTask, ExchangeAnswer> = {
  file: new URL('./exchangeTask.ts', import.meta.url),
  name: 'synthetic exchange',
  // Ten years of 500 symbols take 20 s on a busy machine.
  deadlineMs: 600_000,
  waitingMax: { account: 4, all: 4 },
  isLong: true,
};
