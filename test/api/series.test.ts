// Limits of the series doors that no transcript can show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../server.ts';

test('a request is of 2,000 queries at most: datasets by keys', async () => {
  await using server = await startServer();
  const load = async (dataset: string): Promise<void> => {
    const url = `${server.base}/v1/data/WS/${dataset}?wait=true&key=k&date=d&token=${server.secret}`;
    const rows = Array.from({ length: 1_500 }, (_, at) => `K${at},2024-01-0${1 + (at % 2)},${at}`);
    const answer = await fetch(url, { method: 'POST', body: `k,d,v\n${rows.join('\n')}\n` });
    assert.equal(answer.status, 200, await answer.text());
  };
  await load('ONE');
  await load('TWO');
  const ask = async (datasets: string, keys: number): Promise<Response> => {
    const names = Array.from({ length: keys }, (_, at) => `K${at}`).join(',');
    return fetch(`${server.base}/v1/data/WS/${datasets}/${names}?token=${server.publishable}`);
  };
  const whole = await ask('ONE', 1_000);
  const records = (await whole.json()) as readonly { readonly k: string }[];
  assert.deepEqual(
    records.map(({ k }) => k),
    Array.from({ length: 1_000 }, (_, at) => `K${at}`),
  );
  const both = await ask('ONE,TWO', 800);
  assert.equal(((await both.json()) as readonly unknown[]).length, 1_600);
  assert.equal(both.headers.get('svccloud-messages-used'), '1600');
  const tooMany = await ask('ONE,TWO', 1_001);
  assert.equal(tooMany.status, 400);
  assert.deepEqual(await tooMany.json(), {
    error: '"key" and datasets must be at most 2000 queries',
  });
});
