// No answer of any route runs markup of its request in a browser.
import assert from 'node:assert/strict';
import { browserTest } from '../../../console/browser.ts';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { markupLaw } from './markup.ts';

/** All places of all routes by `npm run soak markup`. */
const REQUESTS = 100;

browserTest('no answer runs markup from any place of its request', async (t) => {
  const [seed = 1] = seedsOf(t).slice(-1);
  const { failures, ...figures } = await markupLaw(REQUESTS, seed);
  note(t, JSON.stringify(figures));
  assert.deepEqual(failures, []);
});
