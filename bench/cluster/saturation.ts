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

/** From here on the rate is doubled until something is full, in runs of few calls; */
const LOW_RATE = 1_000;
const FEW_CALLS = 20_000;
/** then what is between is halved, to less than two percent, in longer ones where it is near. */
const HALVINGS = 6;
const CALLS = 100_000;
/**
 * A run of few calls is off by less: three times the standard deviation of DuckDB's load (6 %, of 40 seeds).
 * Only long ones took 19 instead of 16 s of processor time for 1, 4, 16 and 64 nodes.
 */
const NEAR = 0.18;
const SEED = 20_261_125;

/** Runs it for so many calls, a fifth of them uncounted. */
export function runCalls(network: Network, calls: number): Ran {
  const untilMs = (calls * 1_000) / network.callsPerSecond;
  return run(network, { seed: SEED, warmUpMs: untilMs / 5, untilMs });
}

/**
 * Work does not grow as calls do: of windows there are as many whatever is asked; the more is asked, the less
 * is handed on for want of quota; and the busier the serving node is, the longer a change takes, in which
 * more is handed on to it. So it is looked for, not computed.
 */
export function saturationOf(networkAt: NetworkAt): Saturation {
  const loadsAt = (rate: number, calls: number): Loads => {
    const network = networkAt(rate);
    const loads = fullest(network, runCalls(network, calls).load);
    return [...loads].toSorted(([, a], [, b]) => b - a);
  };
  const isFull = ([first]: Loads): boolean => first !== undefined && first[1] >= 1;
  let high = 2 * LOW_RATE;
  let loads = loadsAt(high, FEW_CALLS);
  for (; !isFull(loads); loads = loadsAt(high, FEW_CALLS)) high *= 2;
  let low = high / 2;
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    const roughly = loadsAt(middle, FEW_CALLS);
    const isNear = Math.abs((roughly[0]?.[1] ?? 0) - 1) < NEAR;
    const there = isNear ? loadsAt(middle, CALLS) : roughly;
    if (isFull(there)) [high, loads] = [middle, there];
    else low = middle;
  }
  const [first, second] = loads;
  if (first === undefined || second === undefined) throw new Error('there are no stations');
  const percent = `${second[0]} ${Math.round(second[1] * 100)} %`;
  return { callsPerSecond: (low + high) / 2, first: first[0], second: percent };
}

/** By name, the fullest first. */
type Loads = readonly (readonly [name: string, load: number])[];

/** The fullest station of each name. */
function fullest({ stations }: Network, loads: readonly number[]): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const [at, { name }] of stations.entries()) {
    named.set(name, Math.max(named.get(name) ?? 0, loads[at] ?? 0));
  }
  return named;
}
