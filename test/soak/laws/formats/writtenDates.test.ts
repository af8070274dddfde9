// Dates in random spellings, a few columns; `npm run soak written-dates` runs the full count.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { seedsOf } from '../../../base/seeds.ts';
import { writtenDatesLaw } from './writtenDates.ts';

/** Full count: 2,000 columns. */
const COLUMNS = 20;

test('law: a day in any spelling comes back as itself, or is asked for', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures } = await writtenDatesLaw(COLUMNS, seed);
    assert.deepEqual(failures, []);
  }
});
