// A short run at the counts of continuous integration; `npm run soak month` plays a whole month.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../base/notes.ts';
import { seedsOf } from '../base/seeds.ts';
import { tableOf, verdictOf } from './diary.ts';
import { liveMonth } from './month.ts';

const DAYS = 2;
/** Files that reads open: fewer than the threshold of compaction, each with a file of deletes. */
const LIVE_FILES_MAX = 64;

test('two days of loads, corrections, upkeep, a full disk: all records equal the model', async (t) => {
  const [seed = 1] = seedsOf(t);
  const small = { keys: 40, daysBefore: 3, correctionsADay: 60, deletionsADay: 2, reads: 10 };
  const log = (): void => undefined;
  const { entries, skipped } = await liveMonth({ ...small, days: DAYS, seed, log });
  for (const line of tableOf(entries, 1).split('\n')) note(t, line);
  for (const line of verdictOf(entries).lines) note(t, line);
  assert.equal(entries.length, DAYS);
  for (const { day, filesLive } of entries) {
    assert.ok(filesLive <= LIVE_FILES_MAX, `day ${day}: ${filesLive} files are read`);
  }
  if (process.env['CI'] === 'true') assert.deepEqual(skipped, []);
  for (const what of skipped) note(t, `not tried: ${what}`);
});
