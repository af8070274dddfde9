// What a job does while what it needs is away.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { retryWhileAway } from '../../jobs/run/retryWhileAway.ts';
import { Unavailable, Failure } from '../../store/base/failure.ts';

const never = new AbortController().signal;

test('a job waits for what is away, but not for ever, and not for what is wrong', async () => {
  let tries = 0;
  const failing = (failure: Failure, times: number) => async (): Promise<string> => {
    tries += 1;
    if (tries > times) return 'done';
    throw failure;
  };
  assert.equal(await retryWhileAway(failing(new Unavailable('it is away'), 1), never), 'done');
  tries = 0;
  await assert.rejects(
    retryWhileAway(failing(new Unavailable('it is away'), 9), never, 0),
    /it is away/,
  );
  assert.equal(tries, 2, 'once more after it was found away, and then it had been so for too long');
  tries = 0;
  await assert.rejects(retryWhileAway(failing(new Failure('Busy', 'wrong'), 1), never), /wrong/);
  assert.equal(tries, 1);
});

test('a job that is cancelled waits no longer', async () => {
  const stop = new AbortController();
  const waiting = retryWhileAway(async () => {
    setImmediate(() => stop.abort());
    throw new Unavailable('it is away');
  }, stop.signal);
  await assert.rejects(waiting, { name: 'AbortError' });
});
