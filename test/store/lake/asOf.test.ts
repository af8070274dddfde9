// Time travel: the answer for an old snapshot stays the same for ever, byte for byte.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { get, loaded, read } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

/** Commits after the one that is read again. */
const LATER_COMMITS = 20;

test('asOf an old snapshot is byte-identical after many later commits', async () => {
  await using server = await startServer();
  const csv = (price: number, from: number): string => {
    const keys = Array.from({ length: 50 }, (_, at) => `K${from + at}`);
    return `symbol,date,price\n${keys.map((key) => `${key},2020-01-01,${price}\n`).join('')}`;
  };
  const first = await loaded(server, 'OLD', csv(1, 0));
  const path = `/data/WS/OLD?limit=100&format=csv`;
  const before = await read(server, path);
  const timeMs = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (let at = 1; at <= LATER_COMMITS; at += 1) {
    const replacing = at % 2 === 0 ? { duplicateKeyHandling: 'replace' } : {};
    await loaded(server, 'OLD', csv(at + 1, at % 30), replacing);
  }
  assert.notEqual(await read(server, path), before);
  assert.equal(await read(server, `${path}&asOf=${first.snapshot}`), before);
  assert.equal(await read(server, `${path}&asOf=${timeMs}`), before);
  const iso = encodeURIComponent(new Date(timeMs).toISOString());
  assert.equal(await read(server, `${path}&asOf=${iso}`), before);
  const answer = await get(server, `${path}&asOf=${first.snapshot}`);
  assert.equal(answer.headers.get('svccloud-snapshot'), String(first.snapshot));
});

test('asOf before the dataset was created is 404, an invalid asOf is 400', async () => {
  await using server = await startServer();
  await loaded(server, 'NEW', 'symbol,date\nA,2020-01-01\n');
  assert.equal((await get(server, '/data/WS/NEW?asOf=1')).status, 404);
  for (const asOf of ['yesterday', '-1', '2020-02-30', '99999']) {
    const answer = await get(server, `/data/WS/NEW?asOf=${asOf}`);
    assert.equal(answer.status, 400, asOf);
    assert.match(await answer.text(), /asOf/);
  }
});
