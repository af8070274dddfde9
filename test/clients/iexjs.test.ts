// The official JavaScript client, unmodified: the workspace methods of datasets and jobs, with the
// values it reads back (those of sources are in iexjsSources.test.ts).
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';
import { type Client, iexjs, refusal } from './iexjs.ts';

/** Methods of `client.apperate` that are called below. */
const SERVED = [
  'registerDataset',
  'listDatasets',
  'getDataset',
  'patchDataset',
  'renameDataset',
  'deleteDataset',
  'loadData',
  'queryData',
  'queryDatasets',
  'queryMeta',
  'write',
  'writeInternal',
  'deleteData',
  'queryDataJobs',
  'getDataJob',
  'getInvalidRecordsLog',
  'cancelIngestionJob',
  'fetchLogs',
  'getSwagger',
  'generateSchemaFromRemoteDataSource',
  'updateDataset',
] as const;

/** Methods of iexjsSources.test.ts. */
const SERVED_SOURCES = [
  'createCredential',
  'getCredential',
  'updateCredential',
  'deleteCredential',
  'createDataSource',
  'getDataSource',
  'updateDataSource',
  'deleteDataSource',
  'createIngestionHistory',
  'getIngestionHistory',
  'updateIngestionHistory',
  'deleteIngestionHistory',
  'createIngestionSchedule',
  'getIngestionSchedule',
  'updateIngestionSchedule',
  'deleteIngestionSchedule',
  'createDataJob',
  'sampleDataSource',
  'generateSchemaFromDefinedDataSource',
  'configureS3ingegration',
  'createWebhook',
  'getWebhook',
  'updateWebhook',
  'deleteWebhook',
] as const;

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  iexjs.overrideUrl({ url: `${server.base}/v1/` });
  client = new iexjs.Client({ api_token: server.secret, version: 'v1' });
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await server.close();
});

/** Calls a workspace method as a user of the client would, in workspace WS. */
function call<T>(
  name: (typeof SERVED)[number],
  options: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const method = client.apperate[name];
  assert.ok(method !== undefined, name);
  return method.call(client.apperate, { workspace: 'WS', ...options }) as Promise<T>;
}

interface ChangeAnswer {
  readonly success: boolean;
  readonly message: string;
  readonly datasetId?: string;
  readonly jobId: string;
}

const SCHEMA = {
  type: 'object',
  properties: {
    symbol: { type: 'string' },
    date: { type: 'string', format: 'date' },
    price: { type: 'number' },
  },
  required: ['symbol', 'date'],
};

const CREATE = JSON.stringify({
  dataset: { datasetId: 'CARS', schema: SCHEMA, columnMapping: { key: 'symbol', date: 'date' } },
});

const CSV = 'symbol,date,price\nAUDI,2024-01-01,10.5\nAUDI,2024-01-02,11\nBMW,2024-01-01,20\n';

/** Creates a separate dataset for a test with the client. */
async function loadDataset(id: string): Promise<ChangeAnswer> {
  return call<ChangeAnswer>('loadData', { id, data: CSV, contentType: 'text/csv', wait: true });
}

test('the lists of methods are those of the client', () => {
  const prototype: unknown = Object.getPrototypeOf(client.apperate);
  const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  assert.deepEqual([...SERVED, ...SERVED_SOURCES].toSorted(), names.toSorted());
});

test('datasets: register, get, list, patch, rename, delete', async () => {
  const created = await call<ChangeAnswer>('registerDataset', { data: CREATE });
  assert.deepEqual(
    { ...created },
    { success: true, message: 'Dataset has been created', datasetId: 'CARS' },
  );
  const got = await call<Record<string, unknown>>('getDataset', { id: 'CARS' });
  assert.equal(got['datasetId'], 'CARS');
  assert.deepEqual(got['schema'], SCHEMA);
  assert.deepEqual(got['columnMapping'], { key: 'symbol', date: 'date' });
  const data = JSON.stringify({ dataset: { title: 'Cars' } });
  assert.equal((await call<ChangeAnswer>('patchDataset', { id: 'CARS', data })).success, true);
  const listed = await call<readonly Record<string, unknown>[]>('listDatasets', { limit: 5 });
  assert.deepEqual(
    listed.map(({ datasetId, title }) => [datasetId, title]),
    [['CARS', 'Cars']],
  );
  const renamed = await call<ChangeAnswer>('renameDataset', { id: 'CARS', newDatasetId: 'AUTOS' });
  assert.equal(renamed.datasetId, 'AUTOS');
  assert.match(await refusal(call('getDataset', { id: 'CARS' })), /^Response 404 - Not Found$/);
  assert.equal((await call<ChangeAnswer>('deleteDataset', { id: 'AUTOS' })).success, true);
  assert.deepEqual(await call('listDatasets'), []);
});

