// Pushes that a flush could not store, or that JSON.parse would shorten: refused with the place of the fault,
// and later pushes are stored.
import { expect } from 'vitest';
import { flushDataset } from '../../../jobs/run/flush.ts';
import { readPending } from '../../../store/lake/pushes/pendingTable.ts';
import { loaded, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

const INDEX = { key: 'k', date: 'd' };

async function push(
  server: TestServer,
  body: string,
  query = '',
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = {
    authorization: `Bearer ${server.secret}`,
    'content-type': 'application/json',
  };
  const url = `${server.base}/v1/record/WS/P${query}`;
  const answer = await fetch(url, { method: 'POST', body, headers });
  return { status: answer.status, text: await answer.text() };
}

async function flushed(server: TestServer): Promise<void> {
  const { ingestion, lake, pending, runner } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', 'P');
  if (dataset === undefined) throw new Error('P is missing');
  await runner.inTurn('WS', 'P', () => flushDataset(dataset, { pending, ingestion }));
}

const read = async (server: TestServer): Promise<string> =>
  (await send(server, 'GET', '/data/WS/P?limit=9&sort=asc')).text;

test('half of a surrogate pair is refused, in a value and in a key', async ({ server }) => {
  await loaded(server, 'P', 'k,d,s\nA,2024-01-01,x\n', INDEX);
  for (const record of [
    String.raw`{"k":"P","d":"2024-01-01","s":"cut \ud83d"}`,
    String.raw`{"k":"cut \ude00","d":"2024-01-01","s":"x"}`,
  ]) {
    const { status, text } = await push(server, record);
    expect([status, text]).toEqual([400, expect.stringContaining('half of a pair (surrogate)')]);
  }
  const whole = String.raw`{"k":"B","d":"2024-01-01","s":"\ud83d\ude00 \\ud83d"}`;
  expect((await push(server, whole)).status).toBe(200);
  await flushed(server);
  expect(JSON.parse(await read(server))).toEqual([
    { k: 'A', d: '2024-01-01', s: 'x' },
    { k: 'B', d: '2024-01-01', s: '😀 \\ud83d' },
  ]);
});

test('half of a pair that an earlier server accepted does not stop later flushes', async ({
  server,
}) => {
  await loaded(server, 'P', 'k,d,s\nA,2024-01-01,x\n', INDEX);
  await push(server, '{"k":"B","d":"2024-01-01","s":"HALF"}');
  const { database } = server.tapedeck.services;
  const documents = await database.selectFrom('pending').select('document').execute();
  const document = String(documents[0]?.document).replace('HALF', String.raw`\\\\ \ud83d`);
  await database.updateTable('pending').set({ document }).execute();
  const [rows] = await readPending(database);
  expect(rows?.rows[0]?.document).toMatchObject({ k: 'B', s: '\\\\ \uFFFD' });
});

test('a repeated member is refused with its place, at any depth', async ({ server }) => {
  await loaded(server, 'P', '{"k":"A","d":"2024-01-01","v":1,"o":{"a":1}}', INDEX);
  for (const record of [
    '{"k":"R","d":"2024-01-01","v":1,"v":2}',
    '{"k":"R","d":"2024-01-01","v":1,"o":{"a":1,"a":2}}',
    '[{"k":"S","d":"2024-01-01","v":1},{"k":"R","d":"2024-01-01","v":1,"\\u0076":2}]',
  ]) {
    const { status, text } = await push(server, record);
    expect([status, text]).toEqual([
      400,
      expect.stringMatching(/line 1, column \d+: member .* for the second/),
    ]);
  }
  const names = '{"k":"B","d":"2024-01-01","v":1,"o":{"a\\":":":\\"x\\":","b":["c: \\"d\\":"]}}';
  expect((await push(server, names)).status).toBe(200);
  await flushed(server);
  expect((await read(server)).match(/"k"/g)).toHaveLength(2);
});

test('counts that only a flush decides are null', async ({ server }) => {
  await loaded(server, 'P', 'k,d,v\nA,2024-01-01,1\n', INDEX);
  const record = '{"k":"A","d":"2024-01-01","v":2}';
  const first = JSON.parse((await push(server, record, '?duplicates=keep-first')).text) as object;
  expect(first).toMatchObject({ received: 1, stored: null, replaced: 0, duplicates: null });
  const replaced = JSON.parse((await push(server, record)).text) as object;
  expect(replaced).toMatchObject({ received: 1, stored: 1, replaced: null, duplicates: 0 });
});
