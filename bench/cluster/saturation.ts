// Finds the calls per second that a cluster carries, and the station that is saturated first.
import type { Network } from './network.ts';
import { type RunResult, run } from './run.ts';

export interface Saturation {
  readonly callsPerSecond: number;
  /** The saturated station. */
  readonly first: string;
  /** The next station and its utilization. */
  readonly second: string;
}

type NetworkAt = (callsPerSecond: number) => Network;

/** The rate is doubled from here until a station is saturated, in runs of few calls; */
const LOW_RATE = 1_000;
const FEW_CALLS = 20_000;
/** then it is bisected to less than two percent, with longer runs near saturation. */
const HALVINGS = 6;
const CALLS = 100_000;
/**
 * Error bound of a run of few calls: three times the standard deviation of DuckDB's load (6 %, of 40 seeds).
 * With only long runs it took 19 instead of 16 s of processor time for 1, 4, 16 and 64 nodes.
 */
const NEAR = 0.18;
const SEED = 20_261_125;

/** Runs a number of calls, of which a fifth is not counted. */
export function runCalls(network: Network, calls: number): RunResult {
  const untilMs = (calls * 1_000) / network.callsPerSecond;
  return run(network, { seed: SEED, warmUpMs: untilMs / 5, untilMs });
}

/**
 * Searches for the saturation instead of computing it, because work is not proportional to calls: the number
 * of windows is constant; with more calls fewer are forwarded for lack of quota; and the busier the serving
 * node is, the longer a change takes, during which more calls are forwarded to it.
 */
export function findSaturation(networkAt: NetworkAt): Saturation {
  const loadsAt = (rate: number, calls: number): Loads => {
    const network = networkAt(rate);
    const loads = highestLoads(network, runCalls(network, calls).load);
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
    const measured = isNear ? loadsAt(middle, CALLS) : roughly;
    if (isFull(measured)) [high, loads] = [middle, measured];
    else low = middle;
  }
  const [first, second] = loads;
  if (first === undefined || second === undefined) throw new Error('there are no stations');
  const percent = `${second[0]} ${Math.round(second[1] * 100)} %`;
  return { callsPerSecond: (low + high) / 2, first: first[0], second: percent };
}

/** Loads by station name, highest first. */
type Loads = readonly (readonly [name: string, load: number])[];

/** Returns the highest load of each station name. */
function highestLoads(
  { stations }: Network,
  loads: readonly number[],
): ReadonlyMap<string, number> {
  const byName = new Map<string, number>();
  for (const [at, { name }] of stations.entries()) {
    byName.set(name, Math.max(byName.get(name) ?? 0, loads[at] ?? 0));
  }
  return byName;
}
