// A run of our runner over files that fail in every way: each is named, and the last line has the counts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const IMPORT = `import { afterAll, beforeAll, describe, test } from 'vitest';\n`;

const FILES: Readonly<Record<string, string>> = {
  passes: `${IMPORT}
    test('passes', (t) => void t.annotate('seeds 1, 2'));
    describe('a group', () => test('passes too', () => undefined));
    test('is left out', (t) => t.skip('no server here'));`,
  fails: `${IMPORT}
    test('fails', () => { throw new Error('one is not two', { cause: new Error('a cause') }); });
    test('passes after it', () => undefined);`,
  empty: `${IMPORT}`,
  throws: `${IMPORT} throw new Error('while it loads');`,
  hook: `${IMPORT}
    beforeAll(() => { throw new Error('no start'); });
    test('does not run', () => undefined);`,
  hangs: `${IMPORT} test('waits for ever', () => new Promise(() => setInterval(() => 0, 1000)));`,
  spins: `${IMPORT} test('spins for ever', () => { for (;;); });`,
  dies: `${IMPORT} test('kills itself', () => { process.kill(process.pid, 'SIGKILL'); for (;;); });`,
  rejects: `${IMPORT}
    test('leaves a rejection', async () => {
      void Promise.reject(new Error('nobody listens'));
      await new Promise((resolve) => setTimeout(resolve, 50));
    });`,
  server: `import { createServer } from 'node:http';\n${IMPORT}
    test('leaves a server', () => new Promise((resolve) => createServer().listen(0, resolve)));`,
  child: `import { spawn } from 'node:child_process';\n${IMPORT}
    test('leaves a child', () => {
      spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: 'pipe' }).unref();
    });`,
  closes: `import { createServer } from 'node:http';\n${IMPORT}
    const server = createServer();
    beforeAll(() => new Promise((resolve) => server.listen(0, resolve)));
    afterAll(() => new Promise((resolve) => server.close(resolve)));
    test('has a server', () => undefined);`,
};

const CONFIG = `import { configOf } from ${JSON.stringify(join(ROOT, 'test/project/runner/config.ts'))};
  export default configOf({
    root: import.meta.dirname, fileTimeoutMs: 4_000, env: { TEST_LINGER_MS: '500' },
    took: () => undefined });`;

let folder: string;
let report: string;
let status: number | null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-runner-'));
  await mkdir(join(folder, 'test'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'vitest.config.ts'), CONFIG);
  for (const [name, text] of Object.entries(FILES)) {
    await writeFile(join(folder, 'test', `${name}.test.ts`), text);
  }
  ({ status, text: report } = run([]));
});
afterAll(() => rm(folder, { recursive: true }));

function run(parts: readonly string[]): { readonly status: number | null; readonly text: string } {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const words = [vitest, 'run', '--configLoader', 'native', ...parts];
  const { VITEST: _, ...env } = process.env;
  const options = { cwd: folder, encoding: 'utf8', env, timeout: 120_000 } as const;
  const { status: code, stderr, stdout } = spawnSync(process.execPath, words, options);
  return { status: code, text: stdout + stderr };
}

/** The report of a file: its line, and those below it. */
function ofFile(name: string): string {
  const match = new RegExp(String.raw`^[✔✖] test/${name}\.test\.ts.*\n(?: .*\n)*`, 'm').exec(
    report,
  );
  return match?.[0] ?? assert.fail(`${name} is not reported in\n${report}`);
}

test('notes and skipped tests are below the line of a file', () => {
  assert.match(ofFile('passes'), /✔ .*  2 passed, 0 failed, 1 skipped  .* s\n    seeds 1, 2\n/);
  assert.match(ofFile('passes'), /\n  - skipped: is left out \(no server here\)\n/);
});

test('a failure is reported in full', () => {
  assert.match(ofFile('fails'), /✖ .*  1 passed, 1 failed/);
  assert.match(ofFile('fails'), /✖ fails\n\s+Error: one is not two\n\s+at test\/fails\.test\.ts:/);
  assert.match(ofFile('fails'), /caused by Error: a cause/);
});

for (const [name, why] of [
  ['empty', /No test suite found|has no tests/],
  ['throws', /Error: while it loads/],
  ['hook', /Error: no start[^]*✖ does not run\n\s+It did not run/],
  ['hangs', /✖ the file did not end\n\s+It crashed, or took too long: waits for ever/],
  ['spins', /✖ the file did not end\n\s+It crashed, or took too long: spins for ever/],
  ['dies', /✖ the file did not end\n\s+It crashed, or took too long: kills itself/],
  ['server', /leaves open: TCPServerWrap/],
  ['child', /leaves open: .*child \d+ .*process\.stdin\.resume/],
] as const) {
  test(`a file fails: ${name}`, () => assert.match(ofFile(name), why));
}

test('a file that closes what it opened passes', () => {
  assert.match(ofFile('closes'), /✔ .*  1 passed, 0 failed/);
});

test('leftovers of an earlier file in its process are not reported for a file', () => {
  const { text } = run(['child', 'closes', '--maxWorkers=1']);
  assert.match(text, /✖ test\/child\.test\.ts[^]*✔ test\/closes\.test\.ts/);
});

test('a failure outside of a test is reported', () => {
  assert.match(report, /nobody listens/);
});

test('the last line has the counts, and the exit code is the result', () => {
  assert.match(report.trimEnd().split('\n').at(-1) ?? '', /^\d+ passed, \d+ failed, 1 skipped$/);
  assert.equal(status, 1);
  const one = run(['closes']);
  assert.match(one.text, /\n1 passed, 0 failed\n$/);
  assert.equal(one.status, 0);
});
