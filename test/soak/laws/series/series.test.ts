import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { seriesPlansLaw } from './seriesPlans.ts';
import { seriesRequestsLaw } from './seriesRequests.ts';

const shown = (failures: readonly string[]): string =>
  `\n${failures.length} failures\n${failures.slice(0, 5).join('\n')}`;

/** Full count: 100,000 plans, by `npm run soak series-plans`. */
const PLANS = 2_000;

test('the plan of any request means what the oracle says', (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = seriesPlansLaw(PLANS, seed);
    note(t, JSON.stringify(told));
    assert.ok(failures.length === 0, shown(failures));
    assert.ok(told.cuts > PLANS / 20 && told.refused < PLANS / 2, JSON.stringify(told));
  }
});

/** Full count: 2,000 requests, by `npm run soak series-requests`. */
const REQUESTS = 25;

test('a server answers any request as the oracle does, from files and memory', async (t) => {
  let fromMemory = 0;
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await seriesRequestsLaw(REQUESTS, seed);
    note(t, JSON.stringify(told));
    assert.ok(failures.length === 0, shown(failures));
    assert.ok(told.rows > 0, JSON.stringify(told));
    fromMemory += told.fromMemory;
  }
  // One seed in some twenty repeats no request that is answered from memory.
  assert.ok(fromMemory > 0, 'no answer came from memory');
});
