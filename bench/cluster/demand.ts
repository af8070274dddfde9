// Model of a day of calls: rate by hour, kinds, datasets and accounts.

/** Calls per day and their distribution. */
export interface Demand {
  readonly callsADay: number;
  readonly mix: Readonly<Record<Kind, number>>;
  readonly datasets: number;
  /** Requested keys per dataset; each dataset is loaded once a day. */
  readonly keys: number;
  readonly accounts: number;
}

export type Kind = 'hot' | 'cold' | 'sql' | 'push';

export const DEMAND: Demand = {
  callsADay: 1_500_000_000,
  mix: { hot: 0.92, cold: 0.03, sql: 0.03, push: 0.02 },
  datasets: 100_000,
  keys: 20,
  accounts: 1_000,
};

/** Bisection steps from 1e12 to far less than one. */
const HALVINGS = 60;
const SECONDS_OF_DAY = 86_400;

/** Calls of each hour relative to the mean: a trading day of one exchange, busiest at its opening. */
export const HOURS: readonly number[] = [
  0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.3, 0.5, 0.9, 2.2, 3, 2.6, 2.2, 2.1, 2.3, 2.8, 1.9, 0.7, 0.4, 0.3,
  0.2, 0.2, 0.1, 0.1,
];

const meanRate = ({ callsADay }: Demand): number => callsADay / SECONDS_OF_DAY;

export const peakRate = (demand: Demand): number => meanRate(demand) * Math.max(...HOURS);

/** Returns the share of a day's calls in hours above the given rate. */
export function shareBeyond(demand: Demand, callsPerSecond: number): number {
  const mean = meanRate(demand);
  const beyond = HOURS.filter((share) => share * mean > callsPerSecond);
  const all = HOURS.reduce((sum, share) => sum + share, 0);
  return beyond.reduce((sum, share) => sum + share, 0) / all;
}

/** Shares of a Zipf distribution: the nth item is requested 1/n times as often as the first. */
export function zipfShares(count: number): readonly number[] {
  const weights = Array.from({ length: count }, (_, at) => 1 / (at + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Share of hot reads that are the first of their key at their node since the dataset's load, and so read the
 * files: each of several caches must read what a single cache reads once.
 */
export function firstReads(demand: Demand, nodes: number): number {
  const { callsADay, datasets, keys, mix } = demand;
  const reads = callsADay * mix.hot;
  const firsts = zipfShares(datasets).reduce((sum, share) => {
    const places = keys * nodes;
    return sum + places * (1 - Math.exp((-reads * share) / places));
  }, 0);
  return firsts / reads;
}

/** Mix with the additional cold reads of several caches compared with one. */
export function mixOf(demand: Demand, nodes: number): Demand['mix'] {
  const { mix } = demand;
  const more = mix.hot * (firstReads(demand, nodes) - firstReads(demand, 1));
  return { ...mix, hot: mix.hot - more, cold: mix.cold + more };
}

/**
 * Probability that each item is in an LRU cache of `most` items: it is if it was requested within the number
 * of calls in which that many distinct items are requested.
 */
export function cachedShares(shares: readonly number[], most: number): readonly number[] {
  if (most >= shares.length) return shares.map(() => 1);
  const at = (calls: number): readonly number[] =>
    shares.map((share) => 1 - Math.exp(-share * calls));
  let [low, high] = [0, 1e12];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    const expectedSize = at(middle).reduce((sum, share) => sum + share, 0);
    if (expectedSize < most) low = middle;
    else high = middle;
  }
  return at(low);
}

/** Finds the part that `share` falls into, by the ends of consecutive parts. */
export function findPart(ends: readonly number[], share: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 1) > share) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the end of each part. */
export function cumulate(shares: readonly number[]): readonly number[] {
  let sum = 0;
  return shares.map((share) => (sum += share));
}
