// How many calls a second a cluster carries, and what is full first.
import type { Network } from './network.ts';
import { type Ran, run } from './run.ts';

export interface Saturation {
  readonly callsPerSecond: number;
  /** The station whose work is then as much as it can do. */
  readonly first: string;
  /** The next one, and the share of what it can do that it has to do then. */
  readonly second: string;
}

type NetworkAt = (callsPerSecond: number) => Network;

/** Few calls find about where it is, more of them where. */
const STEPS = [20_000, 40_000, 100_000] as const;
const LOW_RATE = 1_000;
const SEED = 20_261_125;

/** Runs it for so many calls, a fifth of them uncounted. */
export function runCalls(network: Network, calls: number): Ran {
  const untilMs = (calls * 1_000) / network.callsPerSecond;
  return run(network, { seed: SEED, warmUpMs: untilMs / 5, untilMs });
}

/**
 * Of a part of the work there is as much whatever is asked, such as windows of the ledger; the rest grows
 * with the calls. So from two rates, of which one is low, it is known where a station is full, but for
 * windows and leases, which fill: what is left over is found by steps.
 */
export function saturationOf(networkAt: NetworkAt): Saturation {
  const loadsAt = (rate: number, calls: number): ReadonlyMap<string, number> => {
    const network = networkAt(rate);
    return fullest(network, runCalls(network, calls).load);
  };
  const low = loadsAt(LOW_RATE, STEPS[0]);
  let rate = 2 * LOW_RATE;
  let found: Saturation = { callsPerSecond: rate, first: '', second: '' };
  for (const calls of STEPS) {
    const loads = loadsAt(rate, calls);
    const full = [...loads].map(([name, load]) => {
      const grows = (load - (low.get(name) ?? 0)) / (rate - LOW_RATE);
      const at = grows > 0 ? rate + (1 - load) / grows : Number.POSITIVE_INFINITY;
      return { name, grows, at, load };
    });
    const [first, second] = full.toSorted((a, b) => a.at - b.at);
    if (first === undefined || second === undefined) throw new Error('there are no stations');
    const share = second.load + second.grows * (first.at - rate);
    rate = first.at;
    const percent = `${second.name} ${Math.round(share * 100)} %`;
    found = { callsPerSecond: rate, first: first.name, second: percent };
  }
  return found;
}

/** The fullest station of each name. */
function fullest({ stations }: Network, loads: readonly number[]): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const [at, { name }] of stations.entries()) {
    named.set(name, Math.max(named.get(name) ?? 0, loads[at] ?? 0));
  }
  return named;
}
