// A server that is killed during a re-ingest: before the commit nothing has changed, after the next start
// everything has changed, once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { startedBy } from '../../base/program.ts';

/** The point at which it is killed, and whether its job had committed by then. */
const POINTS = [
  ['job-recorded', false],
  ['parquet-written', false],
  ['file-renamed', false],
  ['transaction-open', false],
  ['transaction-committed', true],
] as const;

type JsonObject = Readonly<Record<string, unknown>>;

interface Door {
  readonly base: string;
  readonly secret: string;
}

async function ask({ base, secret }: Door, method: string, path: string, value?: object) {
  const headers = { authorization: `Bearer ${secret}` };
  const body = value === undefined ? {} : { body: JSON.stringify(value) };
  const answer = await fetch(`${base}/v1${path}`, { method, headers, ...body });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text) as JsonObject;
}

/** A dataset of two sources. */
async function fill(server: TestServer, shelf: string): Promise<void> {
  for (const [name, rows] of [
    ['one.csv', 'A,2024-01-01,01\nB,2024-01-01,02'],
    ['two.csv', 'C,2024-01-01,03'],
  ] as const) {
    await writeFile(join(shelf, name), `symbol,date,v\n${rows}\n`);
    const source = { type: 'FILE', path: name, name };
    const { dataSourceId } = await ask(server, 'POST', '/data-sources/WS', source);
    if (name === 'one.csv') {
      const text = { type: 'string' };
      const properties = {
        symbol: text,
        date: { ...text, format: 'date' },
        v: { type: 'integer' },
      };
      const columnMapping = { key: 'symbol', date: 'date' };
      const dataset = { datasetId: 'CODES', schema: { properties }, columnMapping };
      await ask(server, 'POST', '/datasets/WS', { dataset });
    }
    await ask(server, 'POST', '/jobs/WS/ingest?wait=true', { dataSourceId, datasetId: 'CODES' });
  }
}

/** Requests the edit, and waits until the server is dead. */
async function kill(folder: string, shelf: string, point: string): Promise<void> {
  const script = startedBy('test/jobs/upkeep/reingestVictim.ts');
  const args = ['--disable-warning=ExperimentalWarning', script, folder, shelf, point];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const exited = once(child, 'exit');
    const [heard] = (await once(child.stdout, 'data')) as [Buffer];
    const [base = '', secret = ''] = heard.toString().trim().split(' ');
    const schema = { properties: { v: { type: 'string' } } };
    const body = { schema, existing: 're-ingest' };
    // It may die before it responds.
    await ask({ base, secret }, 'PATCH', '/datasets/WS/CODES', body).catch(() => undefined);
    assert.deepEqual(await exited, [null, 'SIGKILL']);
  } finally {
    child.kill('SIGKILL');
  }
}

const values = async (server: TestServer, query = ''): Promise<readonly unknown[]> => {
  const text = await read(server, `/data/WS/CODES?limit=10&sort=asc${query}`);
  return (JSON.parse(text) as readonly JsonObject[]).map(({ v }) => v);
};

for (const [point, committed] of POINTS) {
  test(`killed at ${point}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-again-'));
    const shelf = await mkdtemp(join(tmpdir(), 'tapedeck-shelf-'));
    const settings = { TAPEDECK_SOURCE_FOLDER: shelf };
    const first = await startServer({ folder, settings, seams: { watch: false } });
    await fill(first, shelf);
    const before = first.tapedeck.services.lake.snapshot;
    await first.close();
    await kill(folder, shelf, point);
    const server = await startServer({ folder, settings, seams: { watch: false } });
    try {
      const { lake, runner } = server.tapedeck.services;
      if (committed) assert.equal(lake.snapshot, before + 1, 'the commit is the end of the job');
      const jobs = (await ask(
        server,
        'GET',
        '/jobs/WS/ingest',
      )) as unknown as readonly JsonObject[];
      const job = await runner.ended(String(jobs[0]?.['jobId']));
      assert.deepEqual([job.status, job.records_ingested], ['INGESTED', 3]);
      assert.equal(lake.snapshot, before + 1, 'one version');
      assert.deepEqual(await values(server), ['01', '02', '03']);
      assert.deepEqual(await values(server, `&asOf=${before}`), [1, 2, 3]);
      assert.deepEqual(await readdir(server.tapedeck.services.ingestion.temporary), []);
    } finally {
      await server.close();
      for (const one of [folder, shelf]) await rm(one, { recursive: true, force: true });
    }
  });
}
