// Options, sentiment and sums of the synthetic exchange: laws with seeds, and expiration days.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { optionPrices, strikesAround } from '../../../market/exchange/optionPrices.ts';
import { expirationsAfter } from '../../../market/exchange/records/optionRecords.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { newsLaw } from './newsLaw.ts';
import { ownersLaw } from './ownersLaw.ts';
import { optionsLaw } from './optionsLaw.ts';

test('chains permit no arbitrage, minutes add up to sentiment, symbols to sums', async (context) => {
  for (const seed of seedsOf(context)) {
    const { failures, ...counts } = await optionsLaw(4, seed);
    note(context, JSON.stringify(counts));
    assert.deepEqual(failures.slice(0, 5), []);
    assert.ok(counts.contracts > 500 && counts.moods > 100 && counts.days > 1_000);
  }
});

test('prices are those of the formula', () => {
  // 3.8213 and 1.2258 by Python's error function.
  assert.deepEqual(optionPrices({ spot: 4_200, volatility: 0.2, years: 0.5 }, 4_000), {
    call: 382,
    put: 123,
  });
  // An almost certain outcome.
  assert.deepEqual(optionPrices({ spot: 10_000, volatility: 0.1, years: 0.01 }, 5_000), {
    call: 5001,
    put: 0,
  });
});

test('options expire on third Fridays, or on the session before them', () => {
  assert.deepEqual(expirationsAfter('2026-01-29'), [
    '2026-02-20',
    '2026-03-20',
    '2026-04-17',
    '2026-07-17',
  ]);
  assert.deepEqual(expirationsAfter('2026-02-19')[0], '2026-02-20');
  assert.deepEqual(expirationsAfter('2026-02-20')[0], '2026-03-20');
  // The third Friday of April 2025 was Good Friday.
  assert.deepEqual(expirationsAfter('2025-04-01')[0], '2025-04-17');
});

test('strikes surround any price, and are round', () => {
  assert.deepEqual(strikesAround(13_412).at(0), 11_000);
  assert.deepEqual(strikesAround(13_412).at(-1), 16_000);
  assert.deepEqual(strikesAround(3), [1, 2, 3, 4, 5, 6, 7, 8]);
  for (let cents = 1; cents < 200_000; cents += 97) {
    const strikes = strikesAround(cents);
    assert.ok(
      strikes.length >= 6 && strikes.every((strike) => Number.isInteger(strike)),
      `${cents}`,
    );
    assert.equal(new Set(strikes).size, strikes.length);
  }
});

test('news has unique ids, is not of the future and agrees with bars and actions', async (context) => {
  for (const seed of seedsOf(context)) {
    const { failures, stories } = newsLaw(6, seed);
    note(context, JSON.stringify({ stories }));
    assert.deepEqual(failures.slice(0, 5), []);
    assert.ok(stories > 100, `${stories}`);
  }
});

test('trades of insiders have the prices of their days, and their sums', async (context) => {
  for (const seed of seedsOf(context)) {
    const { failures, trades } = ownersLaw(6, seed);
    note(context, JSON.stringify({ trades }));
    assert.deepEqual(failures.slice(0, 5), []);
    assert.ok(trades > 200);
  }
});
