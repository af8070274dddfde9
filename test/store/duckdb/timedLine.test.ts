// The queue for one of several places: with a maximum length, no wait longer than its deadline, and no
// account before another.
import assert from 'node:assert/strict';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { Failure } from '../../../store/base/failure.ts';
import { type TimedItem, TimedQueue } from '../../../store/queues/timedQueue.ts';

/** Cancels all waits at the end. */
const end = new AbortController();
afterAll(() => end.abort());

interface Item extends TimedItem {
  readonly bytes: number;
}

/** A queue that handles rejections: displaced items are refused before a test awaits them. */
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

/** The failures of the refused items. */
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

test('a single account may use the whole queue, and its next item is refused', async () => {
  const line = lineOf(2);
  const waits = Array.from({ length: 5_001 }, () => line.wait(item('a')));
  const refused = await refusals(waits);
  assert.deepEqual(
    refused.map(({ type }) => type),
    ['Busy'],
  );
  assert.equal(line.size, 5_000);
});

test('a full queue makes room for another account at the expense of the one with most items', async () => {
  const line = lineOf(2);
  const first = Array.from({ length: 5_000 }, () => line.wait(item('a')));
  const second = Array.from({ length: 10 }, () => line.wait(item('b')));
  assert.equal((await refusals(second)).length, 0);
  const refused = await refusals(first);
  assert.equal(refused.length, 10);
  assert.ok(refused.every(({ type }) => type === 'Busy'));
  // The last item is displaced first.
  assert.equal((await refusals(first.slice(0, 4_990))).length, 0);
});

test('long statements fill the queue too', async () => {
  const line = lineOf(2);
  const waits = Array.from({ length: 70 }, () => line.wait(item('a', 60_000, 1024 ** 2)));
  assert.equal((await refusals(waits)).length, 70 - 64);
});

test('an item that can not be served in time is refused immediately, with a time to retry', async () => {
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

test('no item waits longer than its deadline, except those of the server itself', async () => {
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

test('a cancelled item leaves the queue', async () => {
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
