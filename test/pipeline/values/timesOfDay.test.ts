// A time of the day as a type of properties: loaded, pushed, compared, ordered and answered as one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import * as arrow from 'apache-arrow';
import { expect } from 'vitest';
import { get, loaded, read, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    symbol: { type: 'string' },
    date: { type: 'string', format: 'date' },
    opens: { type: 'string', format: 'time' },
  },
};

async function createDataset(server: TestServer, datasetId: string): Promise<void> {
  const columnMapping = { key: 'symbol', date: 'date' };
  const dataset = { datasetId, schema: SCHEMA, columnMapping };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  assert.equal(status, 200, text);
}

const CSV = `symbol,date,opens
A,2024-01-02,9:30
B,2024-01-02,16:00:00.5
C,2024-01-02,
D,2024-01-02,08:00:00.000001
E,2024-01-02,25:00
F,2024-01-02,09:30:00+02:00
G,2024-01-02,2024-01-02 09:30:00
H,2024-01-02,09:30:00.1234567
`;

const sql = async (server: TestServer, query: string): Promise<unknown> =>
  JSON.parse(await read(server, `/sql-query/WS?sqlQuery=${encodeURIComponent(query)}`)) as unknown;

test('is declared by its owner, and nothing else is inferred as one', async ({ server }) => {
  await createDataset(server, 'SESSIONS');
  const job = await loaded(server, 'SESSIONS', CSV);
  expect(job).toMatchObject({ recordsIngested: 4, recordsInvalid: 4 });
  const log = await send(server, 'GET', `/jobs/WS/ingest/${job.jobId}/invalid-records-log`);
  expect(log.text).toContain(`property 'opens' should be time, not ""09:30:00+02:00""`);
  expect(await sql(server, 'SELECT symbol, opens FROM SESSIONS ORDER BY opens')).toEqual([
    { symbol: 'D', opens: '08:00:00.000001' },
    { symbol: 'A', opens: '09:30:00' },
    { symbol: 'B', opens: '16:00:00.5' },
    { symbol: 'C', opens: null },
  ]);
  const plain = 'symbol,date,opens\nA,2024-01-02,09:30\n';
  await loaded(server, 'INFERRED', plain, { key: 'symbol', date: 'date' });
  expect(await sql(server, 'DESCRIBE INFERRED')).toContainEqual({
    column_name: 'opens',
    column_type: 'VARCHAR',
  });
});

const COMPARED: readonly (readonly [string, readonly string[]])[] = [
  ["opens = '9:30'", ['A']],
  ["opens >= TIME '09:30:00' AND opens < '17:00'", ['A', 'B', 'P']],
  ["opens BETWEEN '08:00' AND '09:00'", ['D']],
  ["opens IN ('09:30:00', '12:15:00')", ['A', 'P']],
  ['hour(opens) = 16', ['B']],
  ["opens + INTERVAL 30 MINUTES = '10:00'", ['A']],
  ["CAST(opens AS VARCHAR) LIKE '12:%'", ['P']],
  ["date + opens > TIMESTAMP '2024-01-02 16:00:00'", ['B']],
  ['opens = (SELECT max(opens) FROM SESSIONS)', ['B']],
];

test('is compared and computed with in SQL, pushed records too', async ({ server }) => {
  await createDataset(server, 'SESSIONS');
  await loaded(server, 'SESSIONS', CSV);
  const pushed = [{ symbol: 'P', date: '2024-01-02', opens: '12:15:00' }];
  expect((await send(server, 'POST', '/record/WS/SESSIONS?wait=true', pushed)).status).toBe(200);
  for (const [condition, symbols] of COMPARED) {
    const query = `SELECT symbol FROM SESSIONS WHERE ${condition} ORDER BY symbol`;
    expect([condition, await sql(server, query)]).toEqual([
      condition,
      symbols.map((symbol) => ({ symbol })),
    ]);
  }
  const bad = [{ symbol: 'Q', date: '2024-01-02', opens: '24:00:00' }];
  const refused = await send(server, 'POST', '/record/WS/SESSIONS?wait=true', bad);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('opens');
  const odd = await get(
    server,
    `/sql-query/WS?sqlQuery=${encodeURIComponent("SELECT symbol FROM SESSIONS WHERE opens = '25:00'")}`,
  );
  expect(odd.status).toBe(400);
  expect(await sql(server, 'DESCRIBE SESSIONS')).toContainEqual({
    column_name: 'opens',
    column_type: 'TIME',
  });
});

test('has one spelling in every format, and can be loaded again from Parquet and Arrow', async ({
  server,
}) => {
  await createDataset(server, 'SESSIONS');
  await loaded(server, 'SESSIONS', CSV);
  const path = '/data/WS/SESSIONS/B?last=1';
  expect(JSON.parse(await read(server, path))).toMatchObject([{ opens: '16:00:00.5' }]);
  expect(await read(server, `${path}&format=csv`)).toContain('16:00:00.5');
  const stream = new Uint8Array(await (await get(server, `${path}&format=arrow`)).arrayBuffer());
  expect(arrow.tableFromIPC(stream).getChild('opens')?.get(0)).toBe(57_600_500_000n);
  const parquet = await (await get(server, `${path}&format=parquet`)).arrayBuffer();
  for (const [id, file] of [
    ['FROM_ARROW', stream],
    ['FROM_PARQUET', new Uint8Array(parquet)],
  ] as const) {
    await createDataset(server, id);
    await loaded(server, id, file);
    expect(await sql(server, `SELECT opens FROM ${id} WHERE opens > '16:00'`)).toEqual([
      { opens: '16:00:00.5' },
    ]);
  }
});

