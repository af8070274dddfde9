// Polling: an answer that the caller has already costs nothing, until a record changes.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { loaded } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

test('two keys, queries, formats or interfaces of one dataset have different tags', async () => {
  await using server = await startServer();
  const rows = 'symbol,date,v\nA,2020-01-01,1\nB,2020-01-01,1\n';
  await loaded(server, 'D', rows, { key: 'symbol', date: 'date' });
  const tagOf = async (path: string, knownTag = ''): Promise<string> => {
    const headers = { authorization: `Bearer ${server.secret}`, 'if-none-match': knownTag };
    const answer = await fetch(`${server.base}/v1${path}`, { headers });
    await answer.arrayBuffer();
    assert.equal(answer.status, 200, path);
    return answer.headers.get('etag') ?? '';
  };
  const paths = ['/time-series/WS.D/A', '/time-series/WS.D/B', '/data/WS/D/A', '/data/WS/D/B'];
  const queries = ['last=1', 'last=2', 'last=2&sort=asc', 'last=1&filter=v', 'last=1&format=csv'];
  const all = paths.flatMap((path) => queries.map((query) => `${path}?${query}`));
  const tags: string[] = [];
  for (const path of all) tags.push(await tagOf(path, tags.join(', ')));
  assert.ok(
    tags.every((tag) => /^"[^"]+"$/.test(tag)),
    tags.join(' '),
  );
  assert.equal(new Set(tags).size, all.length);
});

test('304 costs no messages; a load, a push, its flush or another source is another tag', async () => {
  await using server = await startServer();
  await loaded(server, 'D', 'symbol,date,v\nA,2020-01-01,1\n', { key: 'symbol', date: 'date' });
  const { accountId, services } = server.tapedeck;
  const ask = (path: string, tag = '', method = 'GET', body?: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${server.secret}`, 'if-none-match': tag };
    return fetch(`${server.base}/v1${path}`, { method, headers, ...(body ? { body } : {}) });
  };
  const read = '/time-series/WS.D/A?last=5';
  let tag = '';
  const changed = async (change: string): Promise<void> => {
    const answer = await ask(read, tag);
    const text = await answer.text();
    assert.equal(answer.status, 200, `${change}: ${text}`);
    const next = answer.headers.get('etag') ?? '';
    assert.ok(next !== '' && next !== tag, change);
    tag = next;
    const { used } = services.ledger.balance(accountId);
    for (const matchingTag of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await ask(read, matchingTag);
      assert.deepEqual([again.status, await again.text()], [304, ''], change);
      assert.equal(again.headers.get('etag'), tag);
      assert.equal(again.headers.get('svccloud-messages-used'), '0');
    }
    assert.equal(services.ledger.balance(accountId).used, used, change);
    assert.equal((await ask('/time-series/WS.D/A?last=5&format=csv', tag)).status, 200, 'a format');
    assert.equal((await ask(`${read}&estimate=true`, tag)).status, 200, 'its price');
  };
  await changed('at first');
  await loaded(server, 'D', 'symbol,date,v\nA,2020-01-02,2\n');
  await changed('a load');
  const push = '{"symbol":"A","date":"2020-01-03","v":3}';
  assert.equal((await ask('/record/WS/D', '', 'POST', push)).status, 200);
  await changed('a push');
  const other = '{"symbol":"A","date":"2020-01-03","v":4}';
  const replace = '/record/WS/D?duplicateKeyHandling=replace';
  assert.equal((await ask(replace, '', 'POST', other)).status, 200);
  await changed('a push that replaces it');
  await services.runner.inTurn('WS', 'D', async () => undefined);
  await changed('its flush');
  const title = '{"dataset":{"source":"me"}}';
  assert.equal((await ask('/datasets/WS/D', '', 'PATCH', title)).status, 200);
  await changed('what the answer names as its source');
  assert.equal(
    (await ask(`${read}&queryId=q1`)).headers.get('etag'),
    null,
    'each run is another one',
  );
});
