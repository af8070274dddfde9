// Commands on a disk with little or no space: reads succeed, writes report the reason, no command hangs, and
// nothing is left half-written.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { smallDisk } from '../../base/smallDisk.ts';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

/** Text that cannot be compressed. */
const digest = (at: number): string => createHash('sha256').update(String(at)).digest('hex');

let outside = '';
beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 'tapedeck-outside-'));
  await writeFile(join(outside, 'p.csv'), 'symbol,v\nA,1\n');
  const rows = Array.from({ length: 60_000 }, (_, at) => `${digest(at)},${at}`);
  await writeFile(join(outside, 'big.csv'), `symbol,v\n${rows.join('\n')}\n`);
});
afterAll(() => rm(outside, { recursive: true, force: true }));

test('1 MB, 64 kB, nothing', async (t) => {
  const { folder, leave } = await smallDisk(t);
  const data = join(folder, 'data');
  const env = { TAPEDECK_DATA: data, TAPEDECK_LOG: 'silent' };
  const run = (...args: readonly string[]): Promise<Ran> => runHere(args, { env, cwd: outside });
  const sql = (): Promise<Ran> => run('sql', 'SELECT symbol, v FROM P', '--format', 'csv');
  const answered = { code: 0, stdout: 'symbol,v\nA,1\n', stderr: '' };
  await run('workspace', 'create', 'W');
  expect((await run('ingest', 'p.csv', '--dataset', 'P')).code).toBe(0);
  await leave(1_000_000);
  expect(await sql()).toEqual(answered);
  const status = await run('status');
  expect([status.code, status.stdout]).toEqual([1, expect.stringContaining('make room')]);
  const refused = await run('ingest', 'big.csv', '--dataset', 'BIG');
  const sentence = 'the disk is full: nothing was written';
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining(sentence)]);
  expect((await run('dataset', 'list', '--json')).stdout).not.toContain('BIG');
  await leave(64_000);
  expect((await sql()).stdout).toBe(answered.stdout);
  expect((await run('tokens', 'list')).code).toBe(0);
  await leave(0);
  // The reserve has enough space for a start.
  expect(await sql()).toEqual(answered);
  await rm(join(data, 'reserve'));
  await leave(0);
  for (const args of [['sql', 'SELECT 1'], ['status'], ['workspace', 'create', 'X'], ['serve']]) {
    const { code, stderr, stdout } = await run(...args);
    expect([args, code, stdout]).toEqual([args, 1, '']);
    expect(stderr).toBe(`tapedeck: the disk of ${data} is full: make room\n`);
  }
  await leave(undefined);
  expect(await sql()).toEqual(answered);
  expect((await run('ingest', 'big.csv', '--dataset', 'BIG')).code).toBe(0);
});
