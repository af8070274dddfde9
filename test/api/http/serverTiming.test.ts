// `Server-Timing` has the times of the stages of a read, for the owner of all its data alone.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startServer } from '../../base/server.ts';
import { send } from '../../base/client.ts';

const STAGES = ['admit', 'parse', 'plan', 'hold', 'run', 'settle'];

const stagesOf = (header: string | null): readonly string[] =>
  header === null ? [] : header.split(', ').map((part) => part.replace(/;dur=[\d.]+$/, ''));

test('a series, a query and a quote have the times of all stages, and others see none', async () => {
  await using server = await startServer();
  const day = { symbol: 'AAA', date: '2024-02-28', open: 1, high: 2, low: 1, close: 2, volume: 9 };
  for (const place of ['WS/D', 'CORE/HISTORICAL_PRICES']) {
    const { status, text } = await send(server, 'POST', `/data/${place}?wait=true`, [day]);
    assert.equal(status, 200, text);
  }
  const { accounts } = server.tapedeck.services;
  const other = await accounts.createAccount('other', 'scale');
  const token = await accounts.createToken(other, 'secret');
  const core = '/data/CORE/HISTORICAL_PRICES/AAA?last=1';
  for (const path of [
    '/data/WS/D/AAA?last=1',
    core,
    '/sql-query/WS?sqlQuery=SELECT%20*%20FROM%20D',
  ]) {
    const answer = await fetch(`${server.base}/v1${path}&token=${server.secret}`);
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(stagesOf(answer.headers.get('server-timing')), STAGES, path);
  }
  const answer = await fetch(`${server.base}/v1${core}&token=${token.text}`);
  assert.equal(answer.status, 200, await answer.text());
  assert.equal(answer.headers.get('server-timing'), null);
});
