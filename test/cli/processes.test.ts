// A command of each kind as a process of its own: its streams, exit code and pipes. Its output equals that of
// the command line within a process (commandHere.ts), where most tests run it.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { type Ran, startCommand } from './command.ts';
import { runHere } from './commandHere.ts';

const children: ChildProcess[] = [];
let folder = '';
let env: Record<string, string> = {};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-processes-'));
  env = {
    TAPEDECK_DATA: join(folder, 'data'),
    TAPEDECK_LOG: 'silent',
    TAPEDECK_DEMO: 'off',
    TAPEDECK_SOURCE_FOLDER: folder,
  };
  await writeFile(
    join(folder, 'p.csv'),
    'symbol,date,v\nA,2024-01-01,1\nB,2024-01-01,2\n,2024-01-01,3\n',
  );
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const here = (args: readonly string[], input: string): Promise<Ran> =>
  runHere(args, { env, cwd: folder, input });

function apart(args: readonly string[], input: string): Promise<Ran> {
  const command = startCommand(args, { env, cwd: folder }, children);
  command.child.stdin?.end(input);
  return command.ended;
}

/** Parts that differ between two runs: ids, times, durations and the number of progress lines. */
const CHANGING = [
  /\b[0-9a-f]{16,64}\b/g,
  /\b(?:CREDENTIAL|DATA_SOURCE)_\w+/g,
  /\b\d{13}\b/g,
  /\b\d+\.\d{3} s\b/g,
  /^(?:\{"label".*|P: \d+ % .*)\n/gm,
];
const lasting = (text: string): string =>
  CHANGING.reduce((remaining, pattern) => remaining.replaceAll(pattern, ''), text);

type Command = readonly [words: string, input: string, code: number, pattern: RegExp];

/** One of each kind, with its standard input and its exit code; each can be run again. */
const COMMANDS: readonly Command[] = [
  ['ingest - --dataset P --json', 'symbol,date,v\nA,2024-01-01,1\n', 0, /"status":"INGESTED"/],
  ['sql --format csv', 'SELECT count(*) AS n FROM P', 0, /^n\n2\n$/],
  ['sql', 'SELECT nothing FROM P', 1, /^tapedeck: line 1, column 8: .*\n {2}SELECT nothing/],
  ['source add - --name again', '{"type":"FILE","path":"p.csv"}', 0, /^DATA_SOURCE_\w+\n$/],
  ['schedule list', '', 0, /^none\n$/],
  ['recipe list --json', '', 0, /us-treasury-yields/],
  ['export W.NOPE --to out', '', 1, /there is no dataset W\.NOPE/],
  ['tokens', '', 0, /^publishable {2}pk_/],
  ['verify', '', 0, /every file is as it was written\n$/],
  ['backup verify .', '', 1, /^tapedeck: /],
  ['rotate-key', '', 0, /^sealed under the new key: /],
  ['tokens --shw', '', 1, /^error: unknown option '--shw'\n\(Did you mean --show\?\)\n$/],
  ['ingest --help', '', 0, /^Usage: tapedeck ingest \[options\] <file>\n[^]*--json-path/],
  ['--version', '', 0, /^\d+\.\d+\.\d+\n$/],
];

test('a process and the command line within a process print the same', async () => {
  assert.equal((await apart(['workspace', 'create', 'W'], '')).stdout, 'W\n');
  const index = ['--key', 'symbol', '--date', 'date'];
  assert.equal((await apart(['ingest', 'p.csv', '--dataset', 'P', ...index], '')).code, 0);
  for (const [words, input, code, pattern] of COMMANDS) {
    const args = words.split(' ');
    const process = await apart(args, input);
    assert.match(
      process.stdout + process.stderr,
      pattern,
      `${words}: ${process.stdout}${process.stderr}`,
    );
    const within = await here(args, input);
    for (const ran of [process, within]) assert.equal(ran.code, code, `${words}: ${ran.stderr}`);
    const parts = ({ stderr, stdout }: Ran): unknown => [lasting(stdout), lasting(stderr)];
    assert.deepEqual(parts(within), parts(process), words);
  }
});

test('a reader that stops reading does not stop the command: it completes and exits with 0', async () => {
  const words = ['ingest', 'p.csv', '--dataset', 'UNREAD', '--key', 'symbol', '--date', 'date'];
  const { child, ended } = startCommand(words, { env, cwd: folder }, children);
  child.stdout?.destroy();
  child.stderr?.destroy();
  assert.equal((await ended).code, 0);
  const { stdout } = await apart(['sql', '--format', 'csv'], 'SELECT count(*) AS n FROM UNREAD');
  assert.equal(stdout, 'n\n2\n');
});
