// `tapedeck file`: publishes, lists and withdraws files, by symbol and date, and exports of a dataset.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

let folder = '';
let env: Record<string, string> = {};

const run = (line: string): Promise<Ran> => runHere(line.split(' '), { cwd: folder, env });

async function readOutput(line: string): Promise<string> {
  const { code, stderr, stdout } = await run(line);
  assert.equal(code, 0, stderr);
  return stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-cli-files-'));
  env = {
    TAPEDECK_DATA: join(folder, 'data'),
    TAPEDECK_PORT: '0',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_DEMO: 'off',
  };
  await writeFile(join(folder, 'p.csv'), 'symbol,date,v\nA,2024-01-01,1\n');
  await run('workspace create W');
  await readOutput('ingest p.csv --dataset P');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a file is published, listed and withdrawn', async () => {
  const named = '--type DAILY --symbol A --date 20240101';
  const published = await readOutput(`file publish p.csv ${named} --weight 5`);
  assert.match(published, /^DAILY A 20240101: 29 bytes, published 20/);
  assert.match(await readOutput('file list'), /^DAILY: weight 5, 0 downloads, /);
  assert.match(await readOutput('file list DAILY'), /^DAILY A 20240101: 29 bytes/);
  await readOutput(`file publish p.csv ${named} --weight 6`);
  assert.match(await readOutput('file list'), /^DAILY: weight 6, /);
  assert.equal(await readOutput(`file unpublish ${named}`), 'File has been withdrawn\n');
  assert.equal(await readOutput('file list DAILY'), '');
  assert.notEqual((await run(`file unpublish ${named}`)).code, 0);
});

test('a dataset is published in a format', async () => {
  const output = await readOutput('file publish --dataset P --format csv --type WHOLE --json');
  assert.equal((JSON.parse(output) as { readonly bytes: number }).bytes, 29);
});

test('wrong options are refused with the rule', async () => {
  for (const [line, rule] of [
    ['file publish --type X', /name a file, or a dataset/],
    ['file publish p.csv --dataset P --type X', /name a file, or a dataset/],
    ['file publish . --type X', /is no file/],
    ['file publish p.csv --type X-Y', /letters, digits or underscores/],
    ['file publish p.csv --type X --weight -1', /whole number/],
    ['file publish p.csv --type X --date 2024', /YYYYMMDD/],
  ] as const) {
    const { code, stderr } = await run(line);
    assert.notEqual(code, 0, line);
    assert.match(stderr, rule, line);
  }
});
