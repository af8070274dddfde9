import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { ruleRounds } from './rounds/ruleRounds.ts';

/** Full count: 100 kills, by `npm run soak kill-rules`. */
const KILLS = 1;

test('alerts, charges and deliveries agree after a kill at any time', async (t) => {
  for (const seed of seedsOf(t)) note(t, await ruleRounds(KILLS, seed));
});
