// The saturation point of clusters, for networks where it can be computed.
import { expect, test } from 'vitest';
import { type ReplicaReads, replicaReads } from '../../../../bench/cluster/replicaReads.ts';
import type { Shape } from '../../../../bench/cluster/cluster.ts';
import {
  DEMAND,
  cumulate,
  firstReads,
  cachedShares,
  HOURS,
  mixOf,
  findPart,
  shareBeyond,
  zipfShares,
} from '../../../../bench/cluster/demand.ts';
import type { ReplicaTimes } from '../../../../bench/cluster/times/replicaTimes.ts';
import { forwardAll } from '../../../../bench/cluster/forwardAll.ts';
import { leasedQuotas } from '../../../../bench/cluster/leasedQuotas.ts';
import { runCalls, findSaturation } from '../../../../bench/cluster/saturation.ts';
import type { ServiceTimes } from '../../../../bench/cluster/times/serviceTimes.ts';
import { WATCHED_MAX } from '../../../../store/replica/replicaState.ts';
import { seeded } from '../../../soak/crash/rounds/seeded.ts';

const spent = (loop: number, below = 0): ServiceTimes['hot'] => ({
  loop,
  below,
  beside: 0,
  catalog: 0.001,
});
const answered = { p50: 0, p99: 0 };
const ELSEWHERE: ReplicaTimes = {
  serving: spent(0.05),
  own: spent(0.06),
  report: 0.01,
  forwarded: 0,
};
const TIMES: ServiceTimes = {
  replica: ELSEWHERE,
  catalogKind: 'PostgreSQL',
  hot: spent(0.05),
  cold: spent(0.4, 5),
  sql: spent(0.6, 8),
  push: spent(0.2),
  hop: {
    front: 0.1,
    beside: 0,
    added: 0.05,
  },
  direct: answered,
  forwarded: answered,
  message: 0.01,
  quotaRequest: {
    senderMs: 0.001,
    lessorMs: 0.002,
  },
  catalog: {
    commitP50: 1,
    commitP99: 2,
    commitCpu: 0.1,
  },
};
/** Time of the mean call: in the event loop, and in DuckDB. */
const LOOP_MS = 0.92 * 0.05 + 0.03 * 0.4 + 0.03 * 0.6 + 0.02 * 0.2;
const DUCKDB_MS = 0.03 * 5 + 0.03 * 8;

const allHandedOn = (nodes: number, cores: number): ReturnType<typeof findSaturation> =>
  findSaturation((callsPerSecond) =>
    forwardAll(TIMES, { nodes, cores, callsPerSecond, demand: DEMAND }),
  );

const near = (actual: number, expected: number): void =>
  expect(Math.abs(actual / expected - 1), `${actual} of ${expected}`).toBeLessThan(0.05);

test('with all calls forwarded, DuckDB is full first on few cores, else the loop of the serving node', () => {
  const small = allHandedOn(1, 4);
  expect(small.first).toBe('DuckDB of all nodes');
  near(small.callsPerSecond, 2_000 / DUCKDB_MS);
  near(allHandedOn(2, 3).callsPerSecond, 2_000 / DUCKDB_MS);
  const large = allHandedOn(1, 64);
  expect(large.first).toBe('loop of the serving node');
  near(large.callsPerSecond, 1_000 / LOOP_MS);
  near(allHandedOn(4, 64).callsPerSecond, 1_000 / (LOOP_MS + (3 / 4) * 0.05));
});

/** One account with so few datasets that each node follows all of them and has quota for all its calls. */
const FEW = { ...DEMAND, datasets: 1_000, accounts: 1 };

const answered64 = (shape: Omit<Shape, 'cores'>, replica = ELSEWHERE): ReplicaReads =>
  replicaReads(TIMES, replica, { ...shape, cores: 64 }, 1);

test('without changes, four answering nodes carry almost four times as much', () => {
  const demand = { ...FEW, mix: { ...FEW.mix, push: 0, hot: 0.94 } };
  const at = (nodes: number): number =>
    findSaturation((callsPerSecond) => answered64({ nodes, callsPerSecond, demand }).network)
      .callsPerSecond;
  const one = at(1);
  near(one, 1_000 / (0.94 * 0.05 + 0.03 * 0.4 + 0.03 * 0.6));
  expect(at(4) / one).toBeGreaterThan(2.8);
  expect(at(4) / one).toBeLessThan(4);
});

test('the serving node receives a report of each call that another node answered', () => {
  const mix = { hot: 1, cold: 0, sql: 0, push: 0 };
  const shape = { nodes: 8, callsPerSecond: 8_000, demand: { ...FEW, mix } };
  const { counts, network } = answered64(shape);
  const load = runCalls(network, 40_000).load;
  expect(counts.own / counts.all).toBeGreaterThan(0.99);
  near(load[0] ?? 0, 8_000 * (counts.own / counts.all) * 0.01 * 1e-3);
  near(load[2] ?? 0, (8_000 / 7) * 0.06 * 1e-3);
});

const countsOf = (demand: Shape['demand'], callsPerSecond = 4_000): ReplicaReads['counts'] => {
  const { counts, network } = answered64({ nodes: 8, callsPerSecond, demand });
  runCalls(network, 40_000);
  expect(counts.own + counts.unfollowed + counts.paused + counts.quota).toBe(counts.all);
  return counts;
};

