// No answer of any route runs in a browser, whatever markup it was asked with.
import assert from 'node:assert/strict';
import { browserTest } from '../../../console/browser.ts';
import { note } from '../../../base/notes.ts';
import { seedsOf } from '../../../base/seeds.ts';
import { markupLaw } from './markup.ts';

/** All places of all routes by `npm run soak markup`. */
const REQUESTS = 100;

browserTest('markup in any place of a request runs in no answer', async (t) => {
  const [seed = 1] = seedsOf(t).slice(-1);
  const { failures, ...told } = await markupLaw(REQUESTS, seed);
  note(t, JSON.stringify(told));
  assert.deepEqual(failures, []);
});
