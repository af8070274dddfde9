import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../notes.ts';
import { seedsOf } from '../seeds.ts';
import { fuzzTexts } from './sql/fuzzTexts.ts';

/** Full count: 100,000 texts, by `npm run soak fuzz-sql`. */
const TEXTS = 300;

test('hostile SQL is answered, refused or ended, and tells nothing', async (context) => {
  for (const seed of seedsOf(context)) {
    const log = (line: string): void => note(context, line);
    const { runs, failures } = await fuzzTexts({ count: TEXTS, seed, log });
    assert.deepEqual(failures, [], failures.join('\n'));
    assert.equal(runs, TEXTS);
  }
});
