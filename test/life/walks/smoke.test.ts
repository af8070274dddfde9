import assert from 'node:assert/strict';
import { test } from '../../base/fixtures.ts';
import { startServer } from '../../base/server.ts';

test('a posted CSV is returned as a metered answer', async ({ server }) => {
  const at = `${server.base}/v1`;
  const csv = 'symbol,date,price\nA,2020-01-02,1.5\nA,2020-01-03,2\nB,2020-01-02,7\n';
  const loaded = await fetch(`${at}/data/WS/PRICES?wait=true&token=${server.secret}`, {
    method: 'POST',
    body: csv,
  });
  assert.equal(loaded.status, 200, await loaded.clone().text());
  const read = await fetch(`${at}/data/WS/PRICES/A?last=2&token=${server.publishable}`);
  assert.equal(
    await read.text(),
    '[{"symbol":"A","date":"2020-01-03","price":2},{"symbol":"A","date":"2020-01-02","price":1.5}]',
  );
  assert.equal(read.headers.get('svccloud-messages-used'), '2');
});

test('the brand of the headers is a setting', async () => {
  await using server = await startServer({ settings: { TAPEDECK_BRAND: 'acme' } });
  const answer = await fetch(`${server.base}/v1/time-series?token=${server.publishable}`);
  assert.equal(answer.headers.get('acmecloud-messages-used'), '0');
  assert.equal(answer.headers.get('svccloud-messages-used'), null);
});
