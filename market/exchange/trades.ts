// The trades of a session, which add up to its bar: the first one opens, the last one closes, the highest and
// the lowest are among them, and their sizes are its volume.
import { seededRandom } from './seededRandom.ts';
import type { Bar } from './history.ts';
import { venueFor } from './venues.ts';

export interface Trade {
  /** Minutes since the opening. */
  readonly minute: number;
  /** Milliseconds since the opening. */
  readonly offsetMs: number;
  readonly cents: number;
  readonly size: number;
}

/** Details that only the latest trades need. */
interface Detail {
  readonly venue: string;
  /** Best offers at the time of the trade, in cents, and their shares. */
  readonly bid: number;
  readonly ask: number;
  readonly bidSize: number;
  readonly askSize: number;
  /** Milliseconds since the opening. */
  readonly quotedMs: number;
}

/** Seed of a listing's random numbers. */
interface ListingSeed {
  readonly seed: number;
  /** Index of the listing. */
  readonly at: number;
}

const MINUTE_MS = 60_000;
const [TRADES_LEAST, TRADES_MORE] = [2, 3];

/** In the order of time. @param minutes of the session */
export function sampleTrades(
  { at, seed }: ListingSeed,
  bar: Bar,
  minutes: number,
): readonly Trade[] {
  const { below, normal, uniform } = seededRandom(seed, at, bar.session, 4);
  const counts = Array.from({ length: minutes }, () => TRADES_LEAST + below(TRADES_MORE));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const prices = pathOf(bar, total, normal);
  const weights = counts.flatMap((count, minute) => {
    const busy = 1 + 2.5 * (2 * (minute / minutes) - 1) ** 4;
    return Array.from({ length: count }, () => (busy * (0.2 + uniform())) / count);
  });
  const sizes = sizesOf(bar.volume, weights);
  const trades: Trade[] = [];
  for (const [minute, count] of counts.entries()) {
    for (let one = 0; one < count; one += 1) {
      const place = trades.length;
      const within = Math.floor(((one + (place === 0 ? 0 : uniform())) / count) * MINUTE_MS);
      const offsetMs = minute * MINUTE_MS + within;
      trades.push({ minute, offsetMs, cents: prices[place] ?? 0, size: sizes[place] ?? 0 });
    }
  }
  return trades;
}

/** A random walk from open to close that reaches high and low, and not beyond. */
function pathOf(
  { close, high, low, open }: Bar,
  count: number,
  normal: () => number,
): readonly number[] {
  const step = (high - low) / (1.6 * Math.sqrt(count));
  const walk = new Float64Array(count);
  for (let at = 1; at < count; at += 1) walk[at] = (walk[at - 1] ?? 0) + normal() * step;
  const strayed = walk[count - 1] ?? 0;
  const last = count - 1;
  let [highest, lowest] = [1, 2];
  const path = Array.from(walk, (value, at) => {
    const price = open + value + ((close - open - strayed) * at) / last;
    return Math.min(high, Math.max(low, Math.round(price)));
  });
  for (let at = 1; at < last; at += 1) {
    if ((path[at] ?? 0) > (path[highest] ?? 0) && at !== lowest) highest = at;
    if ((path[at] ?? 0) < (path[lowest] ?? 0) && at !== highest) lowest = at;
  }
  path[highest] = high;
  path[lowest] = low;
  path[0] = open;
  path[last] = close;
  return path;
}

/** Distributes the volume by weight in whole shares, at least one each. */
function sizesOf(volume: number, weights: readonly number[]): readonly number[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const free = volume - weights.length;
  let [passed, assigned] = [0, 0];
  return weights.map((weight, at) => {
    passed += weight;
    const upTo = at === weights.length - 1 ? free : Math.floor((free * passed) / whole);
    const size = 1 + upTo - assigned;
    assigned = upTo;
    return size;
  });
}

/** Venue and best offers of a trade. @param before the previous trade */
export function sampleDetail(
  { at, seed }: ListingSeed,
  { session }: Bar,
  trade: Trade,
  before: Trade | undefined,
): Detail {
  const { below, uniform } = seededRandom(seed, at, session, 5, trade.offsetMs, trade.cents);
  const spread = 1 + below(Math.max(1, Math.round(trade.cents / 10_000)) + 1);
  const bid = Math.max(1, uniform() < 0.5 ? trade.cents : trade.cents - spread);
  return {
    venue: venueFor(uniform()),
    bid,
    ask: bid === trade.cents ? bid + spread : trade.cents,
    bidSize: 100 * (1 + below(9)),
    askSize: 100 * (1 + below(9)),
    quotedMs: Math.floor(((before?.offsetMs ?? trade.offsetMs) + trade.offsetMs) / 2),
  };
}
