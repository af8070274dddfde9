// Uses of properties of exact types: aggregates, transforms, charts, expectations, views and market data.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { get, loaded, read, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

const decimal = (precision: number, scale: number): object => ({
  type: 'number',
  format: 'decimal',
  precision,
  scale,
});

const PROPERTIES = {
  k: { type: 'string' },
  n: { type: 'string', format: 'date-time-ns' },
  p: decimal(18, 4),
  h: { type: 'integer', format: 'int128' },
};

async function createDataset(server: TestServer, more: object = {}): Promise<void> {
  const mapping = { key: 'k', date: 'n' };
  const dataset = {
    datasetId: 'T',
    schema: { properties: PROPERTIES },
    columnMapping: mapping,
    ...more,
  };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  assert.equal(status, 200, text);
}

const CSV = `k,n,p,h
A,2024-01-02T14:30:00.000000001Z,0.1000,1
A,2024-01-02T14:30:00.000000002Z,0.2000,18446744073709551616
A,2024-01-03T14:30:00.000Z,12345678901234.5678,-3
`;

const json = async (
  server: TestServer,
  path: string,
): Promise<readonly Record<string, unknown>[]> =>
  JSON.parse(await read(server, path)) as readonly Record<string, unknown>[];

test('are summed, differenced and aggregated with all their digits', async ({ server }) => {
  await createDataset(server);
  await loaded(server, 'T', CSV);
  const of = async (query: string, name: string): Promise<readonly unknown[]> =>
    (await json(server, `/data/WS/T/A?last=9&sort=asc&${query}`)).map((row) => row[name]);
  expect(await of('transform=diff', 'p')).toEqual([null, 0.1, '12345678901234.3678']);
  expect(await of('transform=cumul', 'p')).toEqual([0.1, 0.3, '12345678901234.8678']);
  expect(await of('transform=rdiff', 'p')).toEqual([null, 1, 61_728_394_506_171.836]);
  expect(await of('collapse=annual|sum', 'p')).toEqual(['12345678901234.8678']);
  expect(await of('collapse=daily|max', 'p')).toEqual([0.2, '12345678901234.5678']);
  expect(await of('collapse=annual|min', 'h')).toEqual([-3]);
  expect(await of('collapse=daily|last', 'n')).toEqual([
    '2024-01-02T14:30:00.000000002Z',
    '2024-01-03T14:30:00.000Z',
  ]);
  const parquet = await get(server, '/data/WS/T/A?last=9&transform=cumul&format=parquet');
  expect(parquet.status).toBe(200);
});

test('are rendered as charts', async ({ server }) => {
  await createDataset(server);
  await loaded(server, 'T', CSV);
  for (const column of ['p', 'h']) {
    const svg = await read(server, `/data/WS/T/A?last=9&format=svg&chartColumn=${column}`);
    expect(svg).toContain('<svg');
  }
  expect(await read(server, '/data/WS/T/A?last=9&format=vega-lite&chartColumn=p')).toContain(
    '12345678901234.5',
  );
});

test('have expectations, go to quarantine, and leave it whole', async ({ server }) => {
  const expectations = [
    { range: { property: 'p', min: 0.15 }, action: 'quarantine' },
    { range: { property: 'n', min: '0001-01-01', max: '2261-01-01' }, action: 'reject' },
    { compare: ['p', '>', 'h'], action: 'warn' },
    { oneOf: { property: 'h', values: [1, 2, -3] }, action: 'warn' },
  ];
  await createDataset(server, { expectations });
  const job = await loaded(server, 'T', CSV);
  expect(job).toMatchObject({ recordsIngested: 2, recordsQuarantined: 1 });
  await send(server, 'PATCH', '/datasets/WS/T', { expectations: [] });
  const released = await send(server, 'POST', '/quarantine/WS/T/release');
  expect(released).toMatchObject({ status: 200 });
  expect(await read(server, '/data/WS/T/A?last=9&sort=asc&format=csv')).toBe(CSV);
});

test('are columns of views, with their types', async ({ server }) => {
  await createDataset(server);
  await loaded(server, 'T', CSV);
  const view = await send(server, 'POST', '/views/WS', {
    view: { name: 'V', query: 'SELECT k, n, p, h FROM T' },
  });
  expect([view.status, view.text]).toEqual([200, expect.anything()]);
  expect(await read(server, '/data/WS/V?last=9&sort=asc&format=csv')).toContain(
    '12345678901234.5678',
  );
});

test('are prices of the market', async ({ server }) => {
  const properties = {
    symbol: { type: 'string' },
    priceDate: { type: 'string', format: 'date' },
    close: decimal(18, 6),
    volume: { type: 'integer', format: 'int128' },
  };
  const mapping = { key: 'symbol', date: 'priceDate' };
  const dataset = {
    datasetId: 'HISTORICAL_PRICES',
    schema: { properties },
    columnMapping: mapping,
  };
  const { status, text } = await send(server, 'POST', '/datasets/CORE', { dataset });
  assert.equal(status, 200, text);
  const csv =
    'symbol,priceDate,close,volume\nZZZ,2020-08-28,499.230000,46907479\nZZZ,2020-08-31,129.04,7\n';
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: csv });
  assert.equal(answer.status, 200, await answer.text());
  const chart = await json(server, '/stock/ZZZ/chart/max?filter=date,close,volume');
  expect(chart).toEqual([
    { date: '2020-08-28', close: 499.23, volume: 46_907_479 },
    { date: '2020-08-31', close: 129.04, volume: 7 },
  ]);
});
