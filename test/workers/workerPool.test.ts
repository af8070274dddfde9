// Tasks in worker threads: turns of accounts, limits, deadlines, callers that leave, threads that end.
import assert from 'node:assert/strict';
import { onTestFinished, test } from 'vitest';
import { type WorkerCall, WorkerPool } from '../../workers/workerPool.ts';
import type { WorkerTask } from '../../workers/workerTask.ts';
import type { SleepInput } from './sleepTask.ts';

type SleepTask = WorkerTask<SleepInput, { readonly sleptMs: number }>;

const SLEEP: SleepTask = {
  file: new URL('./sleepTask.ts', import.meta.url),
  name: 'sleep',
  deadlineMs: 20_000,
  waitingMax: { account: 3, all: 5 },
  isLong: false,
};
const BACKTEST: SleepTask = { ...SLEEP, name: 'long sleep', isLong: true };

const never = new AbortController().signal;
const call = (
  account: string,
  ms: number,
  more: Partial<SleepInput> = {},
): WorkerCall<SleepInput> => ({
  account,
  input: { ms, ...more },
  signal: never,
});

function openPool(threads: number, heapMib?: number): WorkerPool {
  const pool = new WorkerPool(threads, heapMib);
  onTestFinished(() => pool.close());
  return pool;
}

test('accounts take turns, however much one of them has in its queue', async () => {
  const pool = openPool(1);
  const order: string[] = [];
  const run = async (account: string): Promise<void> => {
    await pool.run(SLEEP, call(account, 20));
    order.push(account);
  };
  await Promise.all([run('a'), run('a'), run('a'), run('a'), run('b')]);
  // Behind the one that runs and the one whose turn it is.
  assert.equal(order.indexOf('b'), 2);
});

test('a queue has a limit for an account and for all, and other tasks do not count', async () => {
  const pool = openPool(1);
  const running = pool.run(SLEEP, call('a', 50));
  const waiting = ['a', 'a', 'a', 'b', 'b'].map((account) => pool.run(SLEEP, call(account, 1)));
  await assert.rejects(pool.run(SLEEP, call('a', 1)), /The sleep queue is full \(5\)/);
  await assert.rejects(pool.run(SLEEP, call('c', 1)), /The sleep queue is full \(5\)/);
  assert.equal(
    (await pool.run(BACKTEST, call('a', 1)).catch((error: unknown) => error)) instanceof Error,
    false,
  );
  await Promise.all([running, ...waiting]);
});

test('long tasks leave a thread free for the others', async () => {
  const pool = openPool(2);
  const leaving = new AbortController();
  const long = ['a', 'b', 'c'].map((account) =>
    pool.run(BACKTEST, { ...call(account, 10_000), signal: leaving.signal }),
  );
  assert.deepEqual(await pool.run(SLEEP, call('d', 1)), { sleptMs: 1 });
  leaving.abort(new Error('the client left'));
  for (const task of long) await assert.rejects(task, /the caller went away/);
});

test('a task that is too late, or whose caller leaves, ends with its thread', async () => {
  const pool = openPool(1);
  await assert.rejects(
    pool.run({ ...SLEEP, deadlineMs: 50 }, call('a', 60_000)),
    /the sleep took too long/,
  );
  const leaving = new AbortController();
  const running = pool.run(SLEEP, { ...call('a', 60_000), signal: leaving.signal });
  const waiting = pool.run(SLEEP, { ...call('b', 60_000), signal: leaving.signal });
  leaving.abort(new Error('the client left'));
  await assert.rejects(running, /the caller went away/);
  await assert.rejects(waiting, /the caller went away/);
  assert.deepEqual(await pool.run(SLEEP, call('a', 1)), { sleptMs: 1 });
});

test('a task that fails or fills its memory fails alone', async () => {
  const pool = openPool(2, 64);
  await assert.rejects(pool.run(SLEEP, call('a', 0, { failure: 'error' })), /the task failed/);
  const full = pool.run(SLEEP, call('a', 0, { failure: 'memory' }));
  await assert.rejects(full, /the sleep needs too much memory/);
  assert.deepEqual(await pool.run(SLEEP, call('a', 1)), { sleptMs: 1 });
});

test('a closed pool ends what runs and what waits', async () => {
  const pool = openPool(1);
  const tasks = [pool.run(SLEEP, call('a', 60_000)), pool.run(SLEEP, call('a', 60_000))];
  const outcomes = Promise.allSettled(tasks);
  await pool.close();
  for (const { status } of await outcomes) assert.equal(status, 'rejected');
  await assert.rejects(pool.run(SLEEP, call('a', 1)), /the server ends/);
});
