import { test } from 'vitest';
import { note } from '../notes.ts';
import { seedsOf } from '../seeds.ts';
import { streamBarsLaw } from './streamBars.ts';
import { streamOrderLaw } from './streamOrder.ts';

/** Full count: 50,000 rounds, by `npm run soak stream-order`. */
const ROUNDS = 10;

test('who listens hears all in its order, or the newest of each interval', (t) => {
  for (const seed of seedsOf(t)) note(t, streamOrderLaw(ROUNDS, seed));
});

/** Full count: 100,000 trades, by `npm run soak stream-bars`. */
const TRADES = 1_000;

test('bars of what is heard are bars of what is stored', async (t) => {
  for (const seed of seedsOf(t)) note(t, await streamBarsLaw(TRADES, seed));
});
