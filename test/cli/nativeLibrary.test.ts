// DuckDB is not a sandbox by its own documentation: neither the server nor a command loads its library, only
// children that may be killed. Modules that a short command does not need are not loaded.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import { startCommand } from './command.ts';

const LIBRARY = /duckdb[^/]*\.node|libduckdb/;
const ROOT = join(import.meta.dirname, '..', '..');

const mapped = (pid: number | undefined): string => readFileSync(`/proc/${pid}/maps`, 'utf8');

const childrenOf = (pid: number | undefined): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`))
    .filter(
      (name) =>
        readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === `${pid}`,
    )
    .map(Number);

test.skipIf(!existsSync('/proc/self/maps'))(
  'the process of a server maps no library of DuckDB, its children do',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-maps-'));
    const children: ChildProcess[] = [];
    const places = { TAPEDECK_DATA: folder, TAPEDECK_PORT: '0' };
    const env = { ...places, TAPEDECK_LOG: 'silent', TAPEDECK_DEMO_SYMBOLS: '0' };
    const server = startCommand(['serve'], { env }, children);
    try {
      while (!server.output.stdout.includes('DEMO is filled')) {
        assert.equal(server.child.exitCode, null, server.output.stderr);
        await sleep(20);
      }
      assert.doesNotMatch(mapped(server.child.pid), LIBRARY);
      assert.ok(childrenOf(server.child.pid).some((pid) => LIBRARY.test(mapped(pid))));
    } finally {
      server.child.kill('SIGTERM');
      await server.ended;
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test('--help loads no module of the server', () => {
  const script = `import { program } from ${JSON.stringify(join(ROOT, 'cli/program.ts'))};
    import { processTerminal } from ${JSON.stringify(join(ROOT, 'cli/connect/terminal.ts'))};
    const none = () => { throw new Error("no settings are read"); };
    program(none, processTerminal()).helpInformation();
    const read = process.moduleLoadList.filter((name) => /sqlite|http2/.test(name));
    process.stdout.write(JSON.stringify(read));`;
  const words = ['--input-type=module', '-e', script];
  const read = execFileSync(process.execPath, words, { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(read), []);
});
