// The counts of continuous integration: each route of the table with each shape, and some more; `SEED=…`
// replays one.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { bodiesLaw, COVERING } from './bodies.ts';

const COUNT = COVERING + 50;

test('no wide, deep or long body blocks the event loop', async (context) => {
  const seed = seedsOf(context).at(-1) ?? 0;
  const log = (line: string): void => note(context, line);
  const { runs, failures } = await bodiesLaw({ count: COUNT, seed, log });
  assert.deepEqual(failures, [], failures.join('\n'));
  assert.equal(runs, COUNT);
});