test('loadData, queryData with and without a key, queryDatasets', async () => {
  const loading = await loadDataset('LOADED');
  assert.match(
    loading.message,
    /^Data upload of 76B for LOADED completed, jobId: [0-9a-f]{32} has/,
  );
  assert.deepEqual(await call('queryData', { id: 'LOADED', key: 'AUDI' }), [
    { symbol: 'AUDI', date: '2024-01-02', price: 11 },
  ]);
  const range = { from: '2024-01-01', to: '2024-01-01', sort: 'asc', filter: 'symbol,price' };
  assert.deepEqual(await call('queryData', { id: 'LOADED', ...range }), [
    { symbol: 'AUDI', price: 10.5 },
    { symbol: 'BMW', price: 20 },
  ]);
  assert.deepEqual(await call('queryData', { id: 'LOADED', key: 'AUDI', first: 1 }), [
    { symbol: 'AUDI', date: '2024-01-01', price: 10.5 },
  ]);
  const declared = JSON.stringify({ dataset: { uniqueIndex: true } });
  assert.equal(
    (await call<ChangeAnswer>('patchDataset', { id: 'LOADED', data: declared })).success,
    true,
  );
  const twice = { id: 'LOADED', duplicateKeyHandling: 'replace', wait: true };
  const data = 'symbol,date,price\nBMW,2024-01-01,21\n';
  await call('loadData', { ...twice, data, contentType: 'application/json' });
  assert.deepEqual(await call('queryData', { id: 'LOADED', key: 'BMW', last: 5 }), [
    { symbol: 'BMW', date: '2024-01-01', price: 21 },
  ]);
  const schemas = await call<readonly { readonly datasetId: string }[]>('queryDatasets');
  assert.deepEqual(
    schemas.map(({ datasetId }) => datasetId),
    ['LOADED'],
  );
});

test('write and writeInternal create a dataset on demand; deleteData removes records', async () => {
  const record = { symbol: 'VW', date: '2024-03-01', price: 1.25 };
  const written = await call<ChangeAnswer>('write', { id: 'WRITTEN', data: [record] });
  assert.deepEqual([written.success, written.message], [true, 'wrote 1 records']);
  const more = [
    { ...record, date: '2024-03-02' },
    { ...record, symbol: 'VOLVO', price: 3 },
  ];
  const data = JSON.stringify(more);
  const internal = await call<ChangeAnswer>('writeInternal', { id: 'WRITTEN', data });
  assert.equal(internal.message, 'wrote 2 records');
  assert.deepEqual(await call('queryData', { id: 'WRITTEN', key: 'VW', last: 9 }), [
    { ...record, date: '2024-03-02' },
    record,
  ]);
  const unique = JSON.stringify({ dataset: { uniqueIndex: true } });
  assert.equal(
    (await call<ChangeAnswer>('patchDataset', { id: 'WRITTEN', data: unique })).success,
    true,
  );
  const replace = { id: 'WRITTEN', duplicateKeyHandling: 'replace' };
  await call('write', { ...replace, data: { ...record, price: 2.5 } });
  const now = await call<readonly { readonly price: number }[]>('queryData', {
    id: 'WRITTEN',
    key: 'VW',
    first: 1,
  });
  assert.equal(now[0]?.price, 2.5);
  const absent = call('write', { id: 'ABSENT', data: record, createDatasetOnDemand: false });
  assert.match(await refusal(absent), /^Response 404/);
  const deletion = await call<ChangeAnswer>('deleteData', { id: 'WRITTEN', key: 'VW' });
  assert.equal(deletion.message, 'deleted 2 records');
  assert.deepEqual(await call('queryData', { id: 'WRITTEN', key: 'VW', last: 9 }), []);
  assert.deepEqual(await call('queryData', { id: 'WRITTEN', key: 'VOLVO' }), [more[1]]);
});

interface JobView {
  readonly jobId: string;
  readonly status: string;
  readonly datasetId: string;
  readonly recordsIngested: number;
  readonly recordsInvalid: number;
}

test('queryDataJobs, getDataJob, getInvalidRecordsLog', async () => {
  await loadDataset('JOBS');
  const data = 'symbol,date,price\nSEAT,2024-01-01,1\nSEAT,2024-01-02,cheap\n';
  const { jobId } = await call<ChangeAnswer>('loadData', { id: 'JOBS', data, wait: true });
  const jobs = await call<readonly JobView[]>('queryDataJobs', { type: 'ingest', last: 1 });
  assert.deepEqual(
    jobs.map((job) => job.jobId),
    [jobId],
  );
  const job = await call<JobView>('getDataJob', { type: 'ingest', id: jobId });
  assert.deepEqual(
    [job.status, job.datasetId, job.recordsIngested, job.recordsInvalid],
    ['INGESTED', 'JOBS', 1, 1],
  );
  // The client leaves /invalid-records-log out (INTERFACE.md 3.2): it gets the job.
  const invalid = await call<JobView>('getInvalidRecordsLog', { type: 'ingest', id: jobId });
  assert.deepEqual([invalid.jobId, invalid.recordsInvalid], [jobId, 1]);
});

