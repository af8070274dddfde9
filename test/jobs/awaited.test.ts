// Jobs whose dependencies are unavailable.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { retryWhileAway } from '../../jobs/run/retryWhileAway.ts';
import { Unavailable, Failure } from '../../store/base/failure.ts';

const never = new AbortController().signal;

test('a job retries while a dependency is unavailable, but not for ever or after an error', async () => {
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
  assert.equal(tries, 2, 'one retry, and then it was unavailable for too long');
  tries = 0;
  await assert.rejects(retryWhileAway(failing(new Failure('Busy', 'wrong'), 1), never), /wrong/);
  assert.equal(tries, 1);
});

test('a cancelled job stops waiting', async () => {
  const stop = new AbortController();
  const waiting = retryWhileAway(async () => {
    setImmediate(() => stop.abort());
    throw new Unavailable('it is away');
  }, stop.signal);
  await assert.rejects(waiting, { name: 'AbortError' });
});
