// Writes that need a whole load wait for their dataset's turn in a bounded queue.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** A write that needs a load, since a push does not compare it with stored records. */
const write = (server: TestServer, v: number, signal?: AbortSignal): Promise<Response> =>
  fetch(`${server.base}/v1/record/WS/D?duplicates=skip-identical&token=${server.secret}`, {
    method: 'POST',
    body: JSON.stringify({ symbol: 'A', date: '2020-01-02', v }),
    ...(signal === undefined ? {} : { signal }),
  });

test('a write is refused with Retry-After when the queue takes too long', async () => {
  await using server = await startServer();
  const { runner } = server.tapedeck.services;
  // Writes of the dataset take 6 seconds each.
  const never = new AbortController().signal;
  await runner.callers.run('WS', 'D', () => sleep(6_000), never);
  const gate = Promise.withResolvers<void>();
  const turn = runner.inTurn('WS', 'D', () => gate.promise);
  const waiting = Array.from({ length: 4 }, (_, at) => write(server, at));
  await sleep(300);
  const refused = await write(server, 9);
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /4 writes of dataset D are waiting: try again later/);
  const retryS = Number(refused.headers.get('retry-after'));
  assert.ok(retryS >= 5 && retryS <= 30, `Retry-After: ${retryS}`);
  gate.resolve();
  await turn;
  for (const answer of await Promise.all(waiting)) assert.equal(answer.status, 200);
  assert.equal((await write(server, 9)).status, 200, 'the queue has space again');
}, 30_000);

test('a write whose caller left before its turn is not done', async () => {
  await using server = await startServer();
  const { runner } = server.tapedeck.services;
  assert.equal((await write(server, 1)).status, 200);
  const gate = Promise.withResolvers<void>();
  const turn = runner.inTurn('WS', 'D', () => gate.promise);
  const leaver = new AbortController();
  const left = write(server, 2, leaver.signal).catch(() => 'left');
  const stayed = write(server, 3);
  await sleep(300);
  leaver.abort();
  assert.equal(await left, 'left');
  await sleep(200);
  gate.resolve();
  await turn;
  assert.equal((await stayed).status, 200);
  const rows = JSON.parse(await read(server, '/data/WS/D/A?last=9')) as { readonly v: number }[];
  assert.deepEqual(
    rows.map(({ v }) => v),
    [3, 1],
  );
});
