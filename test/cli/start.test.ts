// Messages of a start whose settings or environment are wrong: one sentence, with what to do.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { checkOpenFiles, openFilesMax } from '../../app/openFiles.ts';
import { startCommand, type Started } from './command.ts';
import { startedBy } from '../base/program.ts';

let root = '';
const children: ChildProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-start-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true });
});

const env = (data: string, more: Readonly<Record<string, string>> = {}) => ({
  TAPEDECK_DATA: data,
  TAPEDECK_PORT: '0',
  TAPEDECK_DEMO: 'off',
  TAPEDECK_LOG: 'silent',
  TAPEDECK_CHILDREN: '1',
  ...more,
});

async function listening(started: Started): Promise<void> {
  while (!started.output.stdout.includes('listens on')) {
    assert.equal(started.child.exitCode, null, started.output.stderr);
    await sleep(20);
  }
}

const SECRET = 'sk_0123456789abcdef0123456789abcdef';

async function readStartErrors(more: Readonly<Record<string, string>>): Promise<string> {
  const started = startCommand(['serve'], { env: env(join(root, 'tokens'), more) }, children);
  await listening(started);
  started.child.kill('SIGTERM');
  return (await started.ended).stderr;
}

test('a token setting that the folder ignores is reported, one that it uses is not', async () => {
  const heeded = { TAPEDECK_SECRET_TOKEN: SECRET };
  assert.equal(await readStartErrors(heeded), '');
  assert.equal(await readStartErrors(heeded), '');
  const warning = await readStartErrors({ TAPEDECK_SECRET_TOKEN: SECRET.replace('0123', '9999') });
  const lines = warning.trim().split('\n');
  assert.equal(lines.length, 1, warning);
  assert.match(
    warning,
    /^tapedeck: TAPEDECK_SECRET_TOKEN is ignored: the data folder \S+\/tokens has/,
  );
  assert.match(warning, /tapedeck tokens list --show/);
  assert.doesNotMatch(warning, /9999|0123456789abcdef/);
});

const refusal = /^tapedeck: the data folder \S+ can not be written \(\w+\): make it a folder that/;

test('a data folder that is a file is refused with its path', async () => {
  const data = join(root, 'file');
  await writeFile(data, '');
  const { code, stderr } = await startCommand(['serve'], { env: env(data) }, children).ended;
  assert.equal(code, 1);
  assert.match(stderr, refusal);
  assert.ok(stderr.includes(data) && stderr.trim().split('\n').length === 1, stderr);
});

test('a read-only data folder is refused with its path', async (t) => {
  const data = join(root, 'mounted');
  await mkdir(data, { mode: 0o500 });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    // Modes do not restrict root; a read-only mount does.
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', data], { stdio: 'ignore' });
    } catch {
      t.skip('a tmpfs could not be mounted');
      return;
    }
  }
  try {
    const { code, stderr } = await startCommand(['serve'], { env: env(data) }, children).ended;
    assert.equal(code, 1);
    assert.match(stderr, refusal);
    assert.ok(stderr.includes(data) && stderr.trim().split('\n').length === 1, stderr);
  } finally {
    if (isRoot) execFileSync('umount', [data]);
    await chmod(data, 0o700);
  }
});

test('ulimit -n 32 is refused with instructions', () => {
  const main = startedBy('cli/main.ts');
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 32; exec "$0" "$1" serve', process.execPath, main],
    { env: env(join(root, 'few')), encoding: 'utf8', timeout: 60_000 },
  );
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^tapedeck: too few to serve: the process may have 32 files open: raise it to 1024/,
  );
  assert.match(stderr, /ulimit -n 1024/);
});

test('a low limit of open files is reported, an ample or unknown one is not', async () => {
  assert.match(checkOpenFiles(512) ?? '', /may have 512 files open/);
  for (const most of [1_024, 1_048_576, undefined]) assert.equal(checkOpenFiles(most), undefined);
  const path = join(root, 'limits');
  await writeFile(path, 'Limit  Soft Limit  Hard Limit  Units\nMax open files  77  99  files\n');
  assert.equal(openFilesMax(path), 77);
  assert.equal(openFilesMax(join(root, 'none')), undefined);
});
