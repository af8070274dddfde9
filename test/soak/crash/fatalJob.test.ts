// A job during which the server died twice ends in ERROR at the third start; other jobs continue.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { findJob } from '../../../store/work/jobs.ts';
import { read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { Victim } from './victim/victimProcess.ts';
import type { Door } from './victim/writer.ts';

const roots: string[] = [];
afterAll(() => Promise.all(roots.map((root) => rm(root, { recursive: true, force: true }))));

async function newFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-fatal-'));
  roots.push(root);
  return join(root, 'data');
}

async function hand({ base, secret }: Door, dataset: string): Promise<string> {
  const url = `${base}/v1/data/WS/${dataset}?token=${secret}`;
  const answer = await fetch(url, { method: 'POST', body: 'symbol,date,v\nX,2020-01-01,1\n' });
  return ((await answer.json()) as { readonly jobId: string }).jobId;
}

const FUSE = { point: 'parquet-written', passes: 0 } as const;

const jobOf = async ({ tapedeck }: TestServer, jobId: string) => {
  const { database, runner } = tapedeck.services;
  await runner.ended(jobId);
  return findJob(database, jobId);
};

test('a job during which the server died at two starts is not tried a third time', async () => {
  const folder = await newFolder();
  await using first = await Victim.start(folder, FUSE);
  const jobId = await hand(first.door, 'FATAL');
  await first.exited();
  await using second = Victim.launch(folder, FUSE);
  await second.exited();
  assert.equal(second.killedAt, 'parquet-written');
  await using server = await startServer({ folder });
  const job = await jobOf(server, jobId);
  assert.equal(job?.status, 'ERROR');
  assert.match(
    job?.error ?? '',
    /^the server ended 2 times while this job ran: it is not retried automatically/,
  );
  const fine = await hand(server, 'FINE');
  assert.equal((await jobOf(server, fine))?.status, 'INGESTED');
});

test('jobs that ran concurrently with it are tried one at a time, and succeed', async () => {
  const folder = await newFolder();
  await using first = await Victim.start(folder, { ...FUSE, passes: 1 });
  const jobs = [await hand(first.door, 'A'), await hand(first.door, 'B')];
  await first.exited();
  await using server = await startServer({ folder });
  for (const jobId of jobs) assert.equal((await jobOf(server, jobId))?.status, 'INGESTED');
  assert.match(await read(server, '/data/WS/B'), /"X"/);
});

test('a server that is shut down does not count as one that died', async () => {
  const folder = await newFolder();
  const server = await startServer({ folder });
  const jobId = await hand(server, 'WHILE');
  const { runner } = server.tapedeck.services;
  await server.close();
  assert.equal(runner.isStopping(), true);
  await using again = await startServer({ folder });
  const job = await jobOf(again, jobId);
  assert.equal(job?.status, 'INGESTED');
  assert.ok((job?.attempts ?? 9) <= 1, `${job?.attempts} starts`);
});
