// The official JavaScript client, unmodified: credentials, data sources, schedules, their history,
// samples, jobs and webhooks.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';
import { type Client, iexjs, refusal } from './iexjs.ts';

const CSV = 'symbol,date,price\nAUDI,2024-01-01,10.5\nAUDI,2024-01-02,11\nSKODA,2024-01-01,5\n';

type JsonObject = Readonly<Record<string, unknown>>;

let server: TestServer;
let client: Client;
let shelf: string;
beforeAll(async () => {
  shelf = await mkdtemp(join(tmpdir(), 'tapedeck-shelf-'));
  await writeFile(join(shelf, 'cars.csv'), CSV);
  server = await startServer({ settings: { TAPEDECK_SOURCE_FOLDER: shelf } });
  iexjs.overrideUrl({ url: `${server.base}/v1/` });
  client = new iexjs.Client({ api_token: server.secret, version: 'v1' });
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await server.close();
  await rm(shelf, { recursive: true });
});

/** Calls a workspace method as a user of the client would, in workspace WS. */
function call<T = JsonObject>(name: string, options: JsonObject = {}): Promise<T> {
  const method = client.apperate[name];
  assert.ok(method !== undefined, name);
  return method.call(client.apperate, { workspace: 'WS', ...options }) as Promise<T>;
}

const body = (value: object): JsonObject => ({ data: JSON.stringify(value) });

/** Creates an object and returns its id. */
async function createItem(name: string, member: string, value: object): Promise<string> {
  const answer = await call(name, body(value));
  assert.equal(answer['success'], true);
  return String(answer[member]);
}

const SOURCE = { type: 'FILE', path: 'cars.csv', name: 'Cars' };

test('createCredential, getCredential, updateCredential, deleteCredential', async () => {
  const credential = {
    type: 'AWS-S3',
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'not returned',
  };
  const id = await createItem('createCredential', 'credentialId', credential);
  assert.match(id, /^CREDENTIAL_[0-9a-f]{32}$/);
  const one = await call('getCredential', { id });
  assert.deepEqual([one['type'], one['accessKeyId']], ['AWS-S3', '…MPLE']);
  assert.ok(!JSON.stringify(one).includes('not returned'));
  await call('updateCredential', { id, ...body({ ...credential, name: 'Bucket' }) });
  const all = await call<readonly JsonObject[]>('getCredential', { last: 1 });
  assert.deepEqual([all.length, all[0]?.['name']], [1, 'Bucket']);
  await call('deleteCredential', { id });
  assert.match(await refusal(call('getCredential', { id })), /^Response 404/);
});

