// Edits of a schema that re-ingest everything from its sources: one version or none, and no stored record is
// lost because it can't be read again.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
let shelf: string;
beforeAll(async () => {
  shelf = await mkdtemp(join(tmpdir(), 'tapedeck-shelf-'));
  const settings = { TAPEDECK_SOURCE_FOLDER: shelf };
  server = await startServer({ settings, seams: { watch: false } });
});
afterAll(async () => {
  await server.close();
  await rm(shelf, { recursive: true });
});

type JsonObject = Readonly<Record<string, unknown>>;

async function ask(method: string, path: string, value?: object): Promise<JsonObject> {
  const { status: code, text } = await send(server, method, path, value);
  return { ...(text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { text }), code };
}

const publish = (name: string, text: string | Uint8Array): Promise<void> =>
  writeFile(join(shelf, name), text);

/** Creates a source of one file, or of the files of a pattern; returns its id. */
async function sourceOf(path: string): Promise<string> {
  const source = await ask('POST', '/data-sources/WS', { type: 'FILE', path, name: path });
  return String(source['dataSourceId']);
}

/** Loads all of a source into a dataset, once. */
async function pulled(dataSourceId: string, datasetId: string, more: object = {}): Promise<void> {
  const order = { dataSourceId, datasetId, ...more };
  const answer = await ask('POST', '/jobs/WS/ingest?wait=true', order);
  assert.equal(answer['code'], 200, JSON.stringify(answer));
}

const INDEX = { symbol: { type: 'string' }, date: { type: 'string', format: 'date' } };
const string = { type: 'string' };
const integer = { type: 'integer' };

async function createDataset(datasetId: string, v: object, more: object = {}): Promise<void> {
  const columnMapping = { key: 'symbol', date: 'date' };
  const dataset = { datasetId, schema: { properties: { ...INDEX, v } }, columnMapping, ...more };
  assert.equal((await ask('POST', '/datasets/WS', { dataset }))['code'], 200);
}

const edit = (id: string, properties: object, more: object = {}): Promise<JsonObject> =>
  ask('PATCH', `/datasets/WS/${id}?wait=true`, {
    schema: { properties },
    existing: 're-ingest',
    ...more,
  });

const jobOf = ({ jobId }: JsonObject): Promise<JsonObject> =>
  ask('GET', `/jobs/WS/ingest/${String(jobId)}`);

/** Edits a dataset successfully; returns the job. */
async function edited(id: string, properties: object, more: object = {}): Promise<JsonObject> {
  const answer = await edit(id, properties, more);
  assert.equal(answer['code'], 200, JSON.stringify(answer));
  return jobOf(answer);
}

const snapshot = (): number => server.tapedeck.services.lake.snapshot;

/** Makes an edit that must be refused and change nothing, neither immediately nor by a job. */
async function refused(
  id: string,
  pattern: RegExp,
  code = 400,
  properties: object = {},
): Promise<void> {
  const dataset = server.tapedeck.services.lake.directory.dataset('WS', id);
  const [was, before] = [JSON.stringify(dataset), snapshot()];
  const answer = await edit(id, properties);
  assert.match(String(answer['message']), pattern);
  assert.equal(answer['code'], code);
  assert.equal(snapshot(), before, 'no version');
  const now = server.tapedeck.services.lake.directory.dataset('WS', id);
  assert.equal(JSON.stringify(now), was);
}

const rows = async (id: string, query = ''): Promise<readonly JsonObject[]> =>
  JSON.parse(
    await read(server, `/data/WS/${id}?limit=100&sort=asc${query}`),
  ) as readonly JsonObject[];

const values = async (id: string, query = ''): Promise<readonly unknown[]> =>
  (await rows(id, query)).map(({ v }) => v);

test('values that the first type lost are restored from the source, in one version', async () => {
  await publish('codes.csv', 'symbol,date,v,more\nA,2024-01-01,007,x\nB,2024-01-01,12,y\n');
  const source = await sourceOf('codes.csv');
  await createDataset('CODES', integer);
  await pulled(source, 'CODES');
  assert.deepEqual(await values('CODES'), [7, 12]);
  const before = snapshot();
  const job = await edited('CODES', { v: string, more: string });
  assert.deepEqual(
    [job['status'], job['sourceType'], job['dataSourceId'], job['recordsIngested'], job['bytes']],
    ['INGESTED', 'RE-INGEST', source, 2, 56],
  );
  assert.equal(snapshot(), before + 1);
  assert.equal(job['snapshot'], before + 1);
  assert.deepEqual(await rows('CODES'), [
    { symbol: 'A', date: '2024-01-01', v: '007', more: 'x' },
    { symbol: 'B', date: '2024-01-01', v: '12', more: 'y' },
  ]);
  assert.deepEqual(await values('CODES', `&asOf=${before}`), [7, 12], 'back in time');
  await edited('CODES', { more: null });
  assert.deepEqual((await rows('CODES'))[0], { symbol: 'A', date: '2024-01-01', v: '007' });
});