test('a property of texts becomes one of times, or the refusal names the record at fault', async ({
  server,
}) => {
  const plain = 'symbol,date,opens\nA,2024-01-02,9:30\nB,2024-01-02,\n';
  await loaded(server, 'P', plain, { key: 'symbol', date: 'date' });
  const edit = {
    schema: { properties: { opens: { type: 'string', format: 'time' } } },
    existing: 'update',
  };
  const response = await send(server, 'PATCH', '/datasets/WS/P?wait=true', edit);
  expect([response.status, response.text]).toEqual([200, expect.anything()]);
  expect(await sql(server, 'SELECT symbol, opens FROM P ORDER BY symbol')).toEqual([
    { symbol: 'A', opens: '09:30:00' },
    { symbol: 'B', opens: null },
  ]);
  const words = 'symbol,date,opens\nA,2024-01-02,noon\n';
  await loaded(server, 'W', words, { key: 'symbol', date: 'date' });
  const refused = await send(server, 'PATCH', '/datasets/WS/W?wait=true', edit);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('"noon\\" of record A');
});

test('is no date of an index', async ({ server }) => {
  const dataset = {
    datasetId: 'D',
    schema: SCHEMA,
    columnMapping: { key: 'symbol', date: 'opens' },
  };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  expect([status, text]).toEqual([
    400,
    expect.stringContaining('columnMapping.date must have format'),
  ]);
  const subkey = { ...dataset, columnMapping: { key: 'symbol', subkey: 'opens', date: 'date' } };
  await send(server, 'POST', '/datasets/WS', { dataset: subkey });
  await loaded(server, 'D', 'symbol,date,opens\nA,2024-01-02,9:30\nA,2024-01-02,16:00\n');
  const pushed = { symbol: 'A', date: '2024-01-02', opens: '12:15:00' };
  await send(server, 'POST', '/record/WS/D?wait=true', [pushed]);
  expect(JSON.parse(await read(server, '/data/WS/D/A/09:30:00?last=5'))).toHaveLength(1);
  expect(JSON.parse(await read(server, '/data/WS/D/A/12:15:00?last=5'))).toMatchObject([pushed]);
  const records = JSON.parse(await read(server, '/data/WS/D/A?last=5&subattribute=opens|16:00:00'));
  expect(records).toMatchObject([{ opens: '16:00:00' }]);
});

const TIMES: Readonly<Record<string, () => arrow.Vector>> = {
  SECONDS: () => arrow.vectorFromArray([34_200, 0, null], new arrow.TimeSecond()),
  MILLIS: () => arrow.vectorFromArray([34_200_000, 0, null], new arrow.TimeMillisecond()),
  MICROS: () => arrow.vectorFromArray([34_200_000_000n, 0n, null], new arrow.TimeMicrosecond()),
  NANOS: () => arrow.vectorFromArray([34_200_000_000_000n, 0n, null], new arrow.TimeNanosecond()),
};

const typeOf = (server: TestServer, id: string, name: string): unknown =>
  server.tapedeck.services.lake.directory.dataset('WS', id)?.schema.properties[name];

test('keeps its type from Parquet and from each unit of Arrow', async ({ server }) => {
  const file = await readFile(new URL('../inputs/typed/time.parquet', import.meta.url));
  await loaded(server, 'PARQUET', file, { key: 'k' });
  expect(typeOf(server, 'PARQUET', 'opens')).toEqual({ type: 'string', format: 'time' });
  expect(await sql(server, 'SELECT k, opens FROM PARQUET')).toEqual([{ k: 1, opens: '09:30:00' }]);
  for (const [id, createVector] of Object.entries(TIMES)) {
    const k = arrow.vectorFromArray(['a', 'b', 'c'], new arrow.Utf8());
    const bytes = arrow.tableToIPC(new arrow.Table({ k, opens: createVector() }), 'stream');
    await loaded(server, id, bytes, { key: 'k' });
    expect([id, typeOf(server, id, 'opens')]).toEqual([id, { type: 'string', format: 'time' }]);
    expect(await sql(server, `SELECT opens FROM ${id} ORDER BY k`)).toEqual([
      { opens: '09:30:00' },
      { opens: '00:00:00' },
      { opens: null },
    ]);
  }
});

test('becomes text where its file has nanoseconds that it could not keep', async ({ server }) => {
  const opens = arrow.vectorFromArray([34_200_000_000_001n], new arrow.TimeNanosecond());
  const k = arrow.vectorFromArray(['a'], new arrow.Utf8());
  const bytes = arrow.tableToIPC(new arrow.Table({ k, opens }), 'stream');
  await loaded(server, 'FINE', bytes, { key: 'k' });
  expect(await sql(server, 'SELECT opens FROM FINE')).toEqual([{ opens: '09:30:00.000000001' }]);
});

test('is loaded from JSON as from CSV', async ({ server }) => {
  await createDataset(server, 'SESSIONS');
  const records = [
    { symbol: 'A', date: '2024-01-02', opens: '9:30' },
    { symbol: 'B', date: '2024-01-02', opens: '25:00' },
    { symbol: 'C', date: '2024-01-02', opens: null },
  ];
  const job = await loaded(server, 'SESSIONS', JSON.stringify(records));
  expect(job).toMatchObject({ recordsIngested: 2, recordsInvalid: 1 });
  expect(await sql(server, 'SELECT symbol, opens FROM SESSIONS ORDER BY symbol')).toEqual([
    { symbol: 'A', opens: '09:30:00' },
    { symbol: 'C', opens: null },
  ]);
});
