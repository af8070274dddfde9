// Decimals, 128-bit integers and nanoseconds as types of properties: loaded or pushed values are returned
// digit for digit, in any format, or rejected with their line and column.
import assert from 'node:assert/strict';
import * as arrow from 'apache-arrow';
import { expect } from 'vitest';
import { get, load, loaded, read, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    k: { type: 'string' },
    d: { type: 'number', format: 'decimal', precision: 38, scale: 18 },
    p: { type: 'number', format: 'decimal', precision: 12, scale: 2 },
    h: { type: 'integer', format: 'int128' },
    n: { type: 'string', format: 'date-time-ns' },
  },
};

async function createDataset(
  server: TestServer,
  datasetId: string,
  columnMapping: object = { key: 'k' },
): Promise<void> {
  const dataset = { datasetId, schema: SCHEMA, columnMapping };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  assert.equal(status, 200, text);
}

const ROWS = [
  [
    'a',
    '12345678901234567890.123456789012345678',
    '0.10',
    '12345678901234567890123456789012345678',
  ],
  ['b', '-0.000000000000000001', '-9999999999.99', '-18446744073709551616'],
  ['c', '9007199254740993.100000000000000000', '2.50', '9007199254740993'],
  ['d', '0.000000000000000000', '0.00', '0'],
] as const;
const INSTANTS = [
  '2024-01-02T03:04:05.123456789Z',
  '1969-12-31T23:59:59.999999999Z',
  '2024-01-02T03:04:05.100Z',
  '2024-01-02T03:04:05.000001Z',
];

const CSV = `k,d,p,h,n\n${ROWS.map((row, at) => [...row, INSTANTS[at]].join(',')).join('\n')}\n`;
const JSON_RECORDS = `[${ROWS.map(
  ([k, d, p, h], at) => `{"k":"${k}","d":${d},"p":${p},"h":${h},"n":"${INSTANTS[at]}"}`,
).join(',')}]`;
const JSON_TEXTS = JSON.stringify(
  ROWS.map(([k, d, p, h], at) => ({ k, d, p, h, n: INSTANTS[at] })),
);

const sql = async (server: TestServer, query: string): Promise<unknown> =>
  JSON.parse(await read(server, `/sql-query/WS?sqlQuery=${encodeURIComponent(query)}`)) as unknown;

const csvOf = (server: TestServer, id: string): Promise<string> =>
  read(server, `/data/WS/${id}?limit=9&sort=asc&format=csv`);

test('keep all their digits from CSV and JSON to each format of answers', async ({ server }) => {
  const bodies = {
    CSV,
    JSON_RECORDS,
    JSON_TEXTS,
    LINES: JSON_RECORDS.slice(1, -1).replaceAll('},{', '}\n{'),
  };
  for (const [id, body] of Object.entries(bodies)) {
    await createDataset(server, id);
    const job = await loaded(server, id, body);
    expect([id, job.recordsIngested, job.recordsInvalid]).toEqual([id, 4, 0]);
    expect([id, await csvOf(server, id)]).toEqual([id, CSV]);
  }
  for (const format of ['csv', 'json', 'jsonl', 'parquet', 'arrow']) {
    const answer = await get(server, `/data/WS/CSV?limit=9&sort=asc&format=${format}`);
    const id = `BACK_${format.toUpperCase()}`;
    await createDataset(server, id);
    await loaded(server, id, new Uint8Array(await answer.arrayBuffer()));
    expect([format, await csvOf(server, id)]).toEqual([format, CSV]);
  }
});

