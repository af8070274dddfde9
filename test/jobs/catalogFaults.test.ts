// Writes to the catalog that fail at the begin or the end of a job: the job fails, and the server goes on.
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { test } from 'vitest';
import { type Disk, localDisk } from '../../store/base/disk.ts';
import { load, loaded, send } from '../base/client.ts';
import { startHttp } from '../base/servers/http.ts';
import { startServer, type TestServer } from '../base/server.ts';

/** Makes the catalog refuse the matching statements until the result is called. */
async function refuseWrites(
  { tapedeck }: TestServer,
  statement: string,
  when: string,
): Promise<() => Promise<void>> {
  const { database } = tapedeck.services;
  const refusal = "BEGIN SELECT raise(ABORT, 'refused'); END";
  const trigger = `CREATE TRIGGER refusal BEFORE ${statement} WHEN ${when} ${refusal}`;
  await sql.raw(trigger).execute(database);
  return async () => void (await sql.raw('DROP TRIGGER refusal').execute(database));
}

/** Runs a function and returns the rejections that nothing handled meanwhile. */
async function unhandledDuring(work: () => Promise<void>): Promise<readonly unknown[]> {
  const unhandled: unknown[] = [];
  const record = (reason: unknown): number => unhandled.push(reason);
  process.on('unhandledRejection', record);
  try {
    await work();
    await new Promise(setImmediate);
  } finally {
    process.off('unhandledRejection', record);
  }
  return unhandled;
}

interface JobView {
  readonly datasetId: string;
  readonly status: string;
}

/** Status of the job of each dataset. */
async function jobStatuses(server: TestServer): Promise<Readonly<Record<string, string>>> {
  const { text } = await send(server, 'GET', '/jobs/WS/ingest');
  const jobs = JSON.parse(text) as readonly JobView[];
  return Object.fromEntries(jobs.map(({ datasetId, status }) => [datasetId, status]));
}

test('a load or fetch whose first log line cannot be written fails alone', async () => {
  const settings = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
  await using server = await startServer({ settings });
  await using list = await startHttp((_, response) => void response.end('[{"symbol":"A","v":1}]'));
  const source = { type: 'HTTP', name: 'list', url: `http://127.0.0.1:${list.port}/list` };
  const created = await send(server, 'POST', '/data-sources/WS', source);
  const { dataSourceId } = JSON.parse(created.text) as { readonly dataSourceId: string };
  const order = { dataSourceId, datasetId: 'FETCHED', columnMapping: { key: 'symbol' } };
  const unhandled = await unhandledDuring(async () => {
    const line = "NEW.message LIKE '%has been created'";
    const allowWrites = await refuseWrites(server, 'INSERT ON log', line);
    assert.equal((await send(server, 'POST', '/jobs/WS/ingest', order)).status, 500);
    assert.equal((await load(server, 'LOADED', 'symbol\nA\n')).status, 500);
    await allowWrites();
    await loaded(server, 'NEXT', 'symbol\nA\n');
    await server.tapedeck.services.runner.stop(1_000);
  });
  assert.deepEqual(unhandled, []);
  assert.deepEqual(await jobStatuses(server), {
    FETCHED: 'ERROR',
    LOADED: 'ERROR',
    NEXT: 'INGESTED',
  });
});

test('a failed clean-up after a late end of a job does not stop the next job', async () => {
  let isRefused = false;
  const remove: Disk['remove'] = async (path) => {
    if (isRefused && path.includes('spool')) throw new Error('refused');
    await localDisk.remove(path);
  };
  await using server = await startServer({ seams: { disk: { ...localDisk, remove } } });
  const unhandled = await unhandledDuring(async () => {
    const allowWrites = await refuseWrites(server, 'UPDATE ON job', "NEW.status = 'ERROR'");
    assert.notEqual((await load(server, 'LATE', '{"rows":')).status, 200);
    await allowWrites();
    isRefused = true;
    const next = await load(server, 'NEXT', 'symbol\nA\n', { wait: 'false' });
    const { jobId } = (await next.json()) as { readonly jobId: string };
    await server.tapedeck.services.runner.ended(jobId);
    isRefused = false;
  });
  assert.deepEqual(unhandled, []);
  assert.deepEqual(await jobStatuses(server), { LATE: 'ERROR', NEXT: 'INGESTED' });
});
