// Two days of a few schedules with faults and kills; `npm run soak schedules` plays a month of 500.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { scheduledMonth } from './scheduledMonth.ts';

test('every due time runs once, or by the setting of its schedule, despite kills', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, summary } = await scheduledMonth({ schedules: 4, days: 2, seed });
    note(t, JSON.stringify(summary));
    assert.deepEqual(failures, [], `seed ${seed}`);
  }
});
