// Who waits for one of several places: as many as there is room for, no longer than their deadline, and no
// account before another.
import assert from 'node:assert/strict';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { Failure } from '../../../store/base/failure.ts';
import { type TimedItem, TimedQueue } from '../../../store/queues/timedQueue.ts';

/** Whoever still waits leaves at the end. */
const end = new AbortController();
afterAll(() => end.abort());

interface Item extends TimedItem {
  readonly bytes: number;
}

/** Those that are made room of are refused before anybody looks. */
class WatchedLine extends TimedQueue<Item, string> {
  override wait(one: Item): Promise<string> {
    const wait = super.wait(one);
    wait.catch(() => undefined);
    return wait;
  }
}

const lineOf = (places: number, leastWaitMs = 0): TimedQueue<Item, string> =>
  new WatchedLine({ places: () => places, leastWaitMs, bytesOf: ({ bytes }) => bytes });

const item = (account: string, deadlineMs = 60_000, bytes = 1): Item => ({
  account,
  deadlineMs,
  bytes,
  signal: end.signal,
});

/** How many were refused, and how. */
async function refusals(waits: readonly Promise<unknown>[]): Promise<readonly Failure[]> {
  const open = Symbol('open');
  const all = await Promise.all(
    waits.map((wait) =>
      Promise.race([
        wait.then(
          () => open,
          (error: unknown) => error,
        ),
        after(20, open),
      ]),
    ),
  );
  return all.filter((one): one is Failure => one instanceof Failure);
}

test('an account that is alone has the whole line, and the next one is refused', async () => {
  const line = lineOf(2);
  const waits = Array.from({ length: 5_001 }, () => line.wait(item('a')));
  const refused = await refusals(waits);
  assert.deepEqual(
    refused.map(({ type }) => type),
    ['Busy'],
  );
  assert.equal(line.size, 5_000);
});

test('a full line makes room for another account at the expense of who has most in it', async () => {
  const line = lineOf(2);
  const first = Array.from({ length: 5_000 }, () => line.wait(item('a')));
  const second = Array.from({ length: 10 }, () => line.wait(item('b')));
  assert.equal((await refusals(second)).length, 0);
  const refused = await refusals(first);
  assert.equal(refused.length, 10);
  assert.ok(refused.every(({ type }) => type === 'Busy'));
  // The last that came goes first.
  assert.equal((await refusals(first.slice(0, 4_990))).length, 0);
});

test('long statements fill the line too', async () => {
  const line = lineOf(2);
  const waits = Array.from({ length: 70 }, () => line.wait(item('a', 60_000, 1024 ** 2)));
  assert.equal((await refusals(waits)).length, 70 - 64);
});

test('what can not be answered in time is refused at once, with the time to come again', async () => {
  const line = lineOf(2);
  line.recordMs(1_000);
  const waits = Array.from({ length: 21 }, () => line.wait(item('a', 10_000)));
  assert.equal((await refusals(waits)).length, 0);
  // 21 are ahead, two run at a time, and each takes a second.
  const late = line.wait(item('a', 10_000));
  await assert.rejects(late, { type: 'Busy', waitMs: 10_500 });
  // Another account has its turn after each of the first one's.
  assert.equal((await refusals([line.wait(item('b', 10_000))])).length, 0);
});

test('nobody waits longer than the deadline of the question, but the server itself', async () => {
  const line = lineOf(1);
  line.recordMs(3_000);
  const own = line.wait(item('', 30));
  const late = line.wait(item('a', 30));
  await expect(late).rejects.toMatchObject({ type: 'Busy', waitMs: expect.any(Number) as number });
  assert.equal(line.size, 1);
  assert.ok(line.assign(() => 'place', true));
  assert.equal(await own, 'place');
});

test('a few slow items do not refuse a thousand quick ones', async () => {
  const line = lineOf(2);
  for (let at = 0; at < 40; at += 1) line.recordMs(at % 20 === 0 ? 30_000 : 10);
  const waits = Array.from({ length: 1_000 }, () => line.wait(item('a', 30_000)));
  assert.equal((await refusals(waits)).length, 0);
});

test('a caller who left is not waited for', async () => {
  const line = lineOf(1);
  const left = new AbortController();
  const wait = line.wait({ ...item('a'), signal: left.signal });
  left.abort();
  await assert.rejects(wait, { type: 'TimedOut' });
  await assert.rejects(line.wait({ ...item('a'), signal: left.signal }), { type: 'TimedOut' });
  assert.equal(line.size, 0);
});

test('a short deadline does not make a short wait', async () => {
  const line = lineOf(1, 60_000);
  line.recordMs(1_000);
  const waits = Array.from({ length: 20 }, () => line.wait(item('a', 5)));
  await after(50);
  assert.equal((await refusals(waits)).length, 0);
});
