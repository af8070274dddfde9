// Two days of a few schedules with faults and kills; `npm run soak schedules` lives a month of 500.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { scheduledMonth } from './scheduledMonth.ts';

test('every due time happens once, or as its schedule says, whatever is killed', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, told } = await scheduledMonth({ schedules: 4, days: 2, seed });
    note(t, JSON.stringify(told));
    assert.deepEqual(failures, [], `seed ${seed}`);
  }
});
