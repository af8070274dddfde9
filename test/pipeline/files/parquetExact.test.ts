// Values of Parquet that DuckDB would round, cut or rename: they are stored exactly, or the answer has the
// reason.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { get, load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { parquetOf } from '../../soak/fuzz/http/bases.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Loads, and returns the answer. */
async function answerOf(
  dataset: string,
  body: Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await load(server, dataset, body, query);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, text]);
  return JSON.parse(text) as Answer;
}

interface Answer {
  readonly stored: number;
  readonly rejected: number;
  readonly rejects: readonly { readonly line: number; readonly error: string }[];
  readonly inferred: readonly string[];
}

test('integers and decimals that no double keeps are rejected by a number', async () => {
  await loaded(server, 'NUMBERS', 'k,v\nz,0.5\n', { key: 'k' });
  const exact = await parquetOf(`SELECT * FROM (VALUES ('a', 9007199254740992),
    ('b', -9007199254740992), ('c', 1000000000000000000)) AS t(k, v)`);
  expect(await loaded(server, 'NUMBERS', exact)).toMatchObject({ recordsIngested: 3 });
  const schema = { properties: { k: { type: 'string' }, v: { type: 'number' } } };
  const dataset = { datasetId: 'DECLARED', schema, columnMapping: { key: 'k' } };
  expect((await send(server, 'POST', '/datasets/WS', { dataset })).status).toBe(200);
  const rounded = await parquetOf(`SELECT * FROM (VALUES ('a', 9007199254740993::DECIMAL(38, 4)),
    ('b', 1.2345::DECIMAL(38, 4)), ('c', 12345678901234567.8901::DECIMAL(38, 4))) AS t(k, v)`);
  const { rejects } = await answerOf('DECLARED', rounded);
  const reason = `validation failed: property 'v' should be number, not`;
  expect(rejects).toEqual([
    { line: 1, error: `${reason} "9007199254740993.0000"` },
    { line: 3, error: `${reason} "12345678901234567.8901"` },
  ]);
});

test('volumes of market inputs that no double keeps are rejected', async () => {
  const file = await parquetOf(`SELECT * FROM (VALUES ('AAA', DATE '2024-01-02', 1.5, 1.5, 1.5, 1.5,
    9007199254740993), ('BBB', DATE '2024-01-02', 1.5, 1.5, 1.5, 1.5, 9007199254740992))
    AS t(symbol, date, open, high, low, close, volume)`);
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(file) });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([
    200,
    expect.stringContaining('not \\"9007199254740993\\"'),
  ]);
});

test('timestamps in an inferred date load at midnight, and are rejected otherwise', async () => {
  await loaded(server, 'DAYS', 'k,d,v\na,2024-01-01,1\n', { key: 'k', date: 'd' });
  const file = await parquetOf(`SELECT * FROM (VALUES ('b', TIMESTAMP '2024-01-02', 1),
    ('c', TIMESTAMP '2024-01-02 03:04:05', 2)) AS t(k, d, v)`);
  const job = await loaded(server, 'DAYS', file);
  expect([job.recordsIngested, job.recordsInvalid]).toEqual([1, 1]);
  const answer = await get(server, '/data/WS/DAYS?limit=9');
  expect(await answer.text()).toContain('{"k":"b","d":"2024-01-02","v":1}');
});

test('UUIDs and times with an offset in dates and numbers are rejected in words', async () => {
  const targets = { D: ['d', '2024-01-01'], N: ['n', '1.5'], I: ['i', '5'] } as const;
  for (const [id, [name, value]] of Object.entries(targets)) {
    for (const sql of ['uuid()', "'12:34:56+02'::TIMETZ", "'nan'::DOUBLE", 'true', 'NULL::UUID']) {
      const dataset = `${id}_${sql.replaceAll(/\W/g, '')}`;
      await loaded(server, dataset, `k,${name}\na,${value}\n`, { key: 'k' });
      const answer = await load(
        server,
        dataset,
        await parquetOf(`SELECT 'b' AS k, ${sql} AS ${name}`),
      );
      const text = await answer.text();
      expect([dataset, text]).toEqual([dataset, expect.not.stringMatching(/Error|trim|strlen/)]);
    }
  }
  expect(await read(server, '/data/WS/D_uuid?limit=9')).toContain('2024-01-01');
});
