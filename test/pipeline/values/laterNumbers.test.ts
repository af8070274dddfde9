// Numbers with a comma in files after the first one: they widen an inferred integer, and every load ends.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

interface Case {
  readonly files: readonly [first: string, second: string];
  readonly values: readonly unknown[];
}

const CASES: readonly Case[] = [
  { files: ['5', '1,5'], values: [5, 1.5] },
  { files: ['5', '1.234,5'], values: [5, 1_234.5] },
  { files: ['5', '1 234,5'], values: [5, 1_234.5] },
  { files: ['5', '-1,5'], values: [5, -1.5] },
  { files: ['5', '1,234'], values: [5, 1.234] },
  { files: ['5', '$1.5'], values: [5, 1.5] },
  { files: ['5', '(1.5)'], values: [5, -1.5] },
  { files: ['5', '1.5%'], values: [5, 1.5] },
];

for (const [at, { files, values }] of CASES.entries()) {
  test(`${files[1]} after ${files[0]}`, async () => {
    const [first, second] = files.map((value, day) => `A;2024-01-0${day + 2};${value}`);
    await loaded(server, `N${at}`, `symbol;date;w\n${first}\n`);
    await loaded(server, `N${at}`, `symbol;date;w\n${second}\n`);
    const rows = JSON.parse(await read(server, `/data/WS/N${at}?last=9&filter=w&sort=asc`)) as {
      readonly w: unknown;
    }[];
    assert.deepEqual(
      rows.map(({ w }) => w),
      values,
    );
  });
}

test('a text among later numbers with a comma is rejected with its line', async () => {
  await loaded(server, 'TEXT', 'symbol;date;w;q\nA;2024-01-02;5,5;1\n');
  const second = 'symbol;date;w;q\nA;2024-01-03;1,5;2\nB;2024-01-03;2,5;abc\n';
  const { recordsIngested, recordsInvalid } = await loaded(server, 'TEXT', second);
  assert.deepEqual([recordsIngested, recordsInvalid], [1, 1]);
  const keyed = { key: 'symbol', date: 'date' };
  await loaded(server, 'FLAG', 'symbol;date;w;flag\nA;2024-01-02;5,5;true\n', keyed);
  const flagged = 'symbol;date;w;flag\nA;2024-01-03;1,5;1\n';
  const answer = await load(server, 'FLAG', flagged);
  assert.notEqual(answer.status, 500, await answer.text());
});
