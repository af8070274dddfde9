// Cases of the series endpoints beyond transcripts: many queries, and keys longer than a page.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startServer } from '../../base/server.ts';

test('a request has at most 2,000 queries: datasets by keys', async () => {
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

test('a key that is longer than its cache answers as its files do', async () => {
  await using server = await startServer();
  const day = (at: number): string =>
    new Date(Date.UTC(2010, 0, 1) + at * 86_400_000).toISOString().slice(0, 10);
  const rows = Array.from({ length: 1_500 }, (_, at) => `K,${day(at)},${at}`);
  const url = `${server.base}/v1/data/WS/LONG`;
  const load = `${url}?wait=true&key=k&date=d&token=${server.secret}`;
  const loaded = await fetch(load, { method: 'POST', body: `k,d,v\n${rows.join('\n')}\n` });
  assert.equal(loaded.status, 200, await loaded.text());
  const ask = async (query: string, cache: boolean): Promise<string> => {
    const answer = await fetch(`${url}/K?${query}&cache=${cache}&token=${server.publishable}`);
    return answer.text();
  };
  // 128 and 1,024 are depths of a page; beside, within and beyond them.
  const counts = [1, 127, 128, 129, 500, 1_000];
  const offsets = [0, 1, 127, 128, 900, 1_023, 1_024, 1_400];
  const queries = [
    ...counts.flatMap((last) => offsets.map((offset) => `last=${last}&offset=${offset}`)),
    ...counts.map((last) => `last=${last}&sort=asc`),
    'first=3',
    'limit=5&sort=asc',
    ...[0, 475, 476, 477, 1_371, 1_372, 1_373, 1_490].flatMap((at) => [
      `from=${day(at)}`,
      `to=${day(at)}`,
      `on=${day(at)}`,
      `from=${day(at)}&to=${day(at + 20)}&sort=asc`,
      `to=${day(at)}&limit=3`,
    ]),
  ];
  for (const query of queries) {
    const files = await ask(query, false);
    for (let time = 0; time < 2; time += 1) assert.equal(await ask(query, true), files, query);
  }
  const { hits } = server.tapedeck.services.series.cache.state();
  assert.ok(hits > queries.length, `${hits} reads from memory`);
});

test('an hour of a day is not the day: a value that a column cannot hold equals no value of it', async () => {
  await using server = await startServer();
  const url = `${server.base}/v1/data/WS/DAYS`;
  const body = 'k,d,paid,n\nA,2024-01-02,2023-08-01,2\nA,2024-01-03,,3\n';
  const load = `${url}?wait=true&key=k&date=d&token=${server.secret}`;
  const loaded = await fetch(load, { method: 'POST', body });
  assert.equal(loaded.status, 200, await loaded.text());
  const days = async (condition: string): Promise<readonly string[]> => {
    const queryText = `subattribute=${encodeURIComponent(condition)}&last=9&sort=asc`;
    const answer = await fetch(`${url}/A?${queryText}&token=${server.publishable}`);
    return ((await answer.json()) as readonly { readonly d: string }[]).map(({ d }) => d);
  };
  assert.deepEqual(await days('paid|2023-08-01'), ['2024-01-02']);
  assert.deepEqual(await days('paid~2023-08-01'), ['2024-01-03']);
  assert.deepEqual(await days('paid|2023-08-01T20:00:00.000Z'), []);
  assert.deepEqual(await days('paid~2023-08-01T20:00:00.000Z'), ['2024-01-02', '2024-01-03']);
  assert.deepEqual(await days('n|2.5'), []);
});
