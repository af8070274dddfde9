// The members of a ratio of two sides.
import { expect, test } from 'vitest';
import { invertRatio, measureRatio } from '../../../bench/base/measure.ts';

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, at) => at + 1);

test('p50 and p99 are over all responses of the counted rounds, processor times are their mean', async () => {
  const ratio = await measureRatio(
    { name: 'a', target: 'b', pairs: 2 },
    async (round) =>
      round === 0
        ? { ms: 1_000, times: [1_000], cpuMs: 1_000, clientCpuMs: 1_000 }
        : { ms: 2, times: upTo(100), cpuMs: round, clientCpuMs: 0.5 },
    async (round) => ({ ms: 4 * round, times: [4 * round], cpuMs: 3 }),
  );
  expect(JSON.parse(JSON.stringify(ratio))).toEqual({
    bench: 'a',
    target: 'b',
    pairs: 2,
    note: '',
    ratio: 3,
    oursMs: 2,
    bareMs: 6,
    oursP50: 50.5,
    oursP99: 100,
    oursCpuMs: 1.5,
    oursClientCpuMs: 0.5,
    bareP50: 6,
    bareP99: 8,
    bareCpuMs: 3,
  });
  expect(invertRatio(ratio).ratio).toBe(0.333);
});

test('a side that reports only milliseconds has no more members', async () => {
  const bench = { name: 'a', target: 'b', pairs: 1 };
  const ratio = await measureRatio(
    bench,
    async () => 2,
    async () => 1,
  );
  const members = ['bench', 'ratio', 'target', 'pairs', 'oursMs', 'bareMs', 'note'];
  expect(Object.keys(JSON.parse(JSON.stringify(ratio)) as object)).toEqual(members);
});
