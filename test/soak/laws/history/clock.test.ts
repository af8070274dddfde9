import { test } from 'vitest';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { clockLaw } from './clock.ts';

/** Full count: 500 walks, by `npm run soak clock`. */
const WALKS = 3;

test('with any clock, the quota of a month is spent once, and all accounts agree', async (t) => {
  for (const seed of seedsOf(t)) note(t, await clockLaw(WALKS, seed));
});
