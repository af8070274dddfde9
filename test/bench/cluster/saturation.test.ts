// Where a cluster is full, of networks of which it can be computed.
import { expect, test } from 'vitest';
import { asBuilt } from '../../../bench/cluster/asBuilt.ts';
import { DEMAND, firstReads, HOURS, mixOf, shareBeyond } from '../../../bench/cluster/demand.ts';
import { ownMemory } from '../../../bench/cluster/ownMemory.ts';
import { runCalls, saturationOf } from '../../../bench/cluster/saturation.ts';
import type { ServiceTimes } from '../../../bench/cluster/serviceTimes.ts';

const spent = (loop: number, below = 0): ServiceTimes['hot'] => ({
  ...{ loop, below, beside: 0, catalog: 0.001 },
});
const answered = { p50: 0, p99: 0 };
const TIMES: ServiceTimes = {
  catalogKind: 'PostgreSQL',
  ...{ hot: spent(0.05), cold: spent(0.4, 5), sql: spent(0.6, 8), push: spent(0.2) },
  hop: { front: 0.1, beside: 0, added: 0.05 },
  ...{ direct: answered, handedOn: answered, message: 0.01 },
  catalog: { commitP50: 1, commitP99: 2, commitCpu: 0.1 },
};
/** Of the mean call: its loop, and DuckDB. */
const LOOP_MS = 0.92 * 0.05 + 0.03 * 0.4 + 0.03 * 0.6 + 0.02 * 0.2;
const DUCKDB_MS = 0.03 * 5 + 0.03 * 8;

const built = (nodes: number, cores: number): ReturnType<typeof saturationOf> =>
  saturationOf((callsPerSecond) =>
    asBuilt(TIMES, { nodes, cores, callsPerSecond, demand: DEMAND }),
  );

const near = (actual: number, expected: number): void =>
  expect(Math.abs(actual / expected - 1), `${actual} of ${expected}`).toBeLessThan(0.05);

test('as built, DuckDB is full first where there are few cores, then the loop of the serving node', () => {
  const small = built(1, 4);
  expect(small.first).toBe('DuckDB of all nodes');
  near(small.callsPerSecond, 2_000 / DUCKDB_MS);
  near(built(2, 3).callsPerSecond, 2_000 / DUCKDB_MS);
  const large = built(1, 64);
  expect(large.first).toBe('loop of the serving node');
  near(large.callsPerSecond, 1_000 / LOOP_MS);
  near(built(4, 64).callsPerSecond, 1_000 / (LOOP_MS + (3 / 4) * 0.05));
});

test('with a memory each, four nodes carry almost four times as much', () => {
  const at = (nodes: number): number =>
    saturationOf(
      (callsPerSecond) =>
        ownMemory(TIMES, { nodes, cores: 64, callsPerSecond, demand: DEMAND }, 1).network,
    ).callsPerSecond;
  const one = at(1);
  near(one, 1_000 / LOOP_MS);
  expect(at(4) / one).toBeGreaterThan(2.8);
  expect(at(4) / one).toBeLessThan(4);
});

test('a push is acknowledged after every other node has heard of it', () => {
  const shape = { nodes: 4, cores: 8, callsPerSecond: 500, demand: DEMAND };
  const least = (nodes: number): number => {
    const { network } = ownMemory(TIMES, { ...shape, nodes }, 1);
    const times = runCalls(network, 20_000).times.get('push') ?? [];
    expect(times.length).toBeGreaterThan(200);
    return times.reduce((smallest, ms) => Math.min(smallest, ms), 1e9);
  };
  // A commit; with others, a way there and back, and what both loops take of it.
  expect(least(1)).toBeGreaterThanOrEqual(1.1 + 0.2);
  expect(least(4)).toBeGreaterThanOrEqual(1.1 + 0.2 + 3 * 0.01 + 0.2 + 0.01);
});

test('the day is three times its mean at its peak, and several memories read more from files', () => {
  expect(HOURS).toHaveLength(24);
  near(
    HOURS.reduce((sum, share) => sum + share, 0),
    24,
  );
  expect(shareBeyond(DEMAND, 0)).toBe(1);
  expect(shareBeyond(DEMAND, 1e9)).toBe(0);
  near(shareBeyond(DEMAND, (2.9 * 1.5e9) / 86_400), 3 / 24);
  // Each of the two million keys once, of 1.38 billion reads.
  near(firstReads(DEMAND, 1), 2e6 / 1.38e9);
  expect(firstReads(DEMAND, 64)).toBeGreaterThan(20 * firstReads(DEMAND, 1));
  expect(firstReads(DEMAND, 1e9)).toBeLessThanOrEqual(1);
  const { cold, hot, push, sql } = mixOf(DEMAND, 64);
  near(cold + hot + push + sql, 1);
  expect(mixOf(DEMAND, 1)).toEqual(DEMAND.mix);
});
