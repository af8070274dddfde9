// Completion: bash runs the script and calls it as it does when a person presses the Tab key. Other shells,
// where they are installed, parse their scripts without an error.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../../cli/program.ts';
import { runHere } from './commandHere.ts';

let folder = '';
const scripts = new Map<string, string>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runHere(['completion', shell], { env: {} });
    assert.equal(code, 0);
    scripts.set(shell, stdout);
    await writeFile(join(folder, shell), stdout);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The completions that bash offers for the last word of each line. */
function offered(lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const asks = lines.map((words) => {
    const quoted = ['tapedeck', ...words].map((word) => `'${word}'`).join(' ');
    const at = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}`;
    return `${at}; _tapedeck; echo "\${COMPREPLY[*]}"`;
  });
  const script = [`source '${join(folder, 'bash')}'`, ...asks].join('\n');
  const output = execFileSync('bash', ['--norc', '-u', '-c', script], { encoding: 'utf8' });
  return output
    .split('\n')
    .slice(0, lines.length)
    .map((line) => line.split(' ').filter((word) => word !== ''));
}

test('commands, subcommands and options', () => {
  const questions: readonly (readonly [string, string])[] = [
    ['sta', 'status'],
    ['doc', 'doctor'],
    ['source ad', 'add'],
    ['schedule ', 'add list show run history pause resume delete'],
    ['status --j', '--json'],
    ['--server http://127.0.0.1:8080 work', 'workspace'],
    // The value of an option is not a command.
    ['tokens create --name list --ki', '--kind'],
    ['ingest --dataset ', ''],
    ['ingest --dataset P ', ''],
    ['nothing wo', 'workspace'],
  ];
  const offers = offered(questions.map(([line]) => line.split(' ')));
  for (const [at, [line, words]] of questions.entries()) {
    const first = words.split(' ')[0] ?? '';
    const all = offers[at] ?? [];
    if (line === 'schedule ') assert.ok(all.includes(first), all.join(' '));
    else assert.equal(all.join(' '), words, line);
  }
});

test('every command and option of the table is offered, and no other', () => {
  const unasked = (): never => assert.fail('completion needs no settings');
  const stream = { write: () => true } as unknown as NodeJS.WriteStream;
  const terminal = { stdin: process.stdin, stdout: stream, stderr: stream, folder };
  const root = program(unasked, { ...terminal, endWith: unasked, onInterrupt: unasked });
  const places: { path: string[]; commands: string[]; options: string[] }[] = [];
  const add = (command: typeof root, path: string[]): void => {
    places.push({
      path,
      commands: command.commands.map((one) => one.name()),
      options: command.options.map(({ long }) => long ?? ''),
    });
    for (const one of command.commands) add(one, [...path, one.name()]);
  };
  add(root, []);
  assert.ok(places.length > 50);
  const commands = offered(places.map(({ path }) => [...path, '']));
  const options = offered(places.map(({ path }) => [...path, '-']));
  for (const [at, place] of places.entries()) {
    const where = place.path.join(' ');
    expect(commands[at], where).toEqual(place.commands);
    expect(options[at], where).toEqual(expect.arrayContaining([...place.options, '--help']));
    for (const shell of ['zsh', 'fish']) {
      const script = scripts.get(shell) ?? '';
      for (const name of place.commands) assert.ok(script.includes(name), `${shell}: ${name}`);
    }
  }
});

for (const shell of ['bash', 'zsh', 'fish']) {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;
  test.skipIf(!isThere && process.env['CI'] !== 'true')(`${shell} parses its script`, () => {
    const { status, stderr } = spawnSync(shell, ['-n', join(folder, shell)], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
  });
}

test('an unknown shell is refused', async () => {
  const { code, stderr } = await runHere(['completion', 'tcsh'], { env: {} });
  expect([code, stderr]).toEqual([1, 'tapedeck: the shell must be one of bash, zsh, fish\n']);
});
