// The parent's side of the client process: it drives whichever side of a bench, and what that took of the
// processors is told with it.
import { median, p99, type Taken } from '../base/measure.ts';
import { answerOf, ended, forked } from './childAsked.ts';
import { cpuMsOf } from './cpuTime.ts';
import type { Order, Told } from './order.ts';

/** Where a side listens, and the processes that serve it. */
export interface Side {
  readonly port: number;
  readonly pids: readonly number[];
}

/** What is asked of a side. */
type Asked = Omit<Order, 'port'>;

export interface Driven extends Told {
  /** Processor time of the side's processes. */
  readonly serverCpuMs: number;
}

export interface Client extends AsyncDisposable {
  /** @throws Error with the first answer that had no status of 2xx */
  drive(side: Side, asked: Asked): Promise<Driven>;
  /** The same where such answers are only counted. */
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
      if (times.length === 0) throw new Error('nothing was answered');
      return driven;
    },
    [Symbol.asyncDispose]: () => ended(child),
  };
}

/** Processor times of one answer. */
const cpuOfAnswer = ({
  cpuMs,
  serverCpuMs,
  times,
}: Driven): Pick<Taken, 'cpuMs' | 'clientCpuMs'> => ({
  cpuMs: serverCpuMs / times.length,
  clientCpuMs: cpuMs / times.length,
});

/** A side of a pair where the answers a second count: milliseconds by answers, on all connections. */
export const byPace = (driven: Driven): Taken => {
  const { times, tookMs } = driven;
  return { ms: tookMs / times.length, times, ...cpuOfAnswer(driven) };
};

/** A side of a pair where the median of the answers counts. */
export const byMedian = (driven: Driven): Taken => {
  const { times } = driven;
  return { ms: median(times), times, ...cpuOfAnswer(driven) };
};

/** A side of a pair where the slowest of the answers count. */
export const byP99 = (driven: Driven): Taken => ({
  ...byMedian(driven),
  ms: p99(driven.times),
});
