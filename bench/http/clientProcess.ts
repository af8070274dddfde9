// Parent's side of the client process: drives one side of a bench and reports the processor time with the
// result.
import { median, p99, type Taken } from '../base/measure.ts';
import { answerOf, ended, forked } from './childAsked.ts';
import { cpuMsOf } from './cpuTime.ts';
import type { Order, Told } from './order.ts';

/** Port of a side and its server processes. */
export interface Side {
  readonly port: number;
  readonly pids: readonly number[];
}

/** Requests to send to a side. */
type Asked = Omit<Order, 'port'>;

export interface Driven extends Told {
  /** Processor time of the side's processes. */
  readonly serverCpuMs: number;
}

export interface Client extends AsyncDisposable {
  /** @throws Error with the first response whose status is not 2xx */
  drive(side: Side, asked: Asked): Promise<Driven>;
  /** Like drive, but only counts such responses. */
  tryAll(side: Side, asked: Asked): Promise<Driven>;
}

export function openClient(): Client {
  const child = forked('./client.ts');
  const tryAll: Client['tryAll'] = async ({ pids, port }, asked) => {
    const before = await cpuMsOf(pids);
    const told = await answerOf<Told>(child, { ...asked, port });
    return { ...told, serverCpuMs: (await cpuMsOf(pids)) - before };
  };
  return {
    tryAll,
    drive: async (side, asked) => {
      const driven = await tryAll(side, asked);
      const { failure, failures, times } = driven;
      if (failures > 0) throw new Error(`${failures} requests failed, the first with ${failure}`);
      if (times.length === 0) throw new Error('no request was answered');
      return driven;
    },
    [Symbol.asyncDispose]: () => ended(child),
  };
}

/** Returns the processor times per answer. */
const cpuOfAnswer = ({
  cpuMs,
  serverCpuMs,
  times,
}: Driven): Pick<Taken, 'cpuMs' | 'clientCpuMs'> => ({
  cpuMs: serverCpuMs / times.length,
  clientCpuMs: cpuMs / times.length,
});

/** Measures a side by throughput: milliseconds per answer over all connections. */
export const byPace = (driven: Driven): Taken => {
  const { times, tookMs } = driven;
  return { ms: tookMs / times.length, times, ...cpuOfAnswer(driven) };
};

/** Measures a side by the median of its answers. */
export const byMedian = (driven: Driven): Taken => {
  const { times } = driven;
  return { ms: median(times), times, ...cpuOfAnswer(driven) };
};

/** Measures a side by its slowest answers. */
export const byP99 = (driven: Driven): Taken => ({
  ...byMedian(driven),
  ms: p99(driven.times),
});
