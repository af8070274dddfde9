// Accounts take turns at the child processes, and a slot whose process could not start recovers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { afterAll, test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { Failure } from '../../../store/base/failure.ts';
import { FairQueue } from '../../../store/queues/fairQueue.ts';

const failed: (readonly [string, number])[] = [];
const pool = new DuckDbPool({
  children: 2,
  memoryBytes: 128 * 1024 ** 2,
  threads: 1,
  onFailed: (account, ms) => failed.push([account, ms]),
});
afterAll(() => pool.close());

const SLOW = 'SELECT count(*) FROM range(100000000000) t(a), range(10) u(b) WHERE a * b % 7 = 3';

function ask(account: string, sql: string, deadlineMs = 20_000, signal?: AbortSignal) {
  const question = { files: [], statements: [sql], deadlineMs };
  return pool.forAccount(account).rows(signal === undefined ? question : { ...question, signal });
}

const failureOf = (request: Promise<unknown>): Promise<Failure | undefined> =>
  request.then(
    () => undefined,
    (error: unknown) => (error instanceof Failure ? error : undefined),
  );

test('six endless queries of one account do not block another one', async () => {
  await ask('b', 'SELECT 1');
  const stop = new AbortController();
  const endless = Array.from({ length: 6 }, () => failureOf(ask('a', SLOW, 60_000, stop.signal)));
  const began = performance.now();
  for (let time = 0; time < 5; time += 1) await ask('b', 'SELECT 1');
  const ms = performance.now() - began;
  assert.ok(ms < 15_000, `another account waited ${ms} ms`);
  assert.equal(pool.load().running, 2);
  assert.equal(pool.load().waiting, 4);
  stop.abort();
  for (const failure of await Promise.all(endless)) assert.equal(failure?.type, 'TimedOut');
  assert.equal(pool.load().waiting, 0);
});

test('the time of failed queries is reported, that of answered ones is not', async () => {
  failed.length = 0;
  await ask('c', 'SELECT 1');
  assert.equal((await failureOf(ask('c', SLOW, 300)))?.type, 'TimedOut');
  const [[account, ms] = ['', 0], ...more] = failed;
  assert.deepEqual([account, more.length], ['c', 0]);
  assert.ok(ms >= 290 && ms < 10_000, `${ms} ms`);
});

test('hundreds of one account wait; another one is answered; a cancelled query frees its place', async () => {
  const stop = new AbortController();
  const requests = Array.from({ length: 503 }, () =>
    failureOf(ask('d', SLOW, 3_600_000, stop.signal)),
  );
  assert.equal(pool.load().waiting, 501);
  assert.deepEqual(await ask('e', 'SELECT 2 AS n'), [[{ n: 2 }]]);
  stop.abort();
  for (const failure of await Promise.all(requests)) assert.equal(failure?.type, 'TimedOut');
  assert.equal(pool.load().waiting, 0);
  assert.deepEqual(await ask('d', 'SELECT 3 AS n'), [[{ n: 3 }]]);
});

test('accounts take turns, each in its own order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charAt(0), item);
  const turns = Array.from({ length: 7 }, () => queue.take(() => true));
  assert.deepEqual(turns, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  assert.equal(queue.size, 0);
});

test('without a free file descriptor a query is refused; with one the same slot answers', () => {
  const script = new URL('./fewFiles.ts', import.meta.url).pathname;
  const command = `ulimit -n 64; exec "$0" --disable-warning=ExperimentalWarning "$1"`;
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, script], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const lines = stdout.trim().split('\n');
  assert.deepEqual(lines.slice(1), ['ready false', 'answered 1', 'ready true'], stderr);
  assert.match(lines[0] ?? '', /^refused Busy: a query process could not be started: try again/);
});
