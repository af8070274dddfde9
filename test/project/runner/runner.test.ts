// A run over files that fail in every way: each is reported and counted.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const IMPORT = `import { afterAll, beforeAll, describe, test } from 'vitest';\n`;

const FILES: Readonly<Record<string, string>> = {
  passes: `${IMPORT}
    test('passes', () => undefined);
    test('is left out', (t) => t.skip('no server here'));`,
  fails: `${IMPORT} test('fails', () => { throw new Error('one is not two'); });`,
  empty: `${IMPORT}`,
  throws: `${IMPORT} throw new Error('while it loads');`,
  dies: `${IMPORT} test('kills itself', () => { process.kill(process.pid, 'SIGKILL'); for (;;); });`,
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
  export default configOf({ root: import.meta.dirname, env: { TEST_LINGER_MS: '500' } });`;

let folder: string;
let report: string;
let counts: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-runner-'));
  await mkdir(join(folder, 'test'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'vitest.config.ts'), CONFIG);
  for (const [name, text] of Object.entries(FILES)) {
    await writeFile(join(folder, 'test', `${name}.test.ts`), text);
  }
  [report, counts] = run([]);
});
afterAll(() => rm(folder, { recursive: true }));

/** The report of a run, and the line of its counts. */
function run(parts: readonly string[]): readonly [report: string, counts: string] {
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const json = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${json}`];
  const words = [vitest, 'run', '--configLoader', 'native', ...reporters, ...parts];
  const { VITEST: _, ...env } = process.env;
  const options = { cwd: folder, encoding: 'utf8', env, timeout: 120_000 } as const;
  const { stderr, stdout } = spawnSync(process.execPath, words, options);
  const counter = join(ROOT, '.ci', 'counts.mjs');
  return [
    stripVTControlCharacters(stdout + stderr),
    execFileSync(process.execPath, [counter, json], options),
  ];
}

for (const [name, why] of [
  ['fails', 'one is not two'],
  ['empty', 'No test suite found'],
  ['throws', 'while it loads'],
  ['dies', 'Worker exited unexpectedly'],
  ['server', 'leaves open: TCPServerWrap'],
  ['child', 'process.stdin.resume'],
] as const) {
  test(`the report explains why a file fails: ${name}`, () => {
    assert.match(report, new RegExp(String.raw`${name}\.test\.ts`));
    assert.ok(report.includes(why), report);
  });
}

test('each file that fails is counted', () => {
  assert.equal(counts, '4 passed, 6 failed, 1 skipped\n');
});

test('a file that closes what it opened passes, after another one in its process', () => {
  const [, both] = run(['child', 'closes', '--maxWorkers=1']);
  assert.equal(both, '2 passed, 1 failed\n');
  assert.equal(run(['closes'])[1], '1 passed, 0 failed\n');
});
