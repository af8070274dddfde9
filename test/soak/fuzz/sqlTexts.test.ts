import assert from 'node:assert/strict';
import { test } from '../../base/fixtures.ts';
import { fuzzTexts } from './sql/fuzzTexts.ts';

/** Full count: 100,000 texts, by `npm run soak fuzz-sql`. */
const TEXTS = 60;

test('hostile SQL is answered, refused or ended, and reveals nothing', async ({
  annotate,
  seeds,
}) => {
  for (const seed of seeds) {
    const log = (line: string): void => void annotate(line);
    const { runs, failures } = await fuzzTexts({ count: TEXTS, seed, log });
    assert.deepEqual(failures, [], failures.join('\n'));
    assert.equal(runs, TEXTS);
  }
});
