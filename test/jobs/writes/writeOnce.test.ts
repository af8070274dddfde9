// Writes with an Idempotency-Key are done once; crashes of the server during them:
// test/soak/crash/rounds/onceRounds.ts.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'vitest';
import { KEY_LIFETIME_MS, KEYS_MAX } from '../../../store/work/writeKeys.ts';
import { read } from '../../base/client.ts';
import { emptyFolder } from '../../base/freshFolders.ts';
import { startServer, type TestServer } from '../../base/server.ts';

interface Sent {
  readonly status: number;
  readonly text: string;
}

async function post(
  server: TestServer,
  path: string,
  key: string,
  body: unknown,
  method = 'POST',
): Promise<Sent> {
  const answer = await fetch(`${server.base}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${server.secret}`, 'idempotency-key': key },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

const rowsOf = async (server: TestServer, dataset: string): Promise<readonly unknown[]> =>
  JSON.parse(await read(server, `/data/WS/${dataset}?limit=1000`)) as readonly unknown[];

const ROW = { symbol: 'A', time: '2024-01-01T10:00:00Z', n: 1 };
const CSV = 'symbol,time,n\nA,2024-01-01T10:00:00Z,1\n';

test.each([
  ['a push', '/record/WS/D', ROW, 'POST'],
  ['a write that is a load', '/record/WS/D', { ...ROW, time: '2024-01-01 10:00' }, 'POST'],
  ['a load', '/data/WS/D?wait=true', CSV, 'POST'],
  ['a load without a waiting caller', '/data/WS/D', CSV, 'POST'],
  ['a load of 2021', '/datasets/WS/D?wait=true', CSV, 'PUT'],
] as const)('%s with a key is done once, and answered as the first time', async (...args) => {
  const [, path, body, method] = args;
  const folder = await emptyFolder();
  const first = await (async () => {
    await using server = await startServer({ folder });
    assert.equal((await post(server, '/record/WS/D', 'first', { ...ROW, n: 0 })).status, 200);
    const all = await Promise.all([1, 2, 3].map(() => post(server, path, 'key', body, method)));
    const [one] = all;
    assert.ok(one);
    assert.equal(one.status, 200, one.text);
    for (const other of all) assert.deepEqual(other, one, 'at the same time');
    assert.deepEqual(await post(server, path, 'key', body, method), one, 'again');
    return one;
  })();
  await using server = await startServer({ folder });
  assert.deepEqual(await post(server, path, 'key', body, method), first, 'after a restart');
  const job = (JSON.parse(first.text) as { readonly jobId?: string }).jobId;
  if (job !== undefined) await server.tapedeck.services.runner.ended(job);
  assert.equal((await rowsOf(server, 'D')).length, 2);
  const other = await post(server, path, 'key', method === 'PUT' ? `${CSV}B,,2\n` : '[]', method);
  assert.equal(other.status, 409, other.text);
  assert.match(other.text, /Idempotency-Key was used for another request: send another request/);
  await rm(folder, { recursive: true });
});

test('a key is of one path and one account, and of a request that was done', async () => {
  await using server = await startServer();
  assert.equal((await post(server, '/record/WS/D', 'key', ROW)).status, 200);
  assert.equal((await post(server, '/record/WS/E', 'key', ROW)).status, 409);
  const refused = await post(server, '/record/WS/D', 'failed', '{"symbol":');
  assert.equal(refused.status, 400);
  const mended = await post(server, '/record/WS/D', 'failed', { ...ROW, n: 2 });
  assert.equal(mended.status, 200, 'a refused request did not use its key');
  for (const bad of ['a b', 'x'.repeat(256)]) {
    const answer = await post(server, '/record/WS/D', bad, ROW);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /header Idempotency-Key must have 1 to 255 visible ASCII characters/);
  }
});

test('exports, schedules and jobs that a request creates are created once', async () => {
  const exported = await emptyFolder();
  await using server = await startServer({ settings: { TAPEDECK_EXPORT_FOLDER: exported } });
  await post(server, '/record/WS/D', 'first', ROW);
  const target = { type: 'FILE', path: 'a' };
  const order = { dataset: 'D', format: 'csv', target };
  const one = await post(server, '/exports/WS?wait=true', 'export', order);
  assert.equal(one.status, 200, one.text);
  assert.deepEqual(await post(server, '/exports/WS?wait=true', 'export', order), one);
  await rm(exported, { recursive: true });
  const source = await post(server, '/data-sources/WS', 'unused', {
    name: 'own',
    type: 'DATASET',
    dataset: 'D',
  });
  const { dataSourceId } = JSON.parse(source.text) as { readonly dataSourceId: string };
  const job = { dataSourceId, datasetId: 'COPY' };
  const pulled = await post(server, '/jobs/WS/ingest?wait=true', 'job', job);
  assert.equal(pulled.status, 200, pulled.text);
  assert.deepEqual(await post(server, '/jobs/WS/ingest?wait=true', 'job', job), pulled);
  const { jobId } = JSON.parse(pulled.text) as { readonly jobId: string };
  const retried = await post(server, `/jobs/WS/ingest/${jobId}/retry?wait=true`, 'retry', '');
  assert.equal(retried.status, 200, retried.text);
  assert.deepEqual(
    await post(server, `/jobs/WS/ingest/${jobId}/retry?wait=true`, 'retry', ''),
    retried,
  );
  const jobs = await server.tapedeck.services.database.selectFrom('job').selectAll().execute();
  assert.equal(jobs.length, 2);
});

test('keys are kept for a day, an account has a maximum, and a purge removes them', async () => {
  let nowMs = Date.parse('2024-05-01T00:00:00Z');
  await using server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  const { database, writeKeys } = server.tapedeck.services;
  const count = async (): Promise<number> =>
    (await database.selectFrom('write_key').select('write_key').execute()).length;
  assert.equal((await post(server, '/record/WS/D', 'key', ROW)).status, 200);
  nowMs += KEY_LIFETIME_MS - 1;
  assert.equal((await post(server, '/record/WS/D', 'key', ROW)).status, 200);
  assert.equal((await rowsOf(server, 'D')).length, 1);
  nowMs += 1;
  assert.equal((await post(server, '/record/WS/D', 'key', ROW)).status, 200);
  assert.equal((await rowsOf(server, 'D')).length, 2, 'it is a new request after a day');
  assert.equal(await count(), 1);
  const purge = `${server.base}/v1/datasets/WS/D?purge=true&token=${server.secret}`;
  assert.equal((await fetch(purge, { method: 'DELETE' })).status, 200);
  assert.equal(await count(), 0);
  await post(server, '/record/WS/D', 'key', ROW);
  nowMs += KEY_LIFETIME_MS;
  await writeKeys.expire();
  assert.equal(await count(), 0);
  const of = { account_id: server.tapedeck.accountId, fingerprint: '', answer: '{}' };
  const rows = Array.from({ length: KEYS_MAX }, (_, at) => ({
    ...of,
    write_key: String(at),
    workspace: '',
    dataset: '',
    created_ms: nowMs,
  }));
  for (let at = 0; at < KEYS_MAX; at += 2_000) {
    await database
      .insertInto('write_key')
      .values(rows.slice(at, at + 2_000))
      .execute();
  }
  nowMs += 61_000;
  const full = await post(server, '/record/WS/D', 'more', ROW);
  assert.equal(full.status, 429, full.text);
  assert.match(full.text, /the account has 100000 Idempotency-Key values of the last day/);
}, 60_000);
