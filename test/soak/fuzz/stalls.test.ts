// The counts of continuous integration: a fixed seed and a fresh one; `SEED=…` replays one.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { stallsLaw } from './stalls.ts';

const TEXTS = 80;

test('long texts at every place: the loop is never blocked for longer than its budget', async (context) => {
  for (const seed of seedsOf(context)) {
    const log = (line: string): void => note(context, line);
    const { runs, failures } = await stallsLaw({ count: TEXTS, seed, log });
    assert.deepEqual(failures, [], failures.join('\n'));
    assert.equal(runs, TEXTS);
  }
});
