// A foreign reader opens our lake: the same rows as our own answers, at every snapshot.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'vitest';
import { foreignCatalog } from '../../base/catalogElsewhere.ts';
import { get, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { parseRow, readTable, snapshots, tables } from './reader.ts';

async function history(server: TestServer): Promise<void> {
  await loaded(
    server,
    'A',
    'symbol,date,price,note\nX,2020-01-01,1.5,"a, ""b"""\nY,2020-01-01,2,\n',
  );
  await loaded(server, 'B', 'when,big\n2020-01-01T10:00:00.123456Z,123456789012345678\n');
  const replace = { duplicateKeyHandling: 'replace' };
  await loaded(
    server,
    'A',
    'symbol,date,price,note\nX,2020-01-01,3,new\nZ,2020-02-01,4,z\n',
    replace,
  );
  await loaded(server, 'A', 'symbol,date,price,note\nZ,2020-02-01,5,again\n', replace);
  await loaded(server, 'A', 'symbol,date,price,note\nZ,2020-02-01,6,ignored\nW,2020-03-01,,\n');
  await loaded(server, 'B', 'when,big\n2020-01-02T10:00:00Z,-1\n');
  await exactTypes(server);
  await change(server, 'A', { schema: { properties: { price: { type: 'string' }, note: null } } });
  await change(server, 'A', { schemaContract: { columns: 'evolve', types: 'evolve' } });
  await loaded(server, 'A', 'symbol,date,price,note\nV,2020-01-01,7.5,1\n');
  await loaded(server, 'A', 'symbol,date,price,note,more\nV,2020-01-02,,2.5,2020-01-01\n', replace);
  await loaded(server, 'A', 'symbol,date,note\nV,2020-01-02,none\nU,2020-01-02,3\n', replace);
}

/** Records of exact types, in two files, then with wider types. */
async function exactTypes(server: TestServer): Promise<void> {
  const properties = {
    k: { type: 'string' },
    d: { type: 'number', format: 'decimal', precision: 20, scale: 4 },
    h: { type: 'integer', format: 'int128' },
    n: { type: 'string', format: 'date-time-ns' },
    t: { type: 'string', format: 'time' },
  };
  const dataset = { datasetId: 'C', schema: { properties }, columnMapping: { key: 'k' } };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  assert.equal(status, 200, text);
  const head = 'k,d,h,n,t\n';
  const huge = '99999999999999999999999999999999999999';
  await loaded(server, 'C', `${head}a,1.5,${huge},2024-01-02T03:04:05.123456789Z,9:30\n`);
  await loaded(
    server,
    'C',
    `${head}b,-0.0001,-1,1969-12-31T23:59:59.999999999Z,16:00:00.5\nc,,,,\n`,
  );
  const d = { type: 'number', format: 'decimal', precision: 38, scale: 10 };
  await change(server, 'C', { schema: { properties: { d } } });
}

/** Stored records are written again. */
async function change(server: TestServer, id: string, members: object): Promise<void> {
  const url = `${server.base}/v1/datasets/WS/${id}?token=${server.secret}`;
  const existing = 'schema' in members ? { existing: 'update' } : {};
  const body = JSON.stringify({ ...members, ...existing });
  const answer = await fetch(url, { method: 'PATCH', body });
  assert.equal(answer.status, 200, await answer.text());
}

const withoutSystem = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_system')));

const sorted = (rows: readonly Record<string, unknown>[]): readonly string[] =>
  rows.map((row) => JSON.stringify(row, plain)).sort();

const plain = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

test('the independent reader sees our rows at every snapshot', async () => {
  await using server = await startServer();
  await history(server);
  const compared = await compare(server);
  assert.ok(compared >= 20, `${compared} comparisons`);
  assert.equal((await get(server, '/data/WS/A?asOf=0')).status, 404);
});

test('also before and after real records replace the invented ones', async () => {
  const exchange = { symbols: 4, years: 4, minuteDays: 1, minuteSymbols: 1, tickSymbols: 1 };
  await using server = await startServer({ seams: { exchange } });
  await server.tapedeck.exchange?.filled();
  const url = `${server.base}/v1/data/CORE/SPLITS?wait=true&token=${server.secret}`;
  for (const lines of [
    'ratio,symbol,exDate,note\n0.5,A,2020-01-02,x\n',
    'ratio,symbol,exDate\n2,B,2020-01-03\n',
  ]) {
    const answer = await fetch(url, { method: 'POST', body: lines });
    assert.equal(answer.status, 200, await answer.text());
  }
  assert.ok((await compare(server, 'SPLITS')) >= 3);
});

/** Compares every table, or those of one name, at every snapshot; returns their number. */
async function compare(server: TestServer, only?: string): Promise<number> {
  const catalog = await foreignCatalog(server.folder);
  let compared = 0;
  for (const { id } of await snapshots(catalog)) {
    for (const table of await tables(catalog, id)) {
      if (only !== undefined && table.name !== only) continue;
      const lake = `${join(server.folder, 'lake')}/`;
      const theirs = (await readTable(catalog, lake, id, table)).map(parseRow).map(withoutSystem);
      const path = `/data/${table.schema}/${table.name}?from=1900-01-01&asOf=${id}`;
      const ours = JSON.parse(await read(server, path)) as Record<string, unknown>[];
      assert.deepEqual(sorted(theirs.map(valuesAsOurs)), sorted(ours), `${table.name} at ${id}`);
      compared += 1;
    }
  }
  catalog.close();
  return compared;
}

/** The reader prints timestamps as the format does, decimals as texts, and integers past 2^53 as such. */
function valuesAsOurs(row: Record<string, unknown>): Record<string, unknown> {
  const values = Object.entries(row).map(([name, value]) => {
    if (typeof value !== 'string') return [name, value] as const;
    if (name === 'd') return [name, Number(value)] as const;
    return [name, name === 'when' || name === 'n' ? instantAsOurs(value) : value] as const;
  });
  return Object.fromEntries(values);
}

function instantAsOurs(text: string): string {
  const [head, digits = ''] = text.replace(' ', 'T').split('.');
  const fraction = digits.padEnd(Math.max(3, Math.ceil(digits.length / 3) * 3), '0');
  return `${head}.${fraction}Z`;
}