test('configureS3ingegration is refused with the reason and the alternative', async () => {
  const arnrole = 'arn:aws:iam::123456789012:role/service-role/reader';
  const message = await refusal(call('configureS3ingegration', { arnrole }));
  assert.match(
    message,
    /^Response 400.*no AWS account that a role could trust.*POST \/credentials/,
  );
  assert.match(await refusal(call('configureS3ingegration', { arnrole: 'reader' })), /"?arnrole/);
});

test('createDataSource, getDataSource, updateDataSource, deleteDataSource', async () => {
  const id = await createItem('createDataSource', 'dataSourceId', {
    ...SOURCE,
    path: 'absent.csv',
  });
  await call('updateDataSource', { id, ...body(SOURCE) });
  const one = await call('getDataSource', { id });
  assert.deepEqual([one['name'], one['type'], one['path']], ['Cars', 'FILE', 'cars.csv']);
  assert.equal((await call<readonly JsonObject[]>('getDataSource')).length, 1);
  await call('deleteDataSource', { id });
  assert.deepEqual([...(await call<readonly JsonObject[]>('getDataSource'))], []);
});

test('sampleDataSource, generateSchemaFromDefinedDataSource and FromRemoteDataSource', async () => {
  const id = await createItem('createDataSource', 'dataSourceId', SOURCE);
  const rows = await call<readonly JsonObject[]>('sampleDataSource', { id });
  assert.deepEqual({ ...rows[0] }, { symbol: 'AUDI', date: '2024-01-01', price: 10.5 });
  const schema = await call('generateSchemaFromDefinedDataSource', { id });
  assert.deepEqual(Object.keys(schema['properties'] as object), ['symbol', 'date', 'price']);
  const remote = await call('generateSchemaFromRemoteDataSource', body(SOURCE));
  assert.deepEqual(remote['properties'], schema['properties']);
  await call('deleteDataSource', { id });
});

test('createDataJob loads the data of a source, and getDataJob describes it', async () => {
  const dataSourceId = await createItem('createDataSource', 'dataSourceId', SOURCE);
  const order = { dataSourceId, datasetId: 'CARS', columnMapping: { key: 'symbol', date: 'date' } };
  const { jobId } = await call('createDataJob', { type: 'ingest', ...body(order) });
  const ended = await server.tapedeck.services.runner.ended(String(jobId));
  assert.equal(ended.status, 'INGESTED', ended.error ?? '');
  const job = await call('getDataJob', { type: 'ingest', id: jobId });
  assert.deepEqual([job['sourceType'], job['recordsIngested']], ['FILE', 3]);
  const rows = await call<readonly JsonObject[]>('queryData', { id: 'CARS', key: 'AUDI', last: 1 });
  assert.equal(rows[0]?.['price'], 11);
});

test('create-, get-, update-, deleteIngestionSchedule and -History', async () => {
  const dataSourceId = await createItem('createDataSource', 'dataSourceId', SOURCE);
  const schedule = { name: 'Hourly', dataSourceId, datasetId: 'BY_HOUR', every: 'hour' };
  const id = await createItem('createIngestionSchedule', 'ingestionScheduleId', schedule);
  // Without a start time it runs immediately.
  const first = await until(async () => {
    const [run] = await call<readonly JsonObject[]>('getIngestionHistory', { id });
    return run?.['status'] === 'INGESTED' ? run : undefined;
  });
  assert.deepEqual([first['outcome'], first['recordsIngested']], ['RUN', 3]);
  await call('updateIngestionSchedule', { id, ...body({ ...schedule, state: 'PAUSED' }) });
  const paused = await call('getIngestionSchedule', { id });
  assert.deepEqual([paused['state'], paused['nextRun']], ['PAUSED', null]);
  assert.equal(paused['last30Days'], '3 Added | 0 Errors');
  const note = { ingestionScheduleId: id, note: 'by hand' };
  const noted = await createItem('createIngestionHistory', 'ingestionHistoryId', note);
  await call('updateIngestionHistory', { id: noted, ...body({ note: 'by other hands' }) });
  const entry = await call('getIngestionHistory', { id: noted });
  assert.deepEqual([entry['outcome'], entry['note']], ['NOTED', 'by other hands']);
  await call('deleteIngestionHistory', { id: noted });
  await call('deleteIngestionSchedule', { id });
  assert.deepEqual([...(await call<readonly JsonObject[]>('getIngestionSchedule'))], []);
});

test('createWebhook, getWebhook, updateWebhook, deleteWebhook', async () => {
  const webhook = { url: 'https://example.com/hook', secret: 'not returned to anyone' };
  const id = await createItem('createWebhook', 'webhookId', webhook);
  await call('updateWebhook', { id, ...body({ ...webhook, name: 'Told' }) });
  const one = await call('getWebhook', { id });
  assert.deepEqual([one['name'], one['signed'], one['delivered']], ['Told', true, 0]);
  assert.ok(!JSON.stringify(one).includes('not returned'));
  await call('deleteWebhook', { id });
  assert.deepEqual([...(await call<readonly JsonObject[]>('getWebhook'))], []);
});

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 200; tries += 1) {
    const result = await look();
    if (result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the condition was not met within 10 s');
}
