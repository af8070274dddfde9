// The simulator against theory, for queues with known solutions.
import { expect, test } from 'vitest';
import {
  exponential,
  type GoOn,
  type Network,
  type Step,
} from '../../../../bench/cluster/network.ts';
import { run } from '../../../../bench/cluster/run.ts';
import type { Seeded } from '../../../soak/crash/rounds/seeded.ts';
import { seedsOf } from '../../../base/seeds.ts';

const SERVICE_MS = 2;

function oneStation(servers: number, load: number, service: (random: Seeded) => number): Network {
  return {
    stations: [{ name: 'one', servers }],
    groups: [],
    callsPerSecond: (load * servers * 1_000) / SERVICE_MS,
    nextCall: (random) => ({ kind: 'call', steps: [{ at: 0, ms: service(random) }] }),
    regular: [],
  };
}

/** The mean wait of M/M/c, by Erlang's C. */
function waitOfMmc(servers: number, load: number): number {
  const offered = load * servers;
  let term = 1;
  let sum = 1;
  for (let at = 1; at < servers; at += 1) sum += term *= offered / at;
  const all = (term * offered) / servers / (1 - load);
  const waits = all / (sum + all);
  return (waits * SERVICE_MS) / (servers * (1 - load));
}

/** The mean wait of M/D/1, by Pollaczek and Khinchine. */
const waitOfMd1 = (load: number): number => (load * SERVICE_MS) / (2 * (1 - load));

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const CALLS = 600_000;

const lengthOf = ({ callsPerSecond }: Network, seed: number): Parameters<typeof run>[1] => {
  const untilMs = (CALLS * 1_000) / callsPerSecond;
  return { seed, warmUpMs: untilMs / 50, untilMs };
};

/**
 * Permitted error of the mean wait of so many calls: five times the standard deviation, which was measured
 * over 40 seeds (0.8 to 2.3 percent of the wait; 0.4 to 1 for M/D/1).
 */
const MANY: readonly (readonly [servers: number, load: number, most: number])[] = [
  [1, 0.7, 0.05],
  [4, 0.7, 0.07],
  [8, 0.8, 0.11],
];
const CONSTANT: readonly (readonly [load: number, most: number])[] = [
  [0.5, 0.03],
  [0.8, 0.06],
];

test('mean waits of M/M/c and M/D/1 match theory', (context) => {
  for (const seed of seedsOf(context)) {
    for (const [servers, load, most] of MANY) {
      const network = oneStation(servers, load, (random) => exponential(random, SERVICE_MS));
      const ran = run(network, lengthOf(network, seed));
      const wait = waitOfMmc(servers, load);
      expect(Math.abs((ran.waitMs[0] ?? 0) / wait - 1), `M/M/${servers}`).toBeLessThan(most);
      expect(Math.abs((ran.load[0] ?? 0) / load - 1)).toBeLessThan(0.01);
      const result = mean(ran.times.get('call') ?? []);
      expect(Math.abs(result / (wait + SERVICE_MS) - 1)).toBeLessThan(most);
    }
    for (const [load, most] of CONSTANT) {
      const network = oneStation(1, load, () => SERVICE_MS);
      const ran = run(network, lengthOf(network, seed));
      expect(Math.abs((ran.waitMs[0] ?? 0) / waitOfMd1(load) - 1), 'M/D/1').toBeLessThan(most);
    }
  }
});

test('a station above its capacity works at its capacity', () => {
  const network = oneStation(3, 1.5, () => SERVICE_MS);
  const ran = run(network, { seed: 1, warmUpMs: 1_000, untilMs: 11_000 });
  expect(ran.callsPerSecond).toBeGreaterThan(1_499);
  expect(ran.callsPerSecond).toBeLessThan(1_501);
  expect(ran.load[0]).toBeGreaterThan(1.4);
});