test('a node forwards calls of datasets that it does not follow; others wait for changes or quota', () => {
  const few = countsOf({ ...FEW, mix: { ...FEW.mix, push: 0, hot: 0.94 } });
  expect([few.unfollowed, few.paused, few.waitedPause]).toEqual([0, 0, 0]);
  expect(few.own).toBeGreaterThan(0.999 * few.all);
  const changing = countsOf(FEW);
  expect(changing.waitedPause).toBeGreaterThan(0);
  expect(changing.paused).toBe(0);
  const seldom = countsOf({ ...FEW, accounts: 10_000 });
  expect(seldom.waitedQuota).toBeGreaterThan(0.3 * seldom.all);
  // Calls of accounts without quota left.
  expect(seldom.quota).toBeLessThan(0.03 * seldom.all);
  const many = countsOf({ ...FEW, datasets: 2 * WATCHED_MAX });
  const shares = zipfShares(2 * WATCHED_MAX);
  const cacheShares = cachedShares(shares, WATCHED_MAX);
  const unfollowed = shares.reduce(
    (sum, share, at) => sum + share * (1 - (cacheShares[at] ?? 0)),
    0,
  );
  near(many.unfollowed / many.all, unfollowed);
});

test('calls are forwarded if the serving node is too busy to send changes or quota in time', () => {
  const hung = { ...TIMES, message: 60 };
  const shape = { nodes: 2, callsPerSecond: 100, cores: 64, demand: { ...FEW, accounts: 1_000 } };
  const { counts, network } = replicaReads(hung, ELSEWHERE, shape, 1);
  const times = runCalls(network, 2_000).times.get('hot') ?? [];
  expect(counts.paused).toBeGreaterThan(0);
  expect(counts.quota).toBeGreaterThan(0.1 * counts.all);
  expect(times.length).toBeGreaterThan(1_000);
});

test('a call without quota waits for the round trip, and the next request for 5 ms', () => {
  const quotas = leasedQuotas({ nodes: 2, rates: [0, 0], need: 1, seed: 1 });
  const spend = (account: number, nowMs: number): ReturnType<typeof quotas.spend> =>
    quotas.spend({ account, node: 1, need: 1 }, nowMs);
  const first = spend(0, 10);
  expect([first.isEnough, first.isPending, first.quotaRequest?.atMs]).toEqual([false, true, 10]);
  const again = spend(0, 11);
  expect([again.isEnough, again.isPending, again.quotaRequest]).toEqual([false, true, undefined]);
  expect(spend(1, 12).quotaRequest?.atMs).toBe(15);
  const woken: number[] = [];
  const step = quotas.waitForQuota({ account: 0, node: 1, need: 1 });
  if ('until' in step) step.until((nowMs) => void woken.push(nowMs));
  first.quotaRequest?.reached(13);
  expect(spend(0, 13).isEnough).toBe(false);
  first.quotaRequest?.received(14);
  expect(woken).toEqual([14]);
  expect(spend(0, 14).isEnough).toBe(true);
});

test('a cache of least recently used items holds the computed share of each', () => {
  const shares = zipfShares(1_000);
  const ends = cumulate(shares);
  const random = seeded(5);
  const used = new Set<number>();
  let [hits, all] = [0, 0];
  for (let at = 0; at < 300_000; at += 1) {
    const one = findPart(ends, random.next());
    const isThere = used.delete(one);
    used.add(one);
    const [oldest] = used;
    if (used.size > 100 && oldest !== undefined) used.delete(oldest);
    if (at < 10_000) continue;
    all += 1;
    if (isThere) hits += 1;
  }
  const cacheShares = cachedShares(shares, 100);
  const expected = shares.reduce((sum, share, at) => sum + share * (cacheShares[at] ?? 0), 0);
  expect(Math.abs(hits / all / expected - 1)).toBeLessThan(0.01);
});

test('a cache with enough space holds all items, else those that are used most', () => {
  expect(cachedShares([0.5, 0.5], 2)).toEqual([1, 1]);
  const cacheShares = cachedShares(zipfShares(1_000), 100);
  near(
    cacheShares.reduce((sum, share) => sum + share, 0),
    100,
  );
  expect(cacheShares[0]).toBeGreaterThan(0.9);
  expect(cacheShares[999]).toBeLessThan(0.1);
});

test('a push is acknowledged after every other node was paused and notified', () => {
  const shape = { callsPerSecond: 500, demand: DEMAND };
  const least = (nodes: number): number => {
    const { network } = answered64({ ...shape, nodes });
    const times = runCalls(network, 20_000).times.get('push') ?? [];
    expect(times.length).toBeGreaterThan(200);
    return times.reduce((smallest, ms) => Math.min(smallest, ms), 1e9);
  };
  // A commit; with other nodes, a round trip, and the time of both event loops.
  expect(least(1)).toBeGreaterThanOrEqual(1.1 + 0.2);
  expect(least(4)).toBeGreaterThanOrEqual(1.1 + 0.2 + 3 * 0.02 + 0.2 + 0.01);
});

test('the peak of a day is three times its mean, and several caches read more from files', () => {
  expect(HOURS).toHaveLength(24);
  near(
    HOURS.reduce((sum, share) => sum + share, 0),
    24,
  );
  expect(shareBeyond(DEMAND, 0)).toBe(1);
  expect(shareBeyond(DEMAND, 1e9)).toBe(0);
  near(shareBeyond(DEMAND, (2.9 * 1.5e9) / 86_400), 3 / 24);
  // Each of the two million keys is read once, of 1.38 billion reads.
  near(firstReads(DEMAND, 1), 2e6 / 1.38e9);
  expect(firstReads(DEMAND, 64)).toBeGreaterThan(20 * firstReads(DEMAND, 1));
  expect(firstReads(DEMAND, 1e9)).toBeLessThanOrEqual(1);
  const { cold, hot, push, sql } = mixOf(DEMAND, 64);
  near(cold + hot + push + sql, 1);
  expect(mixOf(DEMAND, 1)).toEqual(DEMAND.mix);
});