test('are pushed as numbers or as texts, and read before and after their flush', async ({
  server,
}) => {
  for (const [id, body] of Object.entries({ JSON_RECORDS, JSON_TEXTS })) {
    await createDataset(server, id);
    for (const record of body.slice(1, -1).replaceAll('},{', '}\n{').split('\n')) {
      const url = `${server.base}/v1/record/WS/${id}?wait=true&token=${server.secret}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', body: `[${record}]`, headers });
      assert.equal(answer.status, 200, await answer.text());
    }
    expect([id, await csvOf(server, id)]).toEqual([id, CSV]);
  }
});

const REJECTED: readonly (readonly [string, string, string])[] = [
  ['d', '1.0000000000000000001', 'decimal(38,18)'],
  ['p', '0.105', 'decimal(12,2)'],
  ['p', '10000000000', 'decimal(12,2)'],
  ['p', 'abc', 'decimal(12,2)'],
  ['h', '1.5', 'integer of at most 38 digits'],
  ['h', '100000000000000000000000000000000000000', 'integer of at most 38 digits'],
  ['n', '2024-01-02T03:04:05.1234567891Z', 'date-time-ns'],
  ['n', '2024-02-30', 'date-time-ns'],
];

test('reject what they cannot hold, with its line and column', async ({ server }) => {
  await createDataset(server, 'CSV');
  await createDataset(server, 'LINES');
  for (const [column, value, word] of REJECTED) {
    for (const [id, body] of [
      ['CSV', `k,${column}\nx,\ny,${value}\n`],
      ['LINES', `{"k":"x"}\n${JSON.stringify({ k: 'y', [column]: value })}\n`],
    ] as const) {
      const job = await loaded(server, id, body);
      expect([id, value, job.recordsInvalid]).toEqual([id, value, 1]);
      const log = await send(server, 'GET', `/jobs/WS/ingest/${job.jobId}/invalid-records-log`);
      expect(log.text).toContain(`property '${column}' should be ${word}, not`);
      expect(log.text).toMatch(id === 'CSV' ? /3/ : /2/);
    }
  }
});

test('are computed and compared with in SQL', async ({ server }) => {
  await createDataset(server, 'T');
  await loaded(server, 'T', CSV);
  expect(await sql(server, 'DESCRIBE T')).toMatchObject([
    { column_name: 'k' },
    { column_name: 'd', column_type: 'DECIMAL(38,18)' },
    { column_name: 'p', column_type: 'DECIMAL(12,2)' },
    { column_name: 'h', column_type: 'HUGEINT' },
    { column_name: 'n', column_type: 'TIMESTAMP_NS' },
  ]);
  const one = 'SELECT sum(p) AS s, min(h) AS least, max(n) AS last, avg(p) AS mean FROM T';
  expect(await sql(server, one)).toEqual([
    {
      s: -9_999_999_997.39,
      least: '-18446744073709551616',
      last: '2024-01-02T03:04:05.123456789Z',
      mean: -2_499_999_999.3475,
    },
  ]);
  const conditions: readonly (readonly [string, readonly string[]])[] = [
    ['d = 9007199254740993.1', ['c']],
    ["d > '1'", ['a', 'c']],
    ['h > 9007199254740992', ['a', 'c']],
    ['h = 12345678901234567890123456789012345678', ['a']],
    ['p BETWEEN 0 AND 1', ['a', 'd']],
    ["n = '2024-01-02 03:04:05.123456789'", ['a']],
    ["n < TIMESTAMP '1970-01-01'", ['b']],
    ["n >= CAST('2024-01-02T03:04:05.1Z' AS TIMESTAMP_NS)", ['a', 'c']],
    ["CAST(k AS VARCHAR) = 'a' AND CAST('0.1' AS DECIMAL(12,2)) = p", ['a']],
    ['h % 2 = 1', ['c']],
  ];
  for (const [condition, keys] of conditions) {
    const rows = await sql(server, `SELECT k FROM T WHERE ${condition} ORDER BY k`);
    expect([condition, rows]).toEqual([condition, keys.map((k) => ({ k }))]);
  }
  expect(await sql(server, 'SELECT k FROM T ORDER BY h, k')).toEqual(
    ['b', 'd', 'c', 'a'].map((k) => ({ k })),
  );
  expect(await sql(server, 'SELECT k FROM T ORDER BY n DESC')).toEqual(
    ['a', 'c', 'd', 'b'].map((k) => ({ k })),
  );
});

test('are the date, the key and conditions of a series', async ({ server }) => {
  await createDataset(server, 'T', { key: 'h', subkey: 'p', date: 'n' });
  await loaded(server, 'T', CSV);
  await loaded(server, 'T', 'k,d,p,h,n\ne,1,2.5,9007199254740993,2024-01-02T03:04:05.100000001Z\n');
  const push = {
    k: 'f',
    d: '1',
    p: '2.50',
    h: '9007199254740993',
    n: '2024-01-02T03:04:05.100000002Z',
  };
  assert.equal((await send(server, 'POST', '/record/WS/T?wait=true', [push])).status, 200);
  const keys = async (path: string): Promise<string> =>
    (JSON.parse(await read(server, `/data/WS/T${path}`)) as readonly { readonly k: string }[])
      .map(({ k }) => k)
      .join('');
  expect(await keys('/9007199254740993?last=9')).toBe('fec');
  expect(await keys('/9007199254740993/2.5?last=9')).toBe('fec');
  expect(await keys('/9007199254740993/2.505?last=9')).toBe('');
  expect(await keys('?from=2024-01-01&to=2024-01-01&limit=9')).toBe('afecd');
  expect(await keys('?to=1970-01-01&from=1000-01-01&limit=9')).toBe('b');
  expect(await keys('?from=1000-01-01&limit=9&subattribute=d|1')).toBe('fe');
  // The push replaces the record of the same index, to the nanosecond.
  const again = { ...push, k: 'g', d: '2' };
  assert.equal(
    (await send(server, 'POST', '/record/WS/T?wait=true&duplicateKeyHandling=replace', [again]))
      .status,
    200,
  );
  expect(await keys('/9007199254740993?last=9')).toBe('gec');
  const csv = `k,d,p,h,n\nh,3,2.5,9007199254740993,2024-01-02T03:04:05.100000001Z\n`;
  await loaded(server, 'T', csv, { duplicateKeyHandling: 'replace' });
  expect(await keys('/9007199254740993?last=9')).toBe('ghc');
});

test('are refused with the place and the remedy when declared wrong', async ({ server }) => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [
      { type: 'string', format: 'decimal', precision: 3, scale: 1 },
      /v has format decimal and type string: use type number/,
    ],
    [
      { type: 'number', format: 'decimal' },
      /v is a decimal and needs precision \(1 to 38\) and scale/,
    ],
    [
      { type: 'number', format: 'decimal', precision: 3, scale: 4 },
      /v has scale 4, more than its precision 3/,
    ],
    [{ type: 'number', format: 'decimal', precision: 39, scale: 4 }, /precision/],
    [{ type: 'number', precision: 3 }, /v has precision or scale without format decimal/],
    [{ type: 'number', format: 'int128' }, /use type integer/],
    [{ type: 'integer', format: 'date-time-ns' }, /use type string/],
  ];
  for (const [v, message] of cases) {
    const dataset = { datasetId: 'X', schema: { properties: { k: { type: 'string' }, v } } };
    const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
    expect([status, text]).toEqual([400, expect.stringMatching(message)]);
  }
  assert.equal((await load(server, 'X', 'k,v\na,1\n')).status, 200);
});

test('columns become other types and back without losing a digit', async ({ server }) => {
  await loaded(server, 'T', 'k,v,r,t\na,9007199254740993,0.1,2024-01-02T03:04:05.123Z\n', {
    key: 'k',
  });
  const edit = (properties: object): ReturnType<typeof send> =>
    send(server, 'PATCH', '/datasets/WS/T?wait=true', {
      schema: { properties },
      existing: 'update',
    });
  const wide = {
    v: { type: 'integer', format: 'int128' },
    r: { type: 'number', format: 'decimal', precision: 10, scale: 4 },
    t: { type: 'string', format: 'date-time-ns' },
  };
  expect(await edit(wide)).toMatchObject({ status: 200 });
  expect(await csvOf(server, 'T')).toBe(
    'k,v,r,t\na,9007199254740993,0.1000,2024-01-02T03:04:05.123Z\n',
  );
  await loaded(server, 'T', 'k,v,r,t\nb,18446744073709551615,2.5,2024-01-02T03:04:05.000000001Z\n');
  const narrow = await edit({ v: { type: 'integer' } });
  expect(narrow).toMatchObject({
    status: 400,
    text: expect.stringContaining('18446744073709551615'),
  });
  expect(await edit({ t: { type: 'string', format: 'date-time' } })).toMatchObject({ status: 400 });
  expect(
    await edit({ v: { type: 'number', format: 'decimal', precision: 20, scale: 0 } }),
  ).toMatchObject({ status: 200 });
  expect(await edit({ v: { type: 'number' } })).toMatchObject({ status: 400 });
  expect(
    await edit({ v: { type: 'string' }, r: { type: 'number' }, t: { type: 'string' } }),
  ).toMatchObject({ status: 200 });
  expect(await csvOf(server, 'T')).toBe(
    `k,v,r,t\na,9007199254740993,0.1,2024-01-02T03:04:05.123Z
b,18446744073709551615,2.5,2024-01-02T03:04:05.000000001Z\n`,
  );
});

test('have the types of Parquet and Arrow', async ({ server }) => {
  await createDataset(server, 'T');
  await loaded(server, 'T', CSV);
  const stream = await (
    await get(server, '/data/WS/T?limit=9&sort=asc&format=arrow')
  ).arrayBuffer();
  const types = arrow
    .tableFromIPC(new Uint8Array(stream))
    .schema.fields.map(({ type }) => String(type));
  expect(types).toEqual([
    'Utf8',
    'Decimal[38e+18]',
    'Decimal[12e+2]',
    'Decimal[38e0]',
    'Timestamp<NANOSECOND, UTC>',
  ]);
});

test('are strings in JSON where a reader would round them, or where the query sets it', async ({
  server,
}) => {
  await createDataset(server, 'T');
  await loaded(server, 'T', CSV);
  const path = '/data/WS/T/c?last=1&filter=d,p,h';
  const auto = '"d":"9007199254740993.100000000000000000","p":2.50,"h":"9007199254740993"';
  const strings = auto.replace('2.50', '"2.50"');
  const query = encodeURIComponent("SELECT d, p, h FROM T WHERE k = 'c'");
  for (const one of [path, `/sql-query/WS?sqlQuery=${query}`]) {
    expect(await read(server, one)).toBe(`[{${auto}}]`);
    expect(await read(server, `${one}&jsonDecimals=string`)).toBe(`[{${strings}}]`);
    expect(await read(server, `${one}&jsonDecimals=string&format=jsonl`)).toBe(`{${strings}}\n`);
    expect(await read(server, `${one}&jsonDecimals=string&callback=f`)).toContain(
      `f([{${strings}}])`,
    );
    expect((await get(server, `${one}&jsonDecimals=number`)).status).toBe(400);
  }
  // Answers of many rows are written by DuckDB.
  const others = ['a', 'b', 'c', 'd', 'e', 'f'].map((alias) => `CROSS JOIN T AS ${alias}`);
  const many = `SELECT t.p FROM T AS t ${others.join(' ')} WHERE t.k = 'c'`;
  const body = await read(
    server,
    `/sql-query/WS?sqlQuery=${encodeURIComponent(many)}&jsonDecimals=string`,
  );
  expect(new Set((JSON.parse(body) as readonly { p: unknown }[]).map(({ p }) => p))).toEqual(
    new Set(['2.50']),
  );
});