test('cancelIngestionJob ends a waiting job, and nothing of it is stored', async () => {
  await loadDataset('BUSY');
  const blocker = Promise.withResolvers<void>();
  const { runner } = server.tapedeck.services;
  const holding = runner.inTurn('WS', 'BUSY', () => blocker.promise);
  const data = 'symbol,date,price\nSKODA,2024-01-01,1\n';
  const { jobId } = await call<ChangeAnswer>('loadData', { id: 'BUSY', data });
  const cancellation = await call<ChangeAnswer>('cancelIngestionJob', { id: jobId });
  assert.deepEqual(
    { ...cancellation },
    { success: true, message: `job ${jobId} is being cancelled` },
  );
  blocker.resolve();
  await holding;
  const job = await call<JobView>('getDataJob', { type: 'ingest', id: jobId });
  assert.equal(job.status, 'CANCELLED');
  assert.deepEqual(await call('queryData', { id: 'BUSY', key: 'SKODA' }), []);
  const again = await refusal(call('cancelIngestionJob', { id: jobId }));
  assert.match(again, /^Response 409 .* has ended in CANCELLED/);
});

test('updateDataset creates the dataset of its path, and changes an existing one', async () => {
  const data = JSON.stringify({ dataset: { schema: SCHEMA, columnMapping: { key: 'symbol' } } });
  assert.equal(
    (await call<ChangeAnswer>('updateDataset', { id: 'UPDATED', data })).datasetId,
    'UPDATED',
  );
  const got = await call<Record<string, unknown>>('getDataset', { id: 'UPDATED' });
  assert.deepEqual(got['columnMapping'], { key: 'symbol' });
  const again = JSON.stringify({ dataset: { title: 'Again', schema: SCHEMA } });
  await call('updateDataset', { id: 'UPDATED', data: again });
  const changed = await call<Record<string, unknown>>('getDataset', { id: 'UPDATED' });
  assert.deepEqual([changed['title'], changed['columnMapping']], ['Again', { key: 'symbol' }]);
});

test('fetchLogs, queryMeta, getSwagger, generateSchemaFromRemoteDataSource', async () => {
  const { jobId } = await loadDataset('TOLD');
  const logs = await call<readonly Record<string, unknown>[]>('fetchLogs', { period: '1h' });
  const own = logs.filter((line) => line['jobId'] === jobId);
  assert.ok(own.some(({ message }) => message === "changed data job status to 'VALIDATED'"));
  assert.ok(own.every(({ level, severity }) => level === 30 && severity === 'info'));
  const meta = await call<Record<string, unknown>>('queryMeta', { id: 'TOLD' });
  assert.deepEqual([meta['datasetId'], meta['records'], meta['keys']], ['TOLD', 3, 2]);
  const ofKey = await call<Record<string, unknown>>('queryMeta', { id: 'TOLD', key: 'AUDI' });
  assert.deepEqual([ofKey['key'], ofKey['records']], ['AUDI', 2]);
  const whole = await call<readonly Record<string, unknown>[]>('queryMeta');
  assert.ok(whole.some((item) => item['datasetId'] === 'TOLD'));
  const document = await call<{ readonly openapi: string; readonly paths: object }>('getSwagger');
  assert.equal(document.openapi, '3.1.0');
  assert.ok('/data/{workspace}/{id}' in document.paths);
  const sample = { data: CSV, contentType: 'text/csv' };
  const pendingSchema = call<Record<string, unknown>>('generateSchemaFromRemoteDataSource', sample);
  const schema = await pendingSchema;
  assert.deepEqual(schema['properties'], SCHEMA.properties);
});

test('timeSeries and timeSeriesInventory of the client itself', async () => {
  await loadDataset('SERIES');
  const last = { id: 'SERIES', key: 'AUDI', last: 2 };
  const rows = (await client.timeSeries(last)) as readonly Record<string, unknown>[];
  assert.deepEqual(
    rows.map(({ id, key, date, price }) => [id, key, date, price]),
    [
      ['SERIES', 'AUDI', Date.UTC(2024, 0, 2), 11],
      ['SERIES', 'AUDI', Date.UTC(2024, 0, 1), 10.5],
    ],
  );
  const inventory = (await client.timeSeriesInventory({})) as readonly { readonly id: string }[];
  assert.ok(inventory.some(({ id }) => id === 'SERIES'));
});
