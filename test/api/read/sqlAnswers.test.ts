// A repeated query: its answer comes from memory, at the same price, until one of its datasets changes, and
// only for the same token.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { SqlAnswers } from '../../../query/sql/run/answers.ts';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const CSV = 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-02,2\n';
const INDEX = { key: 'symbol', date: 'date' };
const TOTAL = 'SELECT symbol, sum(v) AS total FROM P GROUP BY symbol ORDER BY symbol';

async function ask(
  { base }: TestServer,
  token: string,
  query: string,
): Promise<readonly [status: number, text: string, messages: string | null]> {
  const url = `${base}/v1/sql-query/WS?token=${token}`;
  const answer = await fetch(url, { method: 'POST', body: query });
  const messages = answer.headers.get('svccloud-messages-used');
  return [answer.status, await answer.text(), messages];
}

test('memory answers only the token with the same earlier query', async () => {
  await using server = await startServer();
  await loaded(server, 'P', CSV, INDEX);
  const { publishable, secret, tapedeck } = server;
  const first = await ask(server, publishable, TOTAL);
  assert.deepEqual(first.slice(0, 2), [200, '[{"symbol":"A","total":1},{"symbol":"B","total":2}]']);
  const moment = await ask(server, publishable, 'SELECT now() AS n, symbol FROM P');
  assert.equal(moment[0], 200);
  // From here on no file can be read.
  await tapedeck.services.sql.pool.close();
  assert.deepEqual(await ask(server, publishable, TOTAL), first);
  for (const [token, query] of [
    [secret, TOTAL],
    [publishable, `${TOTAL} LIMIT 1`],
    [publishable, 'SELECT now() AS n, symbol FROM P'],
  ] as const) {
    assert.equal((await ask(server, token, query))[0], 503, query);
  }
});

test('a change is visible immediately: a load, a push, a deletion, another price', async () => {
  await using server = await startServer();
  await loaded(server, 'P', CSV, INDEX);
  const { base, publishable, secret } = server;
  const totals = async (): Promise<string> => {
    const [, text] = await ask(server, publishable, TOTAL);
    assert.deepEqual(await ask(server, publishable, TOTAL), await ask(server, publishable, TOTAL));
    return [...text.matchAll(/"total":(\d+)/g)].map(([, total]) => total).join();
  };
  const send = async (method: string, path: string, body?: string): Promise<void> => {
    const url = `${base}/v1${path}${path.includes('?') ? '&' : '?'}token=${secret}`;
    const answer = await fetch(url, { method, ...(body === undefined ? {} : { body }) });
    assert.equal(answer.status, 200, await answer.text());
  };
  assert.equal(await totals(), '1,2');
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-03,10\n');
  assert.equal(await totals(), '11,2');
  await send('POST', '/record/WS/P', '[{"symbol":"B","date":"2024-01-04","v":30}]');
  assert.equal(await totals(), '11,32');
  await send('DELETE', '/data/WS/P/A?purge=true');
  assert.equal(await totals(), '32');
  const [, , cheap] = await ask(server, publishable, TOTAL);
  await send('PATCH', '/datasets/WS/P', '{"weight":7}');
  const [, , dear] = await ask(server, publishable, TOTAL);
  assert.deepEqual([cheap, dear], ['1', '7']);
});

test('the cache is bounded by bytes; the least recently used answer is evicted first', async () => {
  const answers = new SqlAnswers(10_000);
  /** True if the answer had to be read. */
  const isRead = async (
    name: string,
    tableId: number,
    bytes = 2_000,
    meanwhile = () => {},
  ): Promise<boolean> => {
    let read = false;
    await answers.find(name, [tableId], async () => {
      read = true;
      meanwhile();
      return { objects: 1, bytes: new Uint8Array(bytes) };
    });
    return read;
  };
  for (const name of ['a', 'b', 'c', 'd']) assert.ok(await isRead(name, 1));
  assert.ok(!(await isRead('a', 1)));
  assert.ok(await isRead('e', 2));
  assert.ok(answers.bytes <= 10_000);
  assert.deepEqual([await isRead('a', 1), await isRead('e', 2)], [false, false]);
  assert.ok(await isRead('b', 1), 'it was evicted');
  for (const _ of [1, 2]) assert.ok(await isRead('long', 1, 9_999), 'it does not fit');
  assert.ok(await isRead('late', 2, 1, () => answers.evictTables([1])));
  assert.ok(await isRead('late', 2, 1), 'a dataset changed meanwhile');
  assert.ok(!(await isRead('late', 2, 1)));
  answers.evictTables([1, 2]);
  assert.equal(answers.bytes, 0);
});
