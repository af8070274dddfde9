// The order of day and month as the owner specifies it: CSV and JSON, new and existing datasets.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { findDateSpelling } from '../../../pipeline/values/dateFormats.ts';
import { findRejects } from '../../../store/work/jobs.ts';
import { runHere } from '../../cli/commandHere.ts';
import { load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
let shelf: string;
beforeAll(async () => {
  shelf = await mkdtemp(join(tmpdir(), 'tapedeck-shelf-'));
  const settings = { TAPEDECK_SOURCE_FOLDER: shelf };
  server = await startServer({ settings, seams: { watch: false } });
  await writeServerFile(server.folder, { base: server.base });
});
afterAll(async () => {
  await server.close();
  await rm(shelf, { recursive: true });
});

const days = async (id: string): Promise<readonly unknown[]> => {
  const text = await read(server, `/data/WS/${id}?limit=100&sort=asc`);
  return (JSON.parse(text) as readonly { date: unknown }[]).map(({ date }) => date);
};

const rejectsOf = async (jobId: string): Promise<readonly string[]> =>
  (await findRejects(server.tapedeck.services.database, jobId)).map(
    ({ line, error }) => `${line}: ${error}`,
  );

const CSV = 'symbol,date,v\nA,01/02/2024,1\nB,11/12/2024,2\n';
const NEEDS_ORDER = /column 'date' needs dateOrder=MDY or DMY \(--date-order\): '0\d\/0\d\/2024'/;
const MONTHS_FIRST = ['2024-01-02', '2024-11-12'];
const DAYS_FIRST = ['2024-02-01', '2024-12-11'];

test('a specified order decides ambiguous values, and nothing else', () => {
  const read = (values: readonly string[], order?: 'MDY' | 'DMY') => {
    const how = findDateSpelling(values, order)?.read;
    return how?.kind === 'written' ? { kind: how.kind, order: how.order } : how;
  };
  const months = { kind: 'written', order: 'MDY' };
  const days = { kind: 'written', order: 'DMY' };
  assert.equal(read(['01/02/2024']), undefined);
  assert.deepEqual(read(['01/02/2024'], 'MDY'), months);
  assert.deepEqual(read(['1/2/2024'], 'DMY'), days);
  assert.deepEqual(read(['13/02/2024'], 'MDY'), months, 'a value that contradicts it is a misfit');
  assert.deepEqual(read(['2024-02-13'], 'MDY'), { kind: 'cast' });
  assert.deepEqual(read(['2024/02/13'], 'DMY'), {
    kind: 'written',
    order: undefined,
  });
  assert.equal(read(['01/02/2024', 'soon'], 'DMY'), undefined);
});

test('a load creates its dataset with the specified order', async () => {
  await loaded(server, 'MONTHS', CSV, { dateOrder: 'MDY' });
  assert.deepEqual(await days('MONTHS'), MONTHS_FIRST);
  await loaded(server, 'DAYS', CSV, { dateOrder: 'DMY' });
  assert.deepEqual(await days('DAYS'), DAYS_FIRST);
  const unsaid = await load(server, 'UNSAID', CSV);
  assert.equal(unsaid.status, 400);
  assert.match(await unsaid.text(), NEEDS_ORDER);
});

test('JSON too, and an existing dataset', async () => {
  const records = (...dates: readonly string[]): string =>
    JSON.stringify(dates.map((date, at) => ({ symbol: `S${at}`, date, v: at })));
  await loaded(server, 'JSON_DAYS', records('01/02/2024', '11/12/2024'), { dateOrder: 'DMY' });
  assert.deepEqual(await days('JSON_DAYS'), DAYS_FIRST);
  const job = await loaded(server, 'JSON_DAYS', records('03/04/2024', '04/13/2024'), {
    dateOrder: 'DMY',
  });
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [1, 1]);
  const reason = "validation failed: property 'date' should be date in the order DMY";
  assert.deepEqual(await rejectsOf(job.jobId), [`2: ${reason}, not "04/13/2024"`]);
  const unsaid = await load(server, 'JSON_DAYS', records('05/06/2024'));
  assert.match(await unsaid.text(), NEEDS_ORDER);
  assert.deepEqual(await days('JSON_DAYS'), ['2024-02-01', '2024-04-03', '2024-12-11']);
});

