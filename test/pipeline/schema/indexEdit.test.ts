// Another unique index for an existing dataset: one commit, proved on all records, and old versions
// answer as before.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const CSV =
  'symbol,date,venue,v\nB,2020-01-01,X,1\nA,2020-01-01,X,2\nA,2020-01-01,Y,3\nA,2020-01-02,X,4\n';

async function change(server: TestServer, members: object, id = 'D') {
  return send(server, 'PATCH', `/datasets/WS/${id}`, members);
}

async function changed(server: TestServer, members: object): Promise<number> {
  const { status, text } = await change(server, members);
  assert.equal(status, 200, text);
  return server.tapedeck.services.lake.snapshot;
}

const rows = (server: TestServer, more = ''): Promise<string> =>
  read(server, `/data/WS/D?limit=20&format=csv${more}`);

test('an index is added, changed and removed; old versions stay', async () => {
  await using server = await startServer();
  const { snapshot } = await loaded(server, 'D', CSV, { uniqueIndex: 'false' });
  const first = await rows(server);
  assert.equal(first, CSV);
  const keyed = await changed(server, {
    columnMapping: { key: 'symbol', subkey: 'venue', date: 'date' },
    uniqueIndex: true,
  });
  const view = JSON.parse((await send(server, 'GET', '/datasets/WS/D')).text);
  assert.deepEqual(
    [view.columnMapping, view.uniqueIndex, view.records, view.schema.required],
    [{ key: 'symbol', subkey: 'venue', date: 'date' }, undefined, 4, ['symbol', 'venue', 'date']],
  );
  assert.equal((await rows(server)).split('\n').length, 6);
  const again = await loaded(server, 'D', CSV);
  assert.equal(again.recordsDuplicate, 4);
  const push = { symbol: 'A', date: '2020-01-01', venue: 'Y', v: 9 };
  const pushed = await send(server, 'POST', '/record/WS/D?duplicateKeyHandling=replace', push);
  assert.equal(pushed.status, 200, pushed.text);
  assert.match(await read(server, '/data/WS/D/A/Y?last=1'), /"v":9/);
  const bare = await changed(server, { columnMapping: {}, uniqueIndex: false });
  assert.equal((await rows(server)).split('\n').length, 6);
  assert.equal(await rows(server, `&asOf=${snapshot}`), first);
  assert.match(await rows(server, `&asOf=${keyed}`), /A,2020-01-01,Y,3/);
  assert.equal(await rows(server, `&asOf=${bare}`), await rows(server));
  const sql = encodeURIComponent('SELECT sum(v) AS s FROM D');
  assert.equal(await read(server, `/sql-query/WS?sqlQuery=${sql}`), '[{"s":16}]');
  assert.equal(await read(server, `/sql-query/WS?sqlQuery=${sql}&asOf=${snapshot}`), '[{"s":10}]');
  const changes = await send(server, 'GET', `/changes/WS/D?since=${snapshot}`);
  assert.equal(changes.status, 200, changes.text);
});

test('missing or repeated values prevent an index unless the request names a winner', async () => {
  await using server = await startServer();
  await loaded(server, 'D', CSV.replace('B,2020', ',2020'), { date: 'date', uniqueIndex: 'false' });
  const before = await rows(server);
  const blank = await change(server, { columnMapping: { key: 'symbol' }, uniqueIndex: true });
  assert.equal(blank.status, 400, blank.text);
  assert.match(blank.text, /1 records have no value of 'symbol'/);
  const repeated = await change(server, { columnMapping: { key: 'venue' }, uniqueIndex: true });
  assert.equal(repeated.status, 400, repeated.text);
  assert.match(repeated.text, /2 records repeat an index value, such as \(X, /);
  assert.equal(await rows(server), before);
  const last = { columnMapping: { date: 'date' }, uniqueIndex: true };
  await changed(server, { ...last, duplicateKeyHandling: 'replace' });
  assert.equal(await rows(server), 'symbol,date,venue,v\nA,2020-01-02,X,4\nA,2020-01-01,Y,3\n');
});

test('an invalid index is refused with its rule', async () => {
  await using server = await startServer();
  await loaded(server, 'D', CSV, { uniqueIndex: 'false' });
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ columnMapping: { key: 'nothing' } }, /columnMapping.key is not a property/],
    [{ columnMapping: { date: 'venue' } }, /columnMapping.date must have format date/],
    [{ columnMapping: {}, uniqueIndex: true }, /uniqueIndex needs/],
    [{ duplicateKeyHandling: 'ignore' }, /needs columnMapping or uniqueIndex/],
    [
      { columnMapping: { key: 'venue' }, schema: { properties: { w: { type: 'number' } } } },
      /one after/,
    ],
  ];
  for (const [members, rule] of refused) {
    const { status, text } = await change(server, members);
    assert.equal(status, 400, text);
    assert.match(text, rule);
  }
  assert.equal(await rows(server), CSV);
});
