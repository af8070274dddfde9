// Dates in random spellings, a few columns; `npm run soak written-dates` runs the full count.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { seedsOf } from '../../../base/seeds.ts';
import { writtenDatesLaw } from './writtenDates.ts';

/** Full count: 2,000 columns. */
const COLUMNS = 10;

test('law: a day in any spelling is stored as the same day, or the load requires dateOrder', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures } = await writtenDatesLaw(COLUMNS, seed);
    assert.deepEqual(failures, []);
  }
});
