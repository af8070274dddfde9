// A dataset of the maximum width is read on every endpoint within the memory that
// docs/reference/limits.md states, and changed, compacted and exported; a wider one is refused wherever it
// would get its columns.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { compactDataset } from '../../../jobs/upkeep/compaction.ts';
import { PROPERTIES_MAX } from '../../../store/lake/versions/columns.ts';
import { load, loaded, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const ROWS = 200;
const NAMES = Array.from({ length: PROPERTIES_MAX - 2 }, (_, at) => `c${at}`);

const dayOf = (row: number): string =>
  new Date(Date.UTC(2000, 0, 1) + row * 86_400_000).toISOString().slice(0, 10);

const VALUES: readonly ((row: number, column: number) => number | string)[] = [
  (row, column) => (row * column) / 7 + 0.5,
  (row, column) => `text ${row} ${column}`,
  (row, column) => row + column,
  (row) => dayOf(row),
];

const valueOf = (row: number, column: number): number | string =>
  VALUES[column % VALUES.length]?.(row, column) ?? '';

const recordOf = (row: number, names: readonly string[] = NAMES): Record<string, unknown> => ({
  symbol: `S${row % 10}`,
  date: dayOf(row),
  ...Object.fromEntries(names.map((name, column) => [name, valueOf(row, column)])),
});

const rows = (from: number): readonly number[] =>
  Array.from({ length: ROWS }, (_, at) => from + at);

function csvOf(from: number, names: readonly string[] = NAMES): string {
  const header = ['symbol', 'date', ...names].join(',');
  const lines = rows(from).map((row) => Object.values(recordOf(row, names)).join(','));
  return [header, ...lines].join('\n');
}

const INDEX = { key: 'symbol', date: 'date' };

async function done(server: TestServer, method: string, path: string, value?: object) {
  const { status, text } = await send(server, method, path, value);
  assert.equal(status, 200, `${method} ${path}: ${text.slice(0, 500)}`);
  return text;
}

/** Two loads, replaced records, pushed ones: the worst case of a read. */
async function fill(server: TestServer): Promise<void> {
  await loaded(server, 'D', csvOf(0), INDEX);
  await loaded(server, 'D', csvOf(ROWS));
  await loaded(server, 'D', csvOf(ROWS / 2), { duplicateKeyHandling: 'replace' });
  const some = rows(0).map((row) => recordOf(row));
  await loaded(server, 'J', JSON.stringify(some.slice(0, 50)), INDEX);
  const pushed = [recordOf(1), recordOf(1_000)];
  await done(server, 'POST', '/record/WS/D?duplicateKeyHandling=replace', pushed);
}

const sql = (text: string): string => `/sql-query/WS?sqlQuery=${encodeURIComponent(text)}`;

const READS: readonly string[] = [
  ...['json', 'jsonl', 'csv', 'psv', 'arrow', 'parquet'].flatMap((format) => [
    `/data/WS/D/S1?last=1&format=${format}`,
    `/data/WS/D?limit=${ROWS}&format=${format}`,
  ]),
  '/data/WS/D/S1?last=5',
  '/data/WS/D/S1?last=5',
  '/data/WS/D/S1?limit=100&collapse=weekly',
  '/data/WS/D/S1,S2?last=5',
  '/data/WS/D?queryId=q1',
  '/data/WS/D,J/S1?last=3',
  '/time-series/WS.D/S1?last=5',
  ...['json', 'csv', 'arrow', 'parquet'].map(
    (format) => `${sql('SELECT * FROM D')}&format=${format}`,
  ),
  sql('SELECT * FROM D ORDER BY date DESC LIMIT 10'),
  '/data/WS/V/S1?limit=50',
  `/data/WS/V?limit=${ROWS}&format=csv`,
];

async function exported(server: TestServer, what: object, path: string): Promise<string> {
  const order = { ...what, format: 'parquet', target: { type: 'FILE', path } };
  const exportText = await done(server, 'POST', '/exports/WS', order);
  const { exportId } = JSON.parse(exportText) as { readonly exportId: string };
  for (;;) {
    const text = await done(server, 'GET', `/exports/WS/${exportId}`);
    const { state } = JSON.parse(text) as { readonly state: string };
    if (state !== 'CREATED' && state !== 'RUNNING') return state === 'DONE' ? state : text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test(`${PROPERTIES_MAX} columns are read, exported, compacted and edited`, async () => {
  const exportFolder = await mkdtemp(join(tmpdir(), 'tapedeck-wide-'));
  // Three quarters of the default memory of a query: two threads over 1,000 columns took 450 to 512 MiB.
  const memory = String(384 * 1024 ** 2);
  const settings = { TAPEDECK_EXPORT_FOLDER: exportFolder, TAPEDECK_SQL_MEMORY: memory };
  await using server = await startServer({ settings, seams: { watch: false } });
  await fill(server);
  const query = 'SELECT * FROM D';
  const view = { name: 'V', query, columnMapping: INDEX };
  await done(server, 'POST', '/views/WS', { view });
  for (const path of READS) await done(server, 'GET', path);
  const [last] = JSON.parse(await done(server, 'GET', '/data/WS/D/S0?last=1')) as readonly object[];
  assert.deepEqual(last, recordOf(1_000));
  assert.equal(await exported(server, { dataset: 'D' }, 'dataset'), 'DONE');
  assert.equal(await exported(server, { query }, 'query'), 'DONE');
  const { ingestion, lake, runner } = server.tapedeck.services;
  const dataset = lake.directory.dataset('WS', 'D');
  assert.ok(dataset);
  await runner.inTurn('WS', 'D', async () => {
    assert.ok((await compactDataset(dataset, ingestion, 2)) > 1);
  });
  const retyped = { schema: { properties: { c2: { type: 'string' } } }, existing: 'update' };
  await done(server, 'PATCH', '/datasets/WS/D', retyped);
  await done(server, 'DELETE', '/data/WS/D/S3?from=2000-01-01&to=2000-02-01');
  await done(server, 'DELETE', '/data/WS/D/S4?purge=true');
  await done(server, 'GET', `/data/WS/D?limit=${ROWS}`);
  await rm(exportFolder, { recursive: true, force: true });
});

describe('a wider dataset is refused, with the limit', () => {
  const more = [...NAMES, 'more'];
  const named = new RegExp(`${PROPERTIES_MAX} (properties|\\(PROPERTIES_MAX\\))`);
  const properties = Object.fromEntries(
    ['symbol', 'date', ...NAMES].map((name) => [name, { type: 'string' }]),
  );
  const create = (server: TestServer, all: object, members: object = {}) =>
    send(server, 'POST', '/datasets/WS', {
      dataset: { datasetId: 'D', schema: { properties: all }, ...members },
    });

  test('by a first load of any format', async () => {
    await using server = await startServer();
    const json = JSON.stringify([recordOf(1, more)]);
    const unlike = JSON.stringify([recordOf(1), { symbol: 'A', date: '2020-01-01', more: 1 }]);
    for (const body of [csvOf(0, more), json, unlike]) {
      const answer = await load(server, 'D', body, INDEX);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), named);
    }
  });

  test('by its creation, an edit, and a load that adds columns', async () => {
    await using server = await startServer();
    const wider = await create(server, { ...properties, more: { type: 'string' } });
    assert.equal(wider.status, 400);
    assert.match(wider.text, named);
    const contract = { schemaContract: { columns: 'evolve' } };
    const response = await create(server, properties, {
      columnMapping: { key: 'symbol' },
      ...contract,
    });
    assert.equal(response.status, 200, response.text);
    const edit = { schema: { properties: { more: { type: 'string' } } } };
    const edited = await send(server, 'PATCH', '/datasets/WS/D', edit);
    assert.equal(edited.status, 400);
    assert.match(edited.text, named);
    for (const body of [csvOf(0, more), JSON.stringify({ symbol: 'A', more: 'x' })]) {
      const answer = await load(server, 'D', body);
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), named);
    }
  });
});

describe('a record with many more cells than the header', () => {
  // DuckDB was at one of them for minutes: an error for each cell, each with a copy of the line.
  test('is the only record that is rejected', async () => {
    await using server = await startServer();
    const wide = `W,${'1,'.repeat(300_000)}`;
    const quoted = `Q,"${'x,'.repeat(500)}"`;
    const body = `symbol,v\nA,1\n${wide}\n${quoted}\nB,2\n${`C,${'1,'.repeat(300)}\n`.repeat(50)}D,4\n`;
    const answer = await load(server, 'W', body);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    const { text: rows } = await send(server, 'GET', '/data/WS/W?limit=10');
    const symbols = (JSON.parse(rows) as readonly { readonly symbol: string }[]).map(
      ({ symbol }) => symbol,
    );
    assert.deepEqual(symbols.sort(), ['A', 'B', 'D', 'Q']);
  });
});
