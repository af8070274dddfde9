// A dry run reports the effects of the load, and stores nothing.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { parquetOf } from '../soak/fuzz/http/bases.ts';
import { get, load, loaded } from '../base/client.ts';
import { stored } from '../api/matrix/matrixOwner.ts';
import { startServer, type TestServer } from '../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

type JsonObject = Readonly<Record<string, unknown>>;

async function tried(
  dataset: string,
  body: string | Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  const answer = await load(server, dataset, body, { dryRun: 'true', ...query });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as JsonObject;
}

async function change(id: string, members: object): Promise<void> {
  const url = `${server.base}/v1/datasets/WS/${id}?token=${server.secret}`;
  const answer = await fetch(url, { method: 'PATCH', body: JSON.stringify(members) });
  assert.equal(answer.status, 200, await answer.text());
}

const counts = (result: JsonObject): readonly unknown[] => [
  result['recordsValidated'],
  result['recordsIngested'],
  result['recordsInvalid'],
  result['recordsQuarantined'],
  result['recordsDuplicate'],
];

test('of a dataset that does not exist: its schema and mapping', async () => {
  const csv = 'symbol,date,v\nA,2020-01-01,1\nA,2020-01-01,2\nB,2020-01-02,3.5\nC,2020-01-02\n';
  const before = await stored(server);
  const index = { key: 'symbol', date: 'date' };
  const preview = await tried('MADE', csv, index);
  assert.deepEqual(await stored(server), before);
  assert.deepEqual(await readdir(join(server.folder, 'spool')), []);
  assert.equal((await get(server, '/data/WS/MADE')).status, 404);
  assert.deepEqual(counts(preview), [3, 2, 1, 0, 1]);
  assert.deepEqual(
    [preview['exists'], preview['error'], preview['bytes']],
    [false, null, csv.length],
  );
  assert.deepEqual(preview['sample'], [
    { symbol: 'A', date: '2020-01-01', v: 2 },
    { symbol: 'B', date: '2020-01-02', v: 3.5 },
  ]);
  assert.deepEqual(preview['invalidRecords'], [
    { line: 5, error: 'validation failed: Expected Number of Columns: 3 Found: 2' },
  ]);
  const job = await loaded(server, 'MADE', csv, index);
  assert.deepEqual(counts(job as unknown as JsonObject), counts(preview));
  const view = await fetch(`${server.base}/v1/datasets/WS/MADE?token=${server.secret}`);
  const { columnMapping, schema } = (await view.json()) as JsonObject;
  assert.deepEqual([preview['schema'], preview['columnMapping']], [schema, columnMapping]);
  const table = await tableOf('MADE');
  assert.equal(preview['storageBytes'], table?.bytes);
});

async function tableOf(id: string): Promise<{ readonly bytes: number } | undefined> {
  const { lake } = server.tapedeck.services;
  return lake.table(lake.directory.dataset('WS', id)?.tableId ?? 0);
}

test('of a contract and expectations: changes of the schema, quarantine, duplicates', async () => {
  const index = { key: 'symbol', date: 'date' };
  await loaded(server, 'GROWN', 'symbol,date,v\nA,2020-01-01,1\nB,2020-01-01,1\n', index);
  await change('GROWN', {
    schemaContract: { columns: 'evolve', types: 'evolve' },
    expectations: [{ range: { property: 'v', min: 0 } }],
  });
  const csv = 'symbol,date,v,more\nA,2020-01-01,2,x\nC,2020-01-01,2.5,y\nD,2020-01-01,-1,z\n';
  const parquet = await parquetOf(
    `SELECT * FROM (VALUES ('A', DATE '2020-01-01', 2.0, 'x'), ('C', DATE '2020-01-01', 2.5, 'y'),
      ('D', DATE '2020-01-01', -1.0, 'z')) t(symbol, date, v, more)`,
  );
  const before = await stored(server);
  for (const body of [csv, parquet]) {
    const preview = await tried('GROWN', body, { duplicates: 'keep-first' });
    assert.deepEqual(counts(preview), [2, 1, 0, 1, 1]);
    assert.deepEqual(preview['schemaChanges'], {
      added: { more: { type: 'string' } },
      widened: { v: { type: 'number' } },
      leftOut: [],
    });
    assert.deepEqual(preview['sample'], [{ symbol: 'C', date: '2020-01-01', v: 2.5, more: 'y' }]);
    assert.deepEqual(preview['quarantinedRecords'], [
      {
        line: body === csv ? 4 : 3,
        rule: 'v at least 0',
        record: { symbol: 'D', date: '2020-01-01', v: -1, more: 'z' },
      },
    ]);
  }
  const replaced = await tried('GROWN', csv, { duplicateKeyHandling: 'replace' });
  assert.deepEqual(counts(replaced), [2, 2, 0, 1, 1]);
  const whole = await tried('GROWN', csv, { overwrite: 'true' });
  assert.deepEqual(counts(whole), [2, 2, 0, 1, 0]);
  assert.deepEqual(await stored(server), before);
  const job = await loaded(server, 'GROWN', csv, { duplicateKeyHandling: 'replace' });
  assert.deepEqual(counts(job as unknown as JsonObject), counts(replaced));
});

test('of bytes that were loaded before: nothing would be stored again', async () => {
  const csv = 'name,v\nA,1\nB,2\n';
  await loaded(server, 'AGAIN', csv);
  const preview = await tried('AGAIN', csv);
  assert.deepEqual(counts(preview), [2, 0, 0, 0, 2]);
  assert.match(String(preview['notes']), /the same bytes were loaded/);
  const { recordsDuplicate, recordsIngested } = await loaded(server, 'AGAIN', csv);
  assert.deepEqual([recordsIngested, recordsDuplicate], [0, 2]);
  assert.equal((await tried('AGAIN', csv, { duplicates: 'keep-all' }))['recordsIngested'], 2);
});

test('of a load that would end in ERROR: the reason', async () => {
  await loaded(server, 'ENDS', 'symbol,date,v\nA,2020-01-01,1\n');
  const csv = 'symbol,date,v\nB,2020-01-01,x\nC,2020-01-01,2\n';
  const limited = await tried('ENDS', csv, { maximumValidationErrors: '0' });
  assert.match(String(limited['error']), /1 invalid records, 0 allowed: line 2: validation failed/);
  assert.deepEqual(counts(limited), [1, 0, 1, 0, 0]);
  await change('ENDS', { schemaContract: { types: 'freeze' } });
  const frozen = await tried('ENDS', csv);
  assert.match(String(frozen['error']), /frozen: line 2 has "x" for 'v', no integer/);
  const unreadable = await load(server, 'ENDS', '[{"symbol":', { dryRun: 'true' });
  assert.equal(unreadable.status, 400);
});
