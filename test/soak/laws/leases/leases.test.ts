import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { quotaLeasesLaw } from './quotaLeases.ts';

/** Full count: 10,000 histories, by `npm run soak quota-leases`. */
const HISTORIES = 20;

test('leased quota: never over a limit, each call charged once, also when nodes end', async (t) => {
  for (const seed of seedsOf(t)) {
    const log = (line: string): void => note(t, line);
    const { failures, notes } = await quotaLeasesLaw({ count: HISTORIES, seed, log });
    for (const line of notes) note(t, line);
    assert.deepEqual(failures, []);
  }
});
