// Loads that were acknowledged but had not run when the server died: they run in the order of their
// acknowledgement, even if the data folder has moved.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import type { Seams } from '../../../app/core.ts';
import { load, read, send } from '../../base/client.ts';
import { copyAtOnce, startServer } from '../../base/server.ts';
import { waitForJobs } from './aftermath.ts';

const LOADS = 5;

interface Died extends AsyncDisposable {
  /** A copy of the folder from right after the last answer. */
  readonly left: string;
  /** The server's original folder. */
  readonly folder: string;
}

/** Starts a server that accepts loads that replace one record repeatedly, and dies while they are queued. */
async function dieWithLoadsWaiting(seams: Seams): Promise<Died> {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-resume-'));
  const [folder, left] = [join(root, 'folder'), join(root, 'left')];
  const server = await startServer({ folder, seams });
  for (let version = 1; version <= LOADS; version += 1) {
    const body = `symbol,date,version\nX,2020-01-01,${version}\n`;
    const query = { wait: 'false', duplicateKeyHandling: 'replace' };
    const answer = await load(server, 'A', body, query);
    assert.equal(answer.status, 200, await answer.text());
  }
  await copyAtOnce(server, left);
  await server.close();
  rmSync(folder, { recursive: true });
  const drop = (): Promise<void> => rm(root, { recursive: true, force: true });
  return { left, folder, [Symbol.asyncDispose]: drop };
}

async function expectNewest(folder: string): Promise<void> {
  await using server = await startServer({ folder });
  assert.deepEqual(await waitForJobs(folder), []);
  // The catalog has a commit a moment before readers see it: a request to the server waits for that.
  const { text } = await send(server, 'GET', '/jobs/WS/ingest');
  const jobs = JSON.parse(text) as readonly { readonly status: string }[];
  assert.deepEqual(new Set(jobs.map(({ status }) => status)), new Set(['INGESTED']));
  assert.equal(
    await read(server, '/data/WS/A/X'),
    `[{"symbol":"X","date":"2020-01-01","version":${LOADS}}]`,
  );
}

test('queued loads keep their order even if the clock is set back', async () => {
  let nowMs = Date.now();
  const clock = (): number => {
    nowMs -= 1_000;
    return nowMs;
  };
  await using died = await dieWithLoadsWaiting({ clock });
  cpSync(died.left, died.folder, { recursive: true });
  await expectNewest(died.folder);
});

test('queued loads move with their folder', async () => {
  await using died = await dieWithLoadsWaiting({});
  await expectNewest(died.left);
});
