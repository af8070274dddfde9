// `tapedeck export` with and without a running server. An interrupted command is a process of its own.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { readExport } from '../../jobs/export/exportReading.ts';
import { type Ran, type Started, startCommand } from '../command.ts';
import { runHere } from '../commandHere.ts';

const RECORDS = 2_000;
let folder = '';
let env: Record<string, string> = {};
const children: ChildProcess[] = [];

const start = (args: readonly string[], more: Record<string, string> = {}): Started =>
  startCommand(args, { cwd: folder, env: { ...env, ...more } }, children);

const run = (args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
  runHere(args, { cwd: folder, env: { ...env, ...more } });

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-cli-export-'));
  env = {
    TAPEDECK_DATA: join(folder, 'data'),
    TAPEDECK_PORT: '0',
    TAPEDECK_CHILDREN: '1',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_DEMO: 'off',
  };
  const lines = Array.from({ length: RECORDS }, (_, at) => `K${at},2024-01-01,${at}`);
  await writeFile(join(folder, 'p.csv'), `symbol,date,v\n${lines.join('\n')}\n`);
  await run(['workspace', 'create', 'W']);
  const loaded = await run(['ingest', 'p.csv', '--dataset', 'P']);
  assert.equal(loaded.code, 0, loaded.stderr);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('without a server a dataset is exported into any folder', async () => {
  const args = ['export', 'W.P', '--format', 'csv', '--compression', 'gzip', '--to', 'a/out'];
  const result = await run([...args, '--rows-per-file', '900']);
  assert.equal(result.code, 0, result.stderr);
  assert.match(
    result.stdout,
    /^W\.P: 2,000 records, 3 parts, \d\.\d MB, snapshot \d+: a\/out\/manifest\.json\n$/,
  );
  assert.match(result.stderr, /W\.P: 100 % DONE/);
  assert.equal((await readExport(join(folder, 'a/out'))).rows, RECORDS);
  const again = await run(args);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /out\/manifest\.json is there already/);
});

test('a query is exported as JSON lines', async () => {
  const query = 'SELECT max(v) AS most FROM P';
  const result = await run([
    'export',
    '--query',
    query,
    '--to',
    'most',
    '--format',
    'jsonl',
    '--json',
  ]);
  assert.equal(result.code, 0, result.stderr);
  assert.equal((JSON.parse(result.stdout) as { state: string }).state, 'DONE');
  assert.equal(readFileSync(join(folder, 'most/part-00001.jsonl'), 'utf8'), '{"most":1999}\n');
});

test('with a running server it exports below the folder of the server, and nowhere else', async () => {
  await mkdir(join(folder, 'shelf'));
  const shelf = { TAPEDECK_EXPORT_FOLDER: join(folder, 'shelf') };
  const server = start(['serve'], shelf);
  await until(() => server.output.stdout.includes('listens'));
  const inside = await run(['export', 'W.P', '--to', 'shelf/p'], shelf);
  assert.equal(inside.code, 0, inside.stderr);
  assert.equal((await readExport(join(folder, 'shelf/p'))).rows, RECORDS);
  const outside = await run(['export', 'W.P', '--to', 'other'], shelf);
  assert.deepEqual([outside.code, existsSync(join(folder, 'other'))], [1, false]);
  assert.match(outside.stderr, /below its TAPEDECK_EXPORT_FOLDER/);
  server.child.kill('SIGTERM');
  await server.ended;
});

test('Ctrl-C cancels it', async () => {
  const long = start(['export', 'W.P', '--format', 'csv', '--to', 'long', '--rows-per-file', '2']);
  await until(() => existsSync(join(folder, 'long/part-00003.csv')));
  long.child.kill('SIGINT');
  const result = await long.ended;
  assert.equal(result.code, 130, result.stderr);
  assert.match(result.stdout, /W\.P: the export was cancelled/);
  assert.equal(existsSync(join(folder, 'long/manifest.json')), false);
  const server = start(['serve']);
  await until(() => server.output.stdout.includes('listens'));
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(existsSync(join(folder, 'long/manifest.json')), false, 'it does not resume');
  server.child.kill('SIGTERM');
  await server.ended;
});

test('invalid exports are refused', async () => {
  for (const [args, why] of [
    [['W.P', '--to', 's3://bucket/x'], /--credential must name the credential/],
    [['W.P', '--to', 'x', '--rows-per-file', 'many'], /must be a whole number/],
    [['W.P', '--to', 'data/lake'], /in the data folder/],
    [['W.NOPE', '--to', 'x'], /there is no dataset W\.NOPE/],
    [['--to', 'x'], /exactly one of dataset and query/],
  ] as const) {
    const result = await run(['export', ...args]);
    assert.equal(result.code, 1);
    assert.match(result.stderr, why);
  }
});
