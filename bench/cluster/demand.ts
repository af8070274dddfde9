// A day of calls: how many at which hour, of which kind, for which dataset and account.

/** Calls of a day, and what it is about. */
export interface Demand {
  readonly callsADay: number;
  readonly mix: Readonly<Record<Kind, number>>;
  readonly datasets: number;
  /** Keys of a dataset that are asked for; each dataset is loaded once a day. */
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

/** Of 1e12 to far less than one. */
const HALVINGS = 60;
const SECONDS_OF_DAY = 86_400;

/** Calls of each hour by those of the mean one: a trading day of one place, busiest at its opening. */
export const HOURS: readonly number[] = [
  0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.3, 0.5, 0.9, 2.2, 3, 2.6, 2.2, 2.1, 2.3, 2.8, 1.9, 0.7, 0.4, 0.3,
  0.2, 0.2, 0.1, 0.1,
];

const meanRate = ({ callsADay }: Demand): number => callsADay / SECONDS_OF_DAY;

export const peakRate = (demand: Demand): number => meanRate(demand) * Math.max(...HOURS);

/** Of the day, how many calls came in hours that ask for more than so many a second. */
export function shareBeyond(demand: Demand, callsPerSecond: number): number {
  const mean = meanRate(demand);
  const beyond = HOURS.filter((share) => share * mean > callsPerSecond);
  const all = HOURS.reduce((sum, share) => sum + share, 0);
  return beyond.reduce((sum, share) => sum + share, 0) / all;
}

/** Shares of things of which the nth is asked for as often as the first by n. */
export function zipfShares(count: number): readonly number[] {
  const weights = Array.from({ length: count }, (_, at) => 1 / (at + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/**
 * Of hot reads, the share that is the first of its key at its node since the dataset's load, and so comes
 * from the files: each of several memories has to read what one reads once.
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

/** The mix with as many more cold reads as so many memories have more than one. */
export function mixOf(demand: Demand, nodes: number): Demand['mix'] {
  const { mix } = demand;
  const more = mix.hot * (firstReads(demand, nodes) - firstReads(demand, 1));
  return { ...mix, hot: mix.hot - more, cold: mix.cold + more };
}

/**
 * Of each of those things, how often it is among the `most` that a node has, of which the one that was
 * used longest ago goes: it is in if it was asked for within as many calls as so many others take to come.
 */
export function heldShares(shares: readonly number[], most: number): readonly number[] {
  if (most >= shares.length) return shares.map(() => 1);
  const at = (calls: number): readonly number[] =>
    shares.map((share) => 1 - Math.exp(-share * calls));
  let [low, high] = [0, 1e12];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    const held = at(middle).reduce((sum, share) => sum + share, 0);
    if (held < most) low = middle;
    else high = middle;
  }
  return at(low);
}

/** Which part of a whole `share` falls into, of parts that add up to it. */
export function partOf(ends: readonly number[], share: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 1) > share) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where each part ends. */
export function endsOf(shares: readonly number[]): readonly number[] {
  let sum = 0;
  return shares.map((share) => (sum += share));
}