test('several sources and files are read in the order that decides about duplicates', async () => {
  await publish('many-1.csv', 'symbol,date,v\nA,2024-01-01,01\nB,2024-01-01,02\n');
  await publish('many-2.csv', 'symbol,date,v\nB,2024-01-01,03\nC,2024-01-01,04\n');
  await publish('over.json', '[{"symbol":"C","date":"2024-01-01","v":"05"}]');
  const many = await sourceOf('many-*.csv');
  const over = await sourceOf('over.json');
  await createDataset('SEVERAL', integer);
  await pulled(many, 'SEVERAL', { duplicates: 'keep-first' });
  await pulled(over, 'SEVERAL');
  await pulled(many, 'SEVERAL', { duplicates: 'keep-first' });
  assert.deepEqual(await values('SEVERAL'), [1, 2, 5]);
  const job = await edited('SEVERAL', { v: string });
  assert.deepEqual(await values('SEVERAL'), ['01', '02', '05']);
  const counts = ['recordsValidated', 'recordsIngested', 'recordsDuplicate', 'dataSourceId'];
  assert.deepEqual(
    counts.map((name) => job[name]),
    [5, 3, 2, null],
  );
  const logs = await fetch(
    `${server.base}/v1/logs/WS?jobId=${String(job['jobId'])}&token=${server.secret}`,
  );
  const lines = ((await logs.json()) as readonly JsonObject[]).map(({ message }) =>
    String(message),
  );
  const landed = lines.filter((line) => line.includes('has landed'));
  assert.deepEqual(
    landed.map((line) => line.split(' ')[0]),
    ['many-1.csv', 'many-2.csv', 'over.json'],
  );
  // Re-ingested data can be re-ingested again.
  await edited('SEVERAL', { v: integer });
  assert.deepEqual(await values('SEVERAL'), [1, 2, 5]);
});

test('when one source fails, nothing changes', async () => {
  await publish('good.csv', 'symbol,date,v\nA,2024-01-01,1\n');
  await publish('gone.csv', 'symbol,date,v\nB,2024-01-01,2\n');
  await createDataset('FAILS', integer);
  const missingSource = await sourceOf('gone.csv');
  await pulled(await sourceOf('good.csv'), 'FAILS');
  await pulled(missingSource, 'FAILS');
  await rm(join(shelf, 'gone.csv'));
  await refused('FAILS', /ended in ERROR: .*gone.csv/, 400, { v: string });
  await publish('gone.csv', 'no,such\ncolumns,here\n');
  await refused('FAILS', /gone.csv: validation failed: should have required property 'symbol'/);
  assert.deepEqual(await values('FAILS'), [1, 2]);
  await ask('DELETE', `/data-sources/WS/${missingSource}`);
  await refused('FAILS', new RegExp(`data source ${missingSource} is not there any more`));
});

