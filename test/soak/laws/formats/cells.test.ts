// Cells of random files, a few; `npm run soak cells` runs the full count.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { cellsLaw } from './cells.ts';

/** Full count: 2,000 datasets. */
const DATASETS = 12;

test('law: a cell is read back equal, or the answer reports its change', async (t) => {
  for (const seed of seedsOf(t)) {
    const { cells, failures } = await cellsLaw(DATASETS, seed);
    note(t, `${cells} cells`);
    assert.deepEqual(failures, []);
  }
});
