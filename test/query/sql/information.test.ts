// `information_schema` gives tools the data of SHOW TABLES and DESCRIBE, about datasets and views, free of
// charge; no query over it can be stored, and a result with too many records is refused.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDataset } from '../../../store/lake/datasetEdits.ts';
import { DATASET_DEFAULTS } from '../../../store/lake/datasets/datasets.ts';
import { loaded, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { watch: false } });
  await loaded(server, 'P', 'symbol,date,close,open_at\nA,2024-01-02,1.5,2024-01-02T09:30:00Z\n');
  const view = { query: 'SELECT symbol, count(*) AS n FROM P GROUP BY symbol' };
  expect(
    (await send(server, 'POST', '/views/WS', { view: { ...view, name: 'BY_SYMBOL' } })).status,
  ).toBeLessThan(300);
});
afterAll(() => server.close());

type Rows = readonly Readonly<Record<string, unknown>>[];

async function ask(
  query: string,
  more = '',
): Promise<{ status: number; text: string; free: boolean }> {
  const path = `/v1/sql-query/WS?sqlQuery=${encodeURIComponent(query)}${more}`;
  const headers = { authorization: `Bearer ${server.secret}` };
  const answer = await fetch(`${server.base}${path}`, { headers });
  const free = answer.headers.get('svccloud-messages-used') === '0';
  return { status: answer.status, text: await answer.text(), free };
}

async function rows(query: string): Promise<Rows> {
  const { free, status, text } = await ask(query);
  expect([query, status, status === 200 ? '' : text, free]).toEqual([query, 200, '', true]);
  return JSON.parse(text) as Rows;
}

test('tables and views with their columns, as types of SQL', async () => {
  const mine = `FROM information_schema.tables WHERE table_schema = 'WS' ORDER BY table_name`;
  expect(await rows(`SELECT table_name, table_type ${mine}`)).toEqual([
    { table_name: 'BY_SYMBOL', table_type: 'VIEW' },
    { table_name: 'P', table_type: 'BASE TABLE' },
  ]);
  const columnRows = await rows(
    `SELECT c.column_name, c.ordinal_position AS n, c.is_nullable, c.data_type
     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE t.table_schema = 'WS' AND c.table_name = 'P' ORDER BY c.ordinal_position`,
  );
  const described = await rows('DESCRIBE P');
  expect(columnRows.map(({ column_name, data_type }) => [column_name, data_type])).toEqual(
    described.map(({ column_name, column_type }) => [column_name, column_type]),
  );
  expect(columnRows.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
  const named = await rows(
    `SELECT table_name FROM INFORMATION_SCHEMA.columns
     WHERE table_name IN ('BY_SYMBOL', 'Q') AND data_type = 'BIGINT'`,
  );
  expect(named).toEqual([{ table_name: 'BY_SYMBOL' }]);
});

test('objects and lists are reported as JSON, in every view of columns', async () => {
  await loaded(server, 'J', '[{"symbol":"A","o":{"a":1},"l":[1,2]}]', { key: 'symbol' });
  const json = [
    { column_name: 'o', column_type: 'JSON' },
    { column_name: 'l', column_type: 'JSON' },
  ];
  expect((await rows('DESCRIBE J')).filter(({ column_type }) => column_type === 'JSON')).toEqual(
    json,
  );
  expect(await rows('DESCRIBE SELECT o, l FROM J')).toEqual(json);
  const query = `SELECT column_name, data_type AS column_type FROM information_schema.columns
    WHERE table_name = 'J' AND data_type = 'JSON' ORDER BY ordinal_position`;
  expect(await rows(query)).toEqual(json);
  await send(server, 'DELETE', '/datasets/WS/J');
});

test('in every format, with system properties, and never from a cache', async () => {
  const query = `SELECT table_name FROM information_schema.tables WHERE table_schema = 'WS' ORDER BY 1`;
  expect((await ask(query, '&format=csv')).text).toBe('table_name\nBY_SYMBOL\nP\n');
  expect((await ask(query, '&schema=true')).text).toContain('"table_name"');
  expect((await ask(query, '&explain=true')).status).toBe(200);
  expect((await ask(query, '&includeSystemRecordProperties=true')).status).toBe(200);
  await loaded(server, 'Q', 'symbol,v\nA,1\n');
  expect((await ask(query, '&format=csv')).text).toBe('table_name\nBY_SYMBOL\nP\nQ\n');
  await send(server, 'DELETE', '/datasets/WS/Q');
  expect((await ask(query, '&format=csv')).text).toBe('table_name\nBY_SYMBOL\nP\n');
});

test('no query over it can be stored', async () => {
  const query = 'SELECT table_name FROM information_schema.tables';
  const view = await send(server, 'POST', '/views/WS', { view: { name: 'NAMES', query } });
  expect([view.status, view.text]).toEqual([400, expect.stringContaining('stored queries')]);
  const exported = await send(server, 'POST', '/exports/WS', {
    query,
    format: 'csv',
    target: {
      type: 'FILE',
      path: 'names',
    },
  });
  expect(exported.status).toBe(400);
  expect((await ask('SELECT * FROM information_schema.nothing')).text).toContain(
    'there is no dataset information_schema.nothing',
  );
});

test('beyond its limit of records the refusal names a narrower query', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, at) => [`c${at}`, { type: 'integer' as const }]),
  );
  for (let at = 0; at < 21; at += 1) {
    const schema = { type: 'object' as const, properties, required: [] };
    const draft = {
      ...DATASET_DEFAULTS,
      workspace: 'WS',
      dataset: `WIDE${at}`,
      schema,
      mapping: {},
    };
    await createDataset(server.tapedeck.services.lake, draft, 'test');
  }
  const all = await ask('SELECT * FROM information_schema.columns');
  expect([all.status, all.text]).toEqual([400, expect.stringContaining('more than 20000 records')]);
  const one = await rows(
    `SELECT count(*) AS n FROM information_schema.columns WHERE table_name = 'WIDE3'`,
  );
  expect(one).toEqual([{ n: 1_000 }]);
  expect(await rows('SELECT count(*) AS n FROM information_schema.tables')).toEqual([
    { n: expect.any(Number) as number },
  ]);
});