test('the same seed gives the same run, another seed another run', () => {
  const network = oneStation(2, 0.8, (random) => exponential(random, SERVICE_MS));
  const times = (seed: number): readonly number[] | undefined =>
    run(network, { seed, warmUpMs: 0, untilMs: 1_000 }).times.get('call');
  expect(times(7)).toEqual(times(7));
  expect(times(7)).not.toEqual(times(8));
});

/** A network with one call at a time. */
const alone = (steps: readonly Step[]): Network => ({
  stations: [
    { name: 'one', servers: 1 },
    { name: 'two', servers: 1 },
  ],
  groups: [{ gatherMs: 10, steps: () => [{ at: 1, ms: 5 }] }],
  callsPerSecond: 0.001,
  nextCall: () => ({ kind: 'call', steps }),
  regular: [],
});

const tookBy = (steps: readonly Step[]): number =>
  run(alone(steps), { seed: 3, warmUpMs: 0, untilMs: 1_000 }).times.get('call')?.[0] ?? 0;

test('a call takes its steps in sequence, and parts of a step in parallel', () => {
  expect(tookBy([{ at: 0, ms: 3 }, { waitMs: 4 }, { at: 1, ms: 5 }])).toBe(12);
  expect(tookBy([{ at: 0, ms: 1 }, { group: 0 }, { at: 0, ms: 1 }])).toBe(17);
  const apart: Step = { all: [[{ at: 0, ms: 2 }], [{ waitMs: 1 }, { at: 1, ms: 6 }]] };
  expect(tookBy([apart, { at: 0, ms: 1 }])).toBe(8);
  const atOne: Step = { all: [[{ at: 0, ms: 2 }], [{ at: 0, ms: 6 }]] };
  expect(tookBy([atOne])).toBe(8);
  expect(tookBy([{ all: [] }, { waitMs: 1 }])).toBe(1);
  expect(tookBy([{ beside: [[{ at: 0, ms: 4 }]] }, { at: 1, ms: 3 }])).toBe(3);
  expect(tookBy([{ beside: [[{ at: 0, ms: 4 }]] }, { at: 0, ms: 3 }])).toBe(7);
  let result = 0;
  expect(tookBy([{ waitMs: 2 }, { run: () => (result += 1) }, { waitMs: 1 }])).toBe(3);
  expect(result).toBe(1);
});

test('a call waits until it is resumed or its wait ends, and then decides its next steps', () => {
  let goOn: GoOn = () => undefined;
  const until = (heard: GoOn): void => void (goOn = heard);
  const result: readonly Step[] = [{ waitMs: 3 }, { run: (nowMs) => goOn(nowMs) }];
  expect(tookBy([{ beside: [result] }, { until, mostMs: 9 }, { at: 0, ms: 1 }])).toBe(4);
  expect(tookBy([{ beside: [result] }, { until, mostMs: 2 }, { at: 0, ms: 1 }])).toBe(3);
  const decide = (nowMs: number): readonly Step[] => (nowMs < 5 ? [{ waitMs: 7 }] : []);
  expect(tookBy([{ waitMs: 4 }, { decide }, { at: 0, ms: 1 }])).toBe(12);
  expect(tookBy([{ waitMs: 5 }, { decide }, { at: 0, ms: 1 }])).toBe(6);
});

test('calls that arrive while a group gathers continue together', () => {
  const network: Network = { ...alone([{ group: 0 }]), callsPerSecond: 2_000 };
  const ran = run(network, { seed: 5, warmUpMs: 100, untilMs: 5_100 });
  // It gathers for 10 ms from its first call on, which arrives half a millisecond after the last group left.
  expect(ran.groupsPerSecond[0]).toBeGreaterThan(1_000 / 10.5 - 1);
  expect(ran.groupsPerSecond[0]).toBeLessThan(1_000 / 10.5 + 1);
  const times = ran.times.get('call') ?? [];
  expect(times.length).toBeGreaterThan(9_000);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(5);
  expect(Math.max(...times)).toBeLessThanOrEqual(15 + 1e-6);
});
