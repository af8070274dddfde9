// Loads that were acknowledged and not yet run when the server died: they run in the order they
// were acknowledged, and wherever the data folder is by then.
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
  /** The folder as it was right after the last answer. */
  readonly left: string;
  /** Where the server had it. */
  readonly folder: string;
}

/** A server takes loads that replace one record again and again, and dies with them waiting. */
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
  // The catalog knows of a commit a moment before readers do: whoever asks the server waits for them.
  const { text } = await send(server, 'GET', '/jobs/WS/ingest');
  const jobs = JSON.parse(text) as readonly { readonly status: string }[];
  assert.deepEqual(new Set(jobs.map(({ status }) => status)), new Set(['INGESTED']));
  assert.equal(
    await read(server, '/data/WS/A/X'),
    `[{"symbol":"X","date":"2020-01-01","version":${LOADS}}]`,
  );
}

test('waiting loads keep their order though the clock is set back', async () => {
  let nowMs = Date.now();
  const clock = (): number => {
    nowMs -= 1_000;
    return nowMs;
  };
  await using died = await dieWithLoadsWaiting({ clock });
  cpSync(died.left, died.folder, { recursive: true });
  await expectNewest(died.folder);
});

test('waiting loads move with their folder', async () => {
  await using died = await dieWithLoadsWaiting({});
  await expectNewest(died.left);
});
