// Parent's side of the client process: drives one side of a bench and reports the processor time with the
// result.
import { median, p99, type Measurement } from '../base/measure.ts';
import { requestChild, endChild, forkChild } from './childRequests.ts';
import { measureCpuMs } from './cpuTime.ts';
import type { Order, RunResult } from './order.ts';

/** Port of a side and its server processes. */
export interface Side {
  readonly port: number;
  readonly pids: readonly number[];
}

/** Requests to send to a side. */
type RequestPlan = Omit<Order, 'port'>;

export interface DriveResult extends RunResult {
  /** Processor time of the side's processes. */
  readonly serverCpuMs: number;
}

export interface Client extends AsyncDisposable {
  /** @throws Error with the first response whose status is not 2xx */
  drive(side: Side, plan: RequestPlan): Promise<DriveResult>;
  /** Like drive, but only counts such responses. */
  tryAll(side: Side, plan: RequestPlan): Promise<DriveResult>;
}

export function openClient(): Client {
  const child = forkChild('./client.ts');
  const tryAll: Client['tryAll'] = async ({ pids, port }, plan) => {
    const before = await measureCpuMs(pids);
    const result = await requestChild<RunResult>(child, { ...plan, port });
    return { ...result, serverCpuMs: (await measureCpuMs(pids)) - before };
  };
  return {
    tryAll,
    drive: async (side, plan) => {
      const driven = await tryAll(side, plan);
      const { failure, failures, times } = driven;
      if (failures > 0) throw new Error(`${failures} requests failed, the first with ${failure}`);
      if (times.length === 0) throw new Error('no request was answered');
      return driven;
    },
    [Symbol.asyncDispose]: () => endChild(child),
  };
}

/** Returns the processor times per answer. */
const cpuOfAnswer = ({
  cpuMs,
  serverCpuMs,
  times,
}: DriveResult): Pick<Measurement, 'cpuMs' | 'clientCpuMs'> => ({
  cpuMs: serverCpuMs / times.length,
  clientCpuMs: cpuMs / times.length,
});

/** Measures a side by throughput: milliseconds per answer over all connections. */
export const byPace = (driven: DriveResult): Measurement => {
  const { times, tookMs } = driven;
  return { ms: tookMs / times.length, times, ...cpuOfAnswer(driven) };
};

/** Measures a side by the median of its answers. */
export const byMedian = (driven: DriveResult): Measurement => {
  const { times } = driven;
  return { ms: median(times), times, ...cpuOfAnswer(driven) };
};

/** Measures a side by its slowest answers. */
export const byP99 = (driven: DriveResult): Measurement => ({
  ...byMedian(driven),
  ms: p99(driven.times),
});
