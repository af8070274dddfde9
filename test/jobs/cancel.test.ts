// A cancelled job leaves nothing behind, whether it waited or ran; its dataset's next job continues.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from 'vitest';
import { get, load, loaded, read, send } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';

/** Enough rows for a load of about a second, so that requests arrive while it runs. */
const ROWS = 600_000;

const INDEX = { key: 'symbol', date: 'date' };

async function submitted(server: TestServer, dataset: string, csv: string): Promise<string> {
  const answer = await load(server, dataset, csv, { wait: 'false' });
  return ((await answer.json()) as { readonly jobId: string }).jobId;
}

const job = async (server: TestServer, path: string): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${server.base}/v1/jobs/WS/${path}?token=${server.secret}`);
  return (await answer.json()) as Record<string, unknown>;
};

test('a running and a waiting job are cancelled, the one between them is not', async () => {
  await using server = await startServer();
  const rows = Array.from({ length: ROWS }, (_, at) => `K${at},2020-01-01,${at}`);
  const big = `symbol,date,n\n${rows.join('\n')}\n`;
  const running = await submitted(server, 'C', big);
  const middleJob = await submitted(server, 'C', 'symbol,date,n\nKEPT,2020-01-01,1\n');
  const waiting = await submitted(server, 'C', 'symbol,date,n\nLEFT,2020-01-01,1\n');
  const first = await job(server, `ingest/${waiting}/cancel`);
  assert.equal(first['success'], true);
  assert.equal((await job(server, `ingest/${waiting}`))['status'], 'CANCELLED');
  assert.equal((await job(server, running))['success'], true);
  const ended = await server.tapedeck.services.runner.ended(running);
  assert.equal(ended.status, 'CANCELLED');
  await server.tapedeck.services.runner.ended(middleJob);
  assert.equal(await read(server, '/data/WS/C?last=9&filter=symbol'), '[{"symbol":"KEPT"}]');
  assert.deepEqual(readdirSync(join(server.folder, 'spool')), []);
  assert.deepEqual(readdirSync(join(server.folder, 'tmp')), []);
  assert.match(
    String((await job(server, `ingest/${middleJob}/cancel`))['message']),
    /has ended in INGESTED/,
  );
});

test('a load with repeated records can be cancelled at any moment', async () => {
  await using server = await startServer();
  const rows = Array.from({ length: 60_000 }, (_, at) => `K${at % 59_700},2020-01-01,${at}`);
  const csv = `symbol,date,n\n${rows.join('\n')}\n`;
  const unhandled: unknown[] = [];
  const record = (reason: unknown): number => unhandled.push(reason);
  process.on('unhandledRejection', record);
  try {
    for (let waitMs = 0; waitMs < 320; waitMs += 16) {
      const dataset = `R${waitMs}`;
      const answer = await load(server, dataset, csv, { wait: 'false', ...INDEX });
      const { jobId } = (await answer.json()) as { readonly jobId: string };
      await setTimeout(waitMs);
      await job(server, `ingest/${jobId}/cancel`);
      const { status } = await server.tapedeck.services.runner.ended(jobId);
      assert.ok(['CANCELLED', 'INGESTED'].includes(status), status);
    }
  } finally {
    process.off('unhandledRejection', record);
  }
  assert.deepEqual(unhandled, []);
});

test('a first load that fails after the creation of its dataset leaves no dataset', async () => {
  let isBroken = false;
  const at = (point: string): void => {
    if (isBroken && point === 'parquet-written') throw new Error('broken');
  };
  await using server = await startServer({ seams: { at } });
  isBroken = true;
  const jobId = await submitted(server, 'E', 'symbol,date,n\nA,2020-01-01,1\n');
  assert.equal((await server.tapedeck.services.runner.ended(jobId)).status, 'ERROR');
  assert.equal((await send(server, 'GET', '/datasets/WS/E')).status, 404);
  isBroken = false;
  // The failed file has no influence on the types of a later one.
  await loaded(server, 'E', 'symbol,date,n\nA,2020-01-01,x\n');
  assert.equal(await read(server, '/data/WS/E?last=9&filter=n'), '[{"n":"x"}]');
});

test('loads, renames and deletions of one dataset take turns', async () => {
  await using server = await startServer();
  await loaded(server, 'T', 'symbol,date\nA,2020-01-01\n');
  const at = (path: string): string => `${server.base}/v1/${path}?token=${server.secret}`;
  const answers = await Promise.all([
    load(server, 'T', 'symbol,date\nB,2020-01-01\n'),
    fetch(at('datasets/WS/T/U'), { method: 'PUT' }),
    load(server, 'T', 'symbol,date\nC,2020-01-01\n'),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  // Their order is not defined; each load is complete in the dataset that had its name at that moment.
  const symbols = async (dataset: string): Promise<readonly string[]> => {
    const answer = await get(server, `/data/WS/${dataset}?last=9&filter=symbol`);
    if (answer.status === 404) return [];
    return ((await answer.json()) as { symbol: string }[]).map(({ symbol }) => symbol);
  };
  assert.deepEqual([...(await symbols('U')), ...(await symbols('T'))].sort(), ['A', 'B', 'C']);
  const deletion = await fetch(at('datasets/WS/U'), { method: 'DELETE' });
  assert.equal(deletion.status, 200);
  assert.equal((await get(server, '/data/WS/U')).status, 404);
});
