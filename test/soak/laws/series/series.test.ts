import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { seriesPlansLaw } from './seriesPlans.ts';
import { seriesRequestsLaw } from './seriesRequests.ts';

const describeFailures = (failures: readonly string[]): string =>
  `\n${failures.length} failures\n${failures.slice(0, 5).join('\n')}`;

/** Full count: 100,000 plans, by `npm run soak series-plans`. */
const PLANS = 2_000;

test('the plan of any request agrees with the oracle', (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...figures } = seriesPlansLaw(PLANS, seed);
    note(t, JSON.stringify(figures));
    assert.ok(failures.length === 0, describeFailures(failures));
    assert.ok(figures.cuts > PLANS / 20 && figures.refused < PLANS / 2, JSON.stringify(figures));
  }
});

/** Full count: 2,000 requests, by `npm run soak series-requests`. */
const REQUESTS = 15;

test('a server gives the same answers as the oracle, from files and memory', async (t) => {
  let fromMemory = 0;
  for (const seed of seedsOf(t)) {
    const { failures, ...figures } = await seriesRequestsLaw(REQUESTS, seed);
    note(t, JSON.stringify(figures));
    assert.ok(failures.length === 0, describeFailures(failures));
    assert.ok(figures.rows > 0, JSON.stringify(figures));
    fromMemory += figures.fromMemory;
  }
  // About one seed in twenty repeats no request that is answered from memory.
  assert.ok(fromMemory > 0, 'no answer came from memory');
});
