// Cross rates derived from other rates of currencies: consistent in both directions, and along a chain.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCurrencies, dailyRates, findRate } from '../../market/money/crossRates.ts';
import type { Row } from '../../market/derive/values.ts';
import { seedsOf } from '../base/seeds.ts';

const NAMES = ['USD', 'EUR', 'GBP', 'JPY', 'CAD', 'SEK', 'BRL'] as const;
const rates = fc.dictionary(
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES)).map((pair) => pair.join('')),
  fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
  { maxKeys: 12 },
);
const near = (one: number, other: number): boolean => Math.abs(one / other - 1) < 1e-8;

test('a rate times its inverse is one, also by a third currency', (t) => {
  for (const seed of seedsOf(t)) {
    let derived = 0;
    const holds = (ratesByPair: Readonly<Record<string, number>>): void => {
      const rowOf = (key: string): Row | undefined =>
        ratesByPair[key] === undefined
          ? undefined
          : { symbol: key, date: '2024-01-02', rate: ratesByPair[key] };
      for (const from of NAMES) {
        for (const to of NAMES) {
          const [there, back] = [findRate(from, to, rowOf), findRate(to, from, rowOf)];
          assert.equal(there === undefined, back === undefined);
          if (there === undefined || back === undefined || from === to) continue;
          // Both directions may have rates of their own.
          const isOne =
            ratesByPair[`${from}${to}`] === undefined || ratesByPair[`${to}${from}`] === undefined;
          const viaBoth = Object.keys(ratesByPair).some(
            (key) => ratesByPair[key.slice(3) + key.slice(0, 3)],
          );
          if (isOne && !viaBoth) assert.ok(near(there.rate * back.rate, 1), `${from} ${to}`);
          assert.equal(there.isDerived, ratesByPair[`${from}${to}`] === undefined);
          if (there.isDerived) derived += 1;
        }
      }
    };
    fc.assert(fc.property(rates, holds), { seed, numRuns: 300 });
    assert.ok(derived > 100);
  }
});

test('a day has a rate if all of its components have one', () => {
  const rows: Readonly<Record<string, readonly Row[]>> = {
    GBPUSD: [
      { date: '2024-01-02', rate: 1.25 },
      { date: '2024-01-03', rate: 1.5 },
    ],
    USDCAD: [{ date: '2024-01-03', rate: 1.3 }],
  };
  const days = dailyRates('GBP', 'CAD', (key) => rows[key] ?? []);
  expect(days.map(({ date, rate }) => [date, rate])).toEqual([['2024-01-03', 1.95]]);
});

test('pairs of currencies are parsed', () => {
  for (const text of ['USDCAD', 'usdcad', ' usd/cad ', 'USD-CAD']) {
    expect(parseCurrencies(text), text).toEqual(['USD', 'CAD']);
  }
  for (const text of ['', 'USD', 'USDCADX', 'US1CAD', 'ÜSDCAD', 'USD//CAD']) {
    expect(parseCurrencies(text), text).toBeUndefined();
  }
});
