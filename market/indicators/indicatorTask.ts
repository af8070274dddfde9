// Computes an indicator in a worker thread: a window of 500 bars over 5,000 takes up to 180 ms.
import type { WorkerTask } from '../../workers/workerTask.ts';
import { indicatorOf } from './indicators.ts';

export interface IndicatorInput {
  readonly name: string;
  /** The bars' values of each input, oldest first. */
  readonly columns: readonly (readonly number[])[];
  readonly options: readonly number[];
}

/** A series for each output, as long as the columns; NaN where there is no value. */
type IndicatorOutput = readonly (readonly number[])[];

export const INDICATOR_TASK: WorkerTask<IndicatorInput, IndicatorOutput> = {
  file: new URL('./indicatorTask.ts', import.meta.url),
  name: 'indicator',
  deadlineMs: 10_000,
  waitingMax: { account: 64, all: 256 },
  isLong: false,
};

export function run({ columns, name, options }: IndicatorInput): IndicatorOutput {
  const indicator = indicatorOf(name);
  if (indicator === undefined) throw new Error(`there is no indicator ${name}`);
  return indicator.compute(columns, options);
}
