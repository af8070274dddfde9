// Progress of running work: its speed and the time left.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { paceOf } from '../../cli/print/progress.ts';

const state = { percent: 25, status: 'VALIDATING', bytes: 200_000_000, records: 0 };

test('a quarter in ten seconds is 5 MB a second, with thirty seconds left', () => {
  assert.deepEqual(paceOf(state, 10), {
    seconds: 10,
    bytesDone: 50_000_000,
    bytesPerSecond: 5_000_000,
    secondsLeft: 30,
  });
});

test('the time left is not estimated at the very beginning, and is not reported at the end', () => {
  assert.equal(paceOf({ ...state, percent: 2 }, 1).secondsLeft, undefined);
  assert.equal(paceOf({ ...state, percent: 100 }, 1).secondsLeft, undefined);
  assert.equal(paceOf(state, 0).bytesPerSecond, 0);
});
