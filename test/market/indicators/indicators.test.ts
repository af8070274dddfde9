// Indicators on real bars, and with values by hand.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { indicatorOf, INDICATORS } from '../../../market/indicators/indicators.ts';
import { wrong } from './indicatorsLaw.ts';
import { DEFINITIONS } from './oracle.ts';

test('the set has 104 indicators, each with a definition', () => {
  assert.equal(INDICATORS.length, 104);
  assert.deepEqual(
    INDICATORS.map(({ name }) => name),
    Object.keys(DEFINITIONS).toSorted(),
  );
});

const DATA = join(import.meta.dirname, '../../../../shared/data/vix-daily.csv');

test.skipIf(!existsSync(DATA))('each indicator matches its definition on real days', () => {
  const rows = readFileSync(DATA, 'utf8')
    .split('\n')
    .slice(1, 401)
    .map((line) => line.split(',').map(Number));
  const column = (at: number): readonly number[] => rows.map((row) => row[at] ?? Number.NaN);
  const [open, high, low, close] = [column(1), column(2), column(3), column(4)];
  assert.ok([...open, ...high, ...low, ...close].every(Number.isFinite));
  const bars = { open, high, low, close, volume: close.map((value) => Math.round(value * 1_000)) };
  assert.deepEqual(
    INDICATORS.flatMap((indicator) => wrong(indicator, bars, undefined)),
    [],
  );
});

const by = (name: string, series: readonly number[], options: readonly number[]): unknown =>
  indicatorOf(name)?.compute([series], options);

test('the sine wave of constant prices is the same for any price', () => {
  for (let period = 2; period <= 20; period += 1) {
    for (let price = 0.1; price < 300; price *= 1.7) {
      const flat = Array<number>(period + 1).fill(price);
      const [sine, lead] = by('msw', flat, [period]) as readonly number[][];
      const lastValues = [sine?.at(-1), lead?.at(-1)].map((value) => value?.toFixed(6));
      assert.deepEqual(lastValues, ['-1.000000', '-0.707107'], `${price}, ${period}`);
    }
  }
});

test('trix matches the test vectors of Tulip', () => {
  const closes = [
    8996.96, 9003.19, 9010.41, 9008.07, 9018.03, 9009.8, 9011.55, 9020.26, 9013.29, 9018.78,
  ];
  const [values = []] = by('trix', closes, [3]) as readonly number[][];
  assert.deepEqual(
    values.filter((value) => !Number.isNaN(value)).map((value) => value.toFixed(4)),
    ['0.0171', '0.0121', '0.0137'],
  );
});

test('some indicators match values by hand', () => {
  const no = Number.NaN;
  assert.deepEqual(by('sma', [1, 2, 6, 4], [2]), [[no, 1.5, 4, 5]]);
  assert.deepEqual(by('ema', [1, 2, 6], [3]), [[1, 1.5, 3.75]]);
  assert.deepEqual(by('wma', [1, 4, 1], [2]), [[no, 3, 2]]);
  assert.deepEqual(by('wilders', [1, 3, 6], [2]), [[no, 2, 4]]);
  assert.deepEqual(by('rsi', [1, 2, 1, 3], [2]), [[no, no, 50, 83.33333333333334]]);
  assert.deepEqual(by('linregslope', [1, 3, 7], [3]), [[no, no, 3]]);
  assert.deepEqual(by('bbands', [1, 3], [2, 2]), [
    [no, 0],
    [no, 2],
    [no, 4],
  ]);
});
