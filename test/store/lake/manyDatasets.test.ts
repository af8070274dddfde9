// Thousands of datasets: the first list after a start, and the cost of one more.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { makeMany } from './manyDatasets.ts';

const COUNT = 2_000;
/** Scans blocked the event loop for 16 s with 2,000. A busy machine is several times slower. */
const LIST_MS = 10_000;
const STANDSTILL_MS = 2_000;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-many-'));
  await using server = await startServer({ folder, seams: { watch: false } });
  await makeMany(server.tapedeck, COUNT);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('the first list after a start reads all of them in one batch', async () => {
  await using server = await startServer({ folder });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const began = performance.now();
  const answer = await fetch(`${server.base}/v1/meta/MANY/*?token=${server.secret}`);
  const list = (await answer.json()) as readonly { readonly records: number }[];
  const ms = performance.now() - began;
  await new Promise((resolve) => setTimeout(resolve, 10));
  const stoodStillMs = delay.max / 1e6;
  assert.equal(list.length, COUNT);
  assert.ok(list.every(({ records }) => records === 7));
  assert.ok(ms < LIST_MS, `${ms} ms`);
  assert.ok(stoodStillMs < STANDSTILL_MS, `the loop stood still for ${stoodStillMs} ms`);
});

test('a further dataset', async () => {
  await using server = await startServer({ folder });
  await loaded(server, 'BEFORE', 'symbol,date,v\nA,2024-01-01,1\n');
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await loaded(server, 'MORE', 'symbol,date,v\nA,2024-01-01,1\n');
  await new Promise((resolve) => setTimeout(resolve, 10));
  const stoodStillMs = delay.max / 1e6;
  assert.ok(stoodStillMs < STANDSTILL_MS, `the loop stood still for ${stoodStillMs} ms`);
});
