// A query process does not outlive its server, in any state.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'vitest';
import type { Request } from '../../../store/duckdb/protocol.ts';
import { ownProcesses, send } from '../../../store/duckdb/slot.ts';

const WITHIN_MS = 30_000;

test('a query process whose server is killed ends immediately, in the middle of a statement', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-orphan-'));
  const path = join(folder, 'wide.csv');
  // DuckDB works on it for minutes, in one step that no interrupt reaches.
  await writeFile(path, `a,b\n${'1,'.repeat(500_000)}\n`);
  const statement = `FROM read_csv('${path}', auto_detect = false, delim = ',', store_rejects = true,
    columns = {a: 'VARCHAR', b: 'BIGINT'}, max_line_size = 16777216)`;
  const request: Request = {
    id: 1,
    scope: { files: [path], memoryBytes: 512 * 1024 ** 2, threads: 1 },
    statements: [statement],
    parameters: [],
    answer: 'rows',
    progress: false,
  };
  const child = ownProcesses.start(0);
  try {
    send(child, { kind: 'request', request });
    // It reports its memory while a statement runs.
    for (let kind = ''; kind !== 'memory';) {
      [{ kind }] = (await once(child, 'message')) as [{ readonly kind: string }];
    }
    const ended = once(child, 'exit').then(() => 'ended');
    child.disconnect();
    assert.equal(await Promise.race([ended, sleep(WITHIN_MS, 'runs', { ref: false })]), 'ended');
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});

test('processes whose server is killed while they start print nothing', async () => {
  for (const afterMs of [20, 300, 700]) {
    const script = new URL('./killedServer.ts', import.meta.url).pathname;
    const server = spawn(process.execPath, [script, String(afterMs)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const pieces: Buffer[] = [];
    server.stderr.on('data', (piece: Buffer) => pieces.push(piece));
    // The last of the processes that hold it closes it.
    await once(server.stderr, 'end');
    const text = Buffer.concat(pieces)
      .toString()
      .replaceAll(/^.*ExperimentalWarning.*$/gm, '');
    assert.doesNotMatch(text, /Error|at /, text);
  }
});