test('records from request bodies block a re-ingest until none of them is left', async () => {
  await publish('part.csv', 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-01,2\n');
  await createDataset('BODIES', integer);
  await pulled(await sourceOf('part.csv'), 'BODIES');
  await loaded(server, 'BODIES', 'symbol,date,v\nC,2024-01-01,3\nD,2024-01-01,4\n');
  const record = { symbol: 'E', date: '2024-01-01', v: 5 };
  const push = async (more: object, query = ''): Promise<void> => {
    await ask('POST', `/record/WS/BODIES${query}`, { ...record, ...more });
    // The turn of its dataset flushes pending records into a version.
    await ask('PATCH', '/datasets/WS/BODIES', { title: 'Bodies' });
  };
  await push({});
  const why = (others: number, of: number): RegExp =>
    new RegExp(`^${others} of ${of} records came as bodies, which are not kept: they can not`);
  await refused('BODIES', why(3, 5));
  for (const key of ['C', 'D']) await ask('DELETE', `/data/WS/BODIES/${key}`);
  await refused('BODIES', why(1, 3), 400, { v: string });
  // A pushed correction is a body as well, though its index value is the source's.
  await ask('DELETE', '/data/WS/BODIES/E');
  await push({ symbol: 'B', v: 20 }, '?duplicateKeyHandling=replace');
  await refused('BODIES', why(1, 2));
  await ask('DELETE', '/data/WS/BODIES/B');
  await edited('BODIES', { v: string });
  assert.deepEqual(await values('BODIES'), ['1', '2'], 'deleted records are read again');
});

test('records that a source has no more are not lost', async () => {
  await publish('shrinks.csv', 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-02,2\nC,2024-01-03,3\n');
  await createDataset('SHRINKS', integer);
  const source = await sourceOf('shrinks.csv');
  await pulled(source, 'SHRINKS');
  await publish('shrinks.csv', 'symbol,date,v\nA,2024-01-01,10\n');
  const pattern =
    /2 of 3 stored records are not in what the sources have now, the first is B, 2024-01-02/;
  await refused('SHRINKS', pattern);
  await publish('plain.csv', 'v\n1\n2\n');
  const plain = await sourceOf('plain.csv');
  await pulled(plain, 'PLAIN');
  await publish('plain.csv', 'v\n1\n');
  await refused('PLAIN', /1 of 2 stored records are not in what the sources have now/);
});

test('a schedule continues after the re-ingested files', async () => {
  await publish('rows-1.csv', 'v\n1\n2\n');
  const dataSourceId = await sourceOf('rows-*.csv');
  const plan = { dataSourceId, datasetId: 'ROWS', every: 'day' };
  const { ingestionScheduleId: id } = await ask('POST', '/ingestion-schedules/WS', plan);
  const run = async (): Promise<unknown> => {
    const { jobId } = await ask('POST', `/ingestion-schedules/WS/${String(id)}/run?wait=true`);
    return (await jobOf({ jobId }))['recordsIngested'];
  };
  assert.equal(await run(), 2);
  await publish('rows-2.csv', 'v\n03\n');
  await edited('ROWS', { v: string });
  assert.deepEqual((await values('ROWS')).toSorted(), ['03', '1', '2']);
  assert.equal(await run(), 0, 'nothing is new');
  await publish('rows-3.csv', 'v\n4\n');
  assert.equal(await run(), 1);
  assert.deepEqual((await values('ROWS')).toSorted(), ['03', '1', '2', '4']);
});

test('contract and expectations are those of the edit, and quarantined records are replaced', async () => {
  await publish(
    'law.csv',
    'symbol,date,v,late\nA,2024-01-01,1,\nB,2024-01-01,-2,\nC,2024-01-01,3,9\n',
  );
  await createDataset('LAW', integer, { expectations: [{ range: { property: 'v', min: 0 } }] });
  await pulled(await sourceOf('law.csv'), 'LAW');
  assert.deepEqual(await values('LAW'), [1, 3]);
  const again = await edited('LAW', {});
  assert.equal(again['recordsQuarantined'], 1);
  const aside = await fetch(`${server.base}/v1/quarantine/WS/LAW?token=${server.secret}`);
  const quarantinedRecords = (await aside.json()) as readonly JsonObject[];
  assert.deepEqual(
    quarantinedRecords.map(({ jobId, line }) => [jobId, line]),
    [[again['jobId'], 3]],
  );
  const more = { expectations: [], schemaContract: { columns: 'evolve' } };
  await edited('LAW', { v: string }, more);
  assert.deepEqual(await rows('LAW'), [
    { symbol: 'A', date: '2024-01-01', v: '1', late: null },
    { symbol: 'B', date: '2024-01-01', v: '-2', late: null },
    { symbol: 'C', date: '2024-01-01', v: '3', late: 9 },
  ]);
  assert.equal((await ask('GET', '/quarantine/WS/LAW'))['text'], '[]');
  const frozen = { expectations: null, schemaContract: { types: 'freeze' } };
  const answer = await edit('LAW', { v: { type: 'boolean' } }, frozen);
  assert.match(
    String(answer['message']),
    /law.csv: the schema is frozen: line 2 has "1" for 'v', no boolean/,
  );
});

test('each file is compared with those before it, and all have the schema of the last', async () => {
  await publish('wide-1.csv.gz', gzipSync('symbol,date,v\nA,2024-01-02,1\nB,2024-01-02,2.50\n'));
  await publish('wide-2.csv.gz', gzipSync('symbol,date,v\nA,2024-01-01,3\nB,2024-01-03,4\n'));
  const columnMapping = { key: 'symbol', date: 'date' };
  const expectations = [{ monotone: true }];
  const schemaContract = { columns: 'evolve', types: 'evolve' };
  const dataset = { datasetId: 'WIDE', schema: { properties: INDEX }, columnMapping };
  await ask('POST', '/datasets/WS', { dataset: { ...dataset, expectations, schemaContract } });
  const source = await sourceOf('wide-*.csv.gz');
  await pulled(source, 'WIDE');
  assert.deepEqual(await values('WIDE'), [1, 2.5, 4]);
  await publish('wide-3.csv.gz', gzipSync('symbol,date,v,w\nC,2024-01-03,many,5\n'));
  const job = await edited('WIDE', { v: integer });
  assert.equal(job['recordsQuarantined'], 1, 'late after the file before it');
  assert.deepEqual(await rows('WIDE'), [
    { symbol: 'A', date: '2024-01-02', v: '1', w: null },
    { symbol: 'B', date: '2024-01-02', v: '2.5', w: null },
    { symbol: 'B', date: '2024-01-03', v: '4', w: null },
    { symbol: 'C', date: '2024-01-03', v: 'many', w: 5 },
  ]);
  await loaded(server, 'WIDE', 'symbol,date,v,w\nD,2024-01-03,x,6\n');
  assert.equal((await rows('WIDE')).length, 5, 'the table accepts further loads');
});

test('a record without a date has the date on which it was read', async () => {
  await publish('keys.csv', 'symbol,v\nA,1\nB,2\n');
  await pulled(await sourceOf('keys.csv'), 'KEYS', { columnMapping: { key: 'symbol' } });
  await edited('KEYS', { v: string });
  assert.deepEqual((await values('KEYS')).toSorted(), ['1', '2']);
});

test('a re-ingest uses the declared columns and the same spelling of symbols', async () => {
  await publish('vendor.csv', 'Day,Last,Note\n2024-01-30,1.5,a\n2024-01-31,2.5,b\n');
  const file = { type: 'FILE', path: 'vendor.csv', name: 'vendor' };
  const source = await ask('POST', '/data-sources/CORE', file);
  const columns = { Last: 'close', Note: null };
  const answer = await ask('POST', '/jobs/CORE/ingest?wait=true', {
    dataSourceId: source['dataSourceId'],
    datasetId: 'HISTORICAL_PRICES',
    reading: {
      columns,
      constants: { symbol: 'brk-b' },
      guess: true,
    },
  });
  assert.equal(answer['code'], 200, JSON.stringify(answer));
  const again = await ask('PATCH', '/datasets/CORE/HISTORICAL_PRICES?wait=true', {
    schema: { properties: { volume: integer } },
    existing: 're-ingest',
  });
  assert.equal(again['code'], 200, JSON.stringify(again));
  const others = { open: null, high: null, low: null, volume: null, isSplitAdjusted: null };
  assert.deepEqual(JSON.parse(await read(server, '/data/CORE/HISTORICAL_PRICES/BRK.B?last=2')), [
    { symbol: 'BRK.B', date: '2024-01-31', close: 2.5, ...others },
    { symbol: 'BRK.B', date: '2024-01-30', close: 1.5, ...others },
  ]);
});

test('an edit with other jobs or edits, without records, or with too many records', async () => {
  await publish('alone.csv', 'symbol,date,v\nA,2024-01-01,1\n');
  const source = await sourceOf('alone.csv');
  await createDataset('ALONE', integer);
  await refused('ALONE', /the dataset has no record to read again/);
  await pulled(source, 'ALONE');
  const schema = { properties: { v: string } };
  const edits = [0, 1].map(() =>
    ask('PATCH', '/datasets/WS/ALONE?wait=true', { schema, existing: 're-ingest' }),
  );
  const codes = (await Promise.all(edits)).map(({ code }) => code).sort();
  assert.deepEqual(codes, [200, 409]);
  assert.deepEqual(await values('ALONE'), ['1']);
  const rows = Array.from({ length: 1_000_001 }, (_, at) => `${at}`).join('\n');
  await publish('million.csv', `v\n${rows}\n`);
  await pulled(await sourceOf('million.csv'), 'MILLION');
  const most = /the dataset has 1000001 records, at most 1000000 may be re-ingested at once/;
  await refused('MILLION', most);
  assert.equal((await load(server, 'MILLION', 'v\n1\n', { overwrite: 'true' })).status, 200);
  await refused('MILLION', /1 of 1 records came as bodies/);
});
