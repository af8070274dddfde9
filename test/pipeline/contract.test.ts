// How the contract of a dataset handles columns and values that do not fit it, as a user sees it.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { findRejects } from '../../store/work/jobs.ts';
import { load, loaded, read } from '../base/client.ts';
import { parquetOf } from '../soak/fuzz/http/bases.ts';
import { startServer, type TestServer } from '../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const PROPERTIES = {
  symbol: { type: 'string' },
  date: { type: 'string', format: 'date' },
  v: { type: 'integer' },
  live: { type: 'boolean' },
};

async function createDataset(id: string, members: object): Promise<void> {
  const columnMapping = { key: 'symbol', date: 'date' };
  const dataset = { datasetId: id, schema: { properties: PROPERTIES }, columnMapping, ...members };
  const url = `${server.base}/v1/datasets/WS?token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ dataset }) });
  assert.equal(answer.status, 200, await answer.text());
}

const schemaOf = (dataset: string): Readonly<Record<string, unknown>> =>
  server.tapedeck.services.lake.directory.dataset('WS', dataset)?.schema.properties ?? {};

const rejectsOf = async (jobId: string): Promise<readonly string[]> =>
  (await findRejects(server.tapedeck.services.database, jobId)).map(
    ({ line, error }) => `${line}: ${error}`,
  );

async function logOf(jobId: string): Promise<string> {
  const { database } = server.tapedeck.services;
  const rows = await database.selectFrom('log').select('message').where('job_id', '=', jobId);
  return (await rows.execute()).map(({ message }) => message).join('\n');
}

const records = async (id: string): Promise<unknown> =>
  JSON.parse(await read(server, `/data/WS/${id}?limit=100&sort=asc`));

const FIRST = 'symbol,date,v,live\nA,2020-01-01,1,true\n';

test('columns: evolve adds new columns, nullable, in the version of its records', async () => {
  await createDataset('EVOLVED', { schemaContract: { columns: 'evolve' } });
  await loaded(server, 'EVOLVED', FIRST);
  const csv =
    'symbol,date,v,live,close,note,listed\nB,2020-01-02,2,false,1.5,x,2019-01-31\n' +
    'C,2020-01-03,3,,2,,2019-02-28\nD,many,4,true,3,y,\n';
  const job = await loaded(server, 'EVOLVED', csv);
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 1]);
  assert.deepEqual(schemaOf('EVOLVED'), {
    ...PROPERTIES,
    close: { type: 'number' },
    note: { type: 'string' },
    listed: { type: 'string', format: 'date' },
  });
  assert.deepEqual(await records('EVOLVED'), [
    { symbol: 'A', date: '2020-01-01', v: 1, live: true, close: null, note: null, listed: null },
    ...[
      { symbol: 'B', date: '2020-01-02', v: 2, live: false, close: 1.5, note: 'x' },
      { symbol: 'C', date: '2020-01-03', v: 3, live: null, close: 2, note: '' },
    ].map((record, at) => ({ ...record, listed: ['2019-01-31', '2019-02-28'][at] })),
  ]);
  assert.equal(
    await read(server, `/data/WS/EVOLVED/A?asOf=${job.snapshot - 1}`),
    '[{"symbol":"A","date":"2020-01-01","v":1,"live":true}]',
  );
  // The columns of the file are checked again, independent of the stored records.
  const again = await loaded(server, 'EVOLVED', csv, { duplicateKeyHandling: 'replace' });
  assert.deepEqual([again.recordsIngested, again.recordsDuplicate], [0, 2]);
});

test('a new column that differs from a property only in case is refused', async () => {
  await createDataset('CASE', { schemaContract: { columns: 'evolve' } });
  const answer = await load(server, 'CASE', 'symbol,date,V\nA,2020-01-01,1\n');
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /the schema names column V twice/);
});

test('a late value widens a new column', async () => {
  await createDataset('LATE', { schemaContract: { columns: 'evolve' } });
  const rows = Array.from({ length: 12_000 }, (_, at) => `K${at},2020-01-01,1,true,${at}`);
  const csv = `symbol,date,v,live,extra\n${rows.join('\n')}\nLAST,2020-01-01,1,true,many\n`;
  const job = await loaded(server, 'LATE', csv);
  assert.equal(job.recordsIngested, 12_001);
  assert.deepEqual(schemaOf('LATE')['extra'], { type: 'string' });
  assert.match(await logOf(job.jobId), /extra becomes string: line 12002 has "many", no integer/);
});

test('types: evolve widens the property and its stored values, never an index', async () => {
  await createDataset('WIDER', { schemaContract: { types: 'evolve' } });
  const before = await loaded(server, 'WIDER', `${FIRST}B,2020-01-01,9007199254740993,false\n`);
  const job = await loaded(server, 'WIDER', 'symbol,date,v\nA,2020-01-02,2.5\nA,nodate,3\n');
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [1, 1]);
  // 9007199254740993 is no number: a text keeps it.
  assert.deepEqual(schemaOf('WIDER')['v'], { type: 'string' });
  const text = await loaded(server, 'WIDER', 'symbol,date,v,live\nA,2020-01-01,none,perhaps\n', {
    duplicateKeyHandling: 'replace',
  });
  assert.deepEqual([text.recordsIngested, text.recordsDuplicate], [1, 1]);
  assert.deepEqual(await records('WIDER'), [
    { symbol: 'A', date: '2020-01-01', v: 'none', live: 'perhaps' },
    { symbol: 'B', date: '2020-01-01', v: '9007199254740993', live: 'false' },
    { symbol: 'A', date: '2020-01-02', v: '2.5', live: null },
  ]);
  assert.match(await read(server, `/data/WS/WIDER/A?asOf=${before.snapshot}`), /"v":1,"live":true/);
  assert.match(
    await read(server, `/data/WS/WIDER/B?asOf=${before.snapshot}`),
    /"9007199254740993"/,
  );
});

for (const [type, value, stored] of [
  [{ type: 'number' }, '2.5', '2.5'],
  [{ type: 'number' }, '-1e300', '-1e+300'],
  [
    { type: 'number', format: 'decimal', precision: 20, scale: 4 },
    '12345678901234.5678',
    '12345678901234.5678',
  ],
  [{ type: 'integer' }, '9007199254740993', '9007199254740993'],
  [{ type: 'boolean' }, 'true', 'true'],
  [{ type: 'string', format: 'date' }, '2024-02-29', '2024-02-29'],
  [{ type: 'string', format: 'time' }, '09:30:00', '09:30:00'],
] as const) {
  test(`types: evolve makes a text of a stored ${JSON.stringify(type)} ${value}`, async () => {
    const id = `WORD${Object.values(type).join('_').toUpperCase()}${value.length}`;
    const properties = { ...PROPERTIES, v: type };
    await createDataset(id, { schemaContract: { types: 'evolve' }, schema: { properties } });
    await loaded(server, id, `symbol,date,v\nA,2020-01-01,${value}\n`);
    const job = await loaded(server, id, 'symbol,date,v\nB,2020-01-01,word\n');
    assert.deepEqual([job.recordsIngested, job.recordsInvalid], [1, 0]);
    const values = (await records(id)) as readonly { readonly v: unknown }[];
    assert.deepEqual(
      values.map(({ v }) => v),
      [stored, 'word'],
    );
  });
}

test('types: evolve with records that are stored already', async () => {
  await createDataset('KNOWN', { schemaContract: { types: 'evolve', columns: 'evolve' } });
  await loaded(server, 'KNOWN', `${FIRST}B,2020-01-01,2,false\n`);
  const csv = 'symbol,date,v,more\nA,2020-01-01,1.5,7\nC,2020-01-01,3.5,8\n';
  const job = await loaded(server, 'KNOWN', csv, { duplicates: 'keep-first' });
  assert.deepEqual([job.recordsIngested, job.recordsDuplicate], [1, 1]);
  assert.deepEqual(await records('KNOWN'), [
    { symbol: 'A', date: '2020-01-01', v: 1, live: true, more: null },
    { symbol: 'B', date: '2020-01-01', v: 2, live: false, more: null },
    { symbol: 'C', date: '2020-01-01', v: 3.5, live: null, more: 8 },
  ]);
});

test('freeze ends the load and names column, value and line', async () => {
  await createDataset('FROZEN', { schemaContract: { columns: 'freeze', types: 'freeze' } });
  await loaded(server, 'FROZEN', FIRST);
  const cases = [
    [
      'symbol,date,v,more\nB,2020-01-01,1,\nC,2020-01-01,1,x\n',
      /has no 'more' \(line 3 has \\"x\\"\)/,
    ],
    ['[{"symbol":"B","date":"2020-01-01","more":null}]', /is frozen and has no 'more' \(/],
    [
      'symbol,date,v\nB,2020-01-01,1\nC,2020-01-01,many\n',
      /line 3 has \\"many\\" for 'v', no integer/,
    ],
    ['symbol,date,live\nB,2020-01-01,perhaps\n', /line 2 has \\"perhaps\\" for 'live', no boolean/],
    ['symbol,date,v\nB,someday,1\n', /line 2 has \\"someday\\" for 'date', no date/],
  ] as const;
  for (const [body, expected] of cases) {
    const answer = await load(server, 'FROZEN', body);
    assert.equal(answer.status, 400, body);
    assert.match(await answer.text(), expected);
  }
  const job = await loaded(server, 'FROZEN', 'symbol,date,v\n,2020-01-02,1\nB,2020-01-02,1\n');
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [1, 1]);
});

test('columns: discard_record rejects the records that have a value there', async () => {
  await createDataset('STRICT', { schemaContract: { columns: 'discard_record' } });
  const csv = 'symbol,date,v,more\nA,2020-01-01,1,\nB,2020-01-01,2,x\nC,2020-01-01,3,\n';
  const parquet = await parquetOf(
    `SELECT * FROM (VALUES ('A', DATE '2020-01-01', 1, NULL), ('B', DATE '2020-01-01', 2, 'x'),
      ('C', DATE '2020-01-01', 3, NULL)) t(symbol, date, v, more)`,
  );
  const json = csv
    .split('\n')
    .slice(1, 4)
    .map((line) => line.split(','))
    .map(([symbol, date, v, more]) => ({ symbol, date, v: Number(v), ...(more ? { more } : {}) }));
  for (const body of [csv, parquet, JSON.stringify(json)]) {
    const job = await loaded(server, 'STRICT', body, { overwrite: 'true' });
    assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 1]);
    const line = body === csv ? 3 : 2;
    const reason = "validation failed: should NOT have additional property 'more'";
    assert.deepEqual(await rejectsOf(job.jobId), [`${line}: ${reason}`]);
  }
});

test('types: discard_value replaces values that do not fit by null, but not in an index', async () => {
  await createDataset('NULLED', { schemaContract: { types: 'discard_value' } });
  const csv =
    'symbol,date,v,live\nA,2020-01-01,many,true\nB,2020-01-01,2,perhaps\nC,never,3,true\n' +
    'D,2020-01-01,4.5,false\n';
  const job = await loaded(server, 'NULLED', csv);
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [3, 1]);
  assert.deepEqual(await rejectsOf(job.jobId), [
    `4: validation failed: property 'date' should be date, not "never"`,
  ]);
  assert.deepEqual(await records('NULLED'), [
    { symbol: 'A', date: '2020-01-01', v: null, live: true },
    { symbol: 'B', date: '2020-01-01', v: 2, live: null },
    { symbol: 'D', date: '2020-01-01', v: null, live: false },
  ]);
  const log = await logOf(job.jobId);
  assert.match(log, /2 values of v did not fit and are null: line 2 has "many"/);
  assert.match(log, /1 values of live did not fit and are null: line 3 has "perhaps"/);
});

test('a single record is checked against the contract', async () => {
  await createDataset('PUSHED', { schemaContract: { columns: 'evolve' } });
  const url = `${server.base}/v1/record/WS/PUSHED?token=${server.secret}`;
  const body = JSON.stringify({ symbol: 'A', date: '2020-01-01', v: 1, more: 2 });
  const answer = await fetch(url, { method: 'POST', body });
  assert.equal(answer.status, 200, await answer.text());
  assert.deepEqual(await records('PUSHED'), [
    { symbol: 'A', date: '2020-01-01', v: 1, live: null, more: 2 },
  ]);
});