test('a value that contradicts the order is rejected, named, and never read the other way', async () => {
  await loaded(server, 'KNOWN', 'symbol,date,v\nA,2024-01-01,1\n');
  const csv = 'symbol,date,v\nB,02/03/2024,1\nC,13/02/2024,2\nD,12/31/2024,3\n';
  const job = await loaded(server, 'KNOWN', csv, { dateOrder: 'MDY' });
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 1]);
  const reason = "validation failed: property 'date' should be date in the order MDY";
  assert.deepEqual(await rejectsOf(job.jobId), [`3: ${reason}, not "13/02/2024"`]);
  assert.deepEqual(await days('KNOWN'), ['2024-01-01', '2024-02-03', '2024-12-31']);
});

test('a new dataset gets no date of it: as text, or not at all where it was to be the date', async () => {
  const csv = 'symbol,date\nA,01/02/2024\nB,13/02/2024\n';
  const { jobId } = await loaded(server, 'TEXTS', csv, { dateOrder: 'MDY' });
  assert.deepEqual(await days('TEXTS'), ['01/02/2024', '13/02/2024']);
  const logs = await fetch(`${server.base}/v1/logs/WS?jobId=${jobId}&token=${server.secret}`);
  const why = 'date becomes string: line 3 has \\"13/02/2024\\", no date in the order MDY';
  assert.ok((await logs.text()).includes(why));
  const mapped = await load(server, 'NO_DATES', csv, { dateOrder: 'MDY', date: 'date' });
  const expected =
    /'date' can not be the date: line 3 has \\"13\/02\/2024\\", no date in the order MDY/;
  assert.match(await mapped.text(), expected);
  assert.equal(mapped.status, 400);
});

test('an invalid order', async () => {
  const answer = await load(server, 'NONE', CSV, { dateOrder: 'YMD' });
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /"dateOrder\\" must be one of MDY, DMY/);
});

type JsonObject = Readonly<Record<string, unknown>>;

async function ask(method: string, path: string, value?: object): Promise<JsonObject> {
  const { status, text } = await send(server, method, path, value);
  assert.equal(status, 200, text);
  return JSON.parse(text) as JsonObject;
}

test('jobs from sources, their retries and dry runs, and schedules', async () => {
  await writeFile(join(shelf, 'days.csv'), CSV);
  const source = await ask('POST', '/data-sources/WS', {
    type: 'FILE',
    path: 'days.csv',
    name: 'd',
  });
  const { dataSourceId } = source;
  const order = { dataSourceId, datasetId: 'PULLED', dateOrder: 'DMY' };
  const dry = await ask('POST', '/jobs/WS/ingest?dryRun=true', order);
  assert.deepEqual(dry['columnMapping'], { key: 'symbol', date: 'date' });
  const { jobId } = await ask('POST', '/jobs/WS/ingest?wait=true', order);
  assert.deepEqual(await days('PULLED'), DAYS_FIRST);
  await ask('POST', `/jobs/WS/ingest/${String(jobId)}/retry?wait=true`);
  assert.deepEqual(await days('PULLED'), DAYS_FIRST, 'the same again');
  const plan = { dataSourceId, datasetId: 'BY_DAY', every: 'day', dateOrder: 'MDY' };
  const { ingestionScheduleId: id } = await ask('POST', '/ingestion-schedules/WS', plan);
  const path = `/ingestion-schedules/WS/${String(id)}`;
  assert.equal((await ask('GET', path))['dateOrder'], 'MDY');
  await ask('POST', `${path}/run?wait=true`);
  assert.deepEqual(await days('BY_DAY'), MONTHS_FIRST);
});

async function tapedeck(...args: readonly string[]): Promise<void> {
  const env = { TAPEDECK_DATA: server.folder, TAPEDECK_LOG: 'silent' };
  const { code, stderr } = await runHere(args, { env });
  assert.equal(code, 0, stderr);
}

test('--date-order of tapedeck ingest and schedule add, kept through a pause', async () => {
  const file = join(shelf, 'months.csv');
  await writeFile(file, CSV);
  const place = ['--workspace', 'WS'];
  await tapedeck('ingest', file, '--dataset', 'BY_HAND', '--date-order', 'MDY', ...place);
  assert.deepEqual(await days('BY_HAND'), MONTHS_FIRST);
  await ask('POST', '/data-sources/WS', { type: 'FILE', path: 'months.csv', name: 'months' });
  const added = ['--dataset', 'LATER', '--date-order', 'DMY', '--start', '2999-01-01'];
  await tapedeck('schedule', 'add', 'months', ...added, ...place);
  await tapedeck('schedule', 'pause', 'LATER', ...place);
  const all = (await ask('GET', '/ingestion-schedules/WS')) as unknown as readonly JsonObject[];
  const later = all.find(({ datasetId }) => datasetId === 'LATER');
  assert.deepEqual([later?.['state'], later?.['dateOrder']], ['PAUSED', 'DMY']);
});
