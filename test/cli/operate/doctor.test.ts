// Findings of the doctor: each on a folder with only that fault. The doctor changes nothing.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, globSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { loaded, read } from '../../base/client.ts';
import { hasServers, isLeftOut } from '../../base/servers/hasServers.ts';
import { startNats } from '../../base/servers/nats.ts';
import { startServer } from '../../base/server.ts';
import { smallDisk } from '../../base/smallDisk.ts';
import { runHere } from '../commandHere.ts';

interface Finding {
  readonly check: string;
  readonly level: string;
  readonly what: string;
  readonly advice: string;
}

let outside = '';
/** A folder that a server created and closed, with a charged read. */
let healthy = '';
beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), 'tapedeck-doctored-'));
  healthy = join(outside, 'healthy');
  const server = await startServer({ folder: healthy, seams: { watch: false } });
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\n', { key: 'symbol', date: 'date' });
  await read(server, '/data/WS/P/A?last=1');
  await server.close();
});
afterAll(() => rm(outside, { recursive: true, force: true }));

async function copied(name: string): Promise<string> {
  const folder = join(outside, name);
  await cp(healthy, folder, { recursive: true });
  chmodSync(folder, 0o700);
  return folder;
}

/** Runs the doctor on a folder: its faults and notices, and all of its findings. */
async function examined(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{
  readonly code: number | null;
  readonly all: readonly Finding[];
  readonly problems: string[];
}> {
  const env = { TAPEDECK_DATA: folder, TAPEDECK_PORT: '0', TAPEDECK_LOG: 'silent', ...more };
  const { code, stderr, stdout } = await runHere(['doctor', '--json'], { env });
  assert.equal(stderr, '');
  const { findings, ok } = JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] };
  assert.equal(ok, code === 0);
  for (const { advice, level } of findings) assert.equal(advice === '', level === 'ok', advice);
  const odd = findings.filter(({ level }) => level !== 'ok');
  return {
    code,
    all: findings,
    problems: odd.map((one) => `${one.level} ${one.check}: ${one.what}`),
  };
}

/** Every file with its mode and content. */
const stateOf = (folder: string): string =>
  globSync('**', { cwd: folder })
    .toSorted()
    .map((name) => {
      const { mode, mtimeMs, size } = statSync(join(folder, name));
      const isFile = statSync(join(folder, name)).isFile();
      const content = isFile ? readFileSync(join(folder, name)) : '';
      return `${name} ${mode} ${size} ${mtimeMs} ${createHash('sha256').update(content).digest('hex')}`;
    })
    .join('\n');

const changed = (folder: string, statement: string): void => {
  const catalog = new DatabaseSync(join(folder, 'catalog.db'));
  catalog.exec(statement);
  catalog.close();
};

test('a healthy folder has no problem, and stays unchanged', async () => {
  const before = stateOf(healthy);
  const { all, code, problems } = await examined(healthy);
  expect([code, problems]).toEqual([0, []]);
  const checks = new Set(all.map(({ check }) => check));
  expect([...checks].toSorted()).toEqual([
    'clock',
    'disk',
    'folder',
    'ledger',
    'permissions',
    'server',
    'sources',
    'version',
  ]);
  assert.equal(stateOf(healthy), before);
  const env = { TAPEDECK_DATA: healthy, TAPEDECK_PORT: '0', TAPEDECK_LOG: 'silent' };
  const { stdout } = await runHere(['doctor'], { env });
  assert.match(stdout, /^ok {4}version: Node \d+\.\d+\.\d+$/m);
  assert.match(stdout, /^ok {4}ledger: the balances of 1 accounts agree with their counters$/m);
});

test('a missing folder is not created', async () => {
  const folder = join(outside, 'nothing');
  const { code, problems } = await examined(folder);
  expect([code, problems]).toEqual([
    0,
    [expect.stringMatching(/^notice folder: .* does not exist$/)],
  ]);
  assert.throws(() => statSync(folder));
});

test('wide permissions, a lost catalog, an unfinished restore, a file as the folder', async () => {
  const open = await copied('open');
  chmodSync(join(open, 'lake'), 0o755);
  chmodSync(join(open, 'key'), 0o640);
  const before = stateOf(open);
  const { code, problems } = await examined(open);
  expect([code, problems]).toEqual([
    1,
    [
      expect.stringMatching(/^notice permissions: .*lake \(mode 755\)$/),
      expect.stringMatching(/^fault permissions: .*secret .*key \(mode 640\)$/),
    ],
  ]);
  assert.equal(stateOf(open), before);
  const lost = await copied('lost');
  await rm(join(lost, 'catalog.db'));
  const report = await examined(lost);
  expect(report.problems).toEqual([expect.stringMatching(/^fault folder: .*lake and no catalog$/)]);
  const half = await copied('half');
  await mkdir(join(half, 'restoring'));
  expect((await examined(half)).problems[0]).toMatch(/^fault folder: a restore .* has not ended$/);
  const file = join(outside, 'file');
  await writeFile(file, '');
  chmodSync(file, 0o600);
  expect((await examined(file)).problems[0]).toMatch(/^fault folder: .* is no folder$/);
});

test('a catalog of a newer program, one of an older program, and an invalid one', async () => {
  const newer = await copied('newer');
  changed(newer, `UPDATE folder SET value = '999' WHERE key = 'version'`);
  const newerReport = await examined(newer);
  expect([newerReport.code, newerReport.problems]).toEqual([
    1,
    [expect.stringMatching(/^fault version: .*999/)],
  ]);
  const older = await copied('older');
  changed(older, `UPDATE folder SET value = '1' WHERE key = 'version'`);
  const olderReport = await examined(older);
  expect([olderReport.code, olderReport.problems]).toEqual([
    0,
    [expect.stringMatching(/^notice version: .* 1,/)],
  ]);
  const none = await copied('none');
  await writeFile(join(none, 'catalog.db'), 'no database '.repeat(1_000));
  expect((await examined(none)).problems).toEqual([
    expect.stringMatching(/^fault catalog: .*can not/),
  ]);
});

test('a clock behind the latest commit', async () => {
  const folder = await copied('clock');
  changed(folder, `UPDATE ducklake_snapshot SET snapshot_time = '2999-01-01 00:00:00.000+00'`);
  const { code, problems } = await examined(folder);
  expect([code, problems]).toEqual([
    1,
    [expect.stringMatching(/^fault clock: .*behind .*2999-01-01/)],
  ]);
});

test('a ledger that disagrees', async () => {
  const folder = await copied('ledger');
  changed(folder, 'UPDATE balance SET messages = messages + 7');
  const { code, problems } = await examined(folder);
  const sentence = /^fault ledger: account \w+ has a balance of 8 messages, its counters 1$/;
  expect([code, problems]).toEqual([1, [expect.stringMatching(sentence)]]);
});

/** The port of an unrelated program. */
async function listening(answer: RequestListener): Promise<number> {
  const other = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => void other.once('listening', resolve));
  return (other.address() as AddressInfo).port;
}

test('a source that fails', async () => {
  const folder = join(outside, 'source');
  const broken = await listening((_request, response) => void response.writeHead(500).end());
  await using server = await startServer({
    folder,
    settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' },
  });
  const env = { TAPEDECK_SERVER: server.base, TAPEDECK_TOKEN: server.secret };
  const source = ['source', 'add', `http://127.0.0.1:${broken}/p.csv`, '--name', 'gone'];
  const named = await runHere(source, { env });
  assert.equal(named.code, 0, named.stderr);
  const add = ['schedule', 'add', 'gone', '--dataset', 'FAR', '--every', 'day', '--key', 'symbol'];
  const added = await runHere(add, { env });
  assert.equal(added.code, 0, added.stderr);
  await runHere(['schedule', 'run', 'FAR'], { env });
  const { code, problems } = await examined(folder);
  expect([code, problems]).toEqual([
    1,
    [expect.stringMatching(/^fault sources: the source of WS\.FAR/)],
  ]);
});

test('a port that another program uses', async () => {
  const port = await listening(() => undefined);
  const { code, problems } = await examined(healthy, { TAPEDECK_PORT: String(port) });
  expect([code, problems]).toEqual([
    1,
    [`fault port: 127.0.0.1:${port} is taken by another program`],
  ]);
});

test('with a running server, which continues, and after it stopped', async () => {
  const folder = await copied('served');
  const server = await startServer({ folder });
  await writeServerFile(folder, { base: server.base });
  const report = await examined(folder);
  expect([report.code, report.problems]).toEqual([0, []]);
  expect(report.all.map(({ what }) => what)).toContain(`${server.base} is ready`);
  await read(server, '/data/WS/P/A?last=1');
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-02,1\n');
  const elsewhere = await runHere(['doctor', '--server', server.base], { env: {} });
  assert.match(elsewhere.stdout, /is ready/);
  await server.close();
  const reportAfter = await examined(folder);
  expect(reportAfter.problems).toEqual([
    expect.stringMatching(/^notice server: .*does not answer/),
  ]);
  const far = await runHere(['doctor', '--server', server.base], { env: {} });
  assert.match(far.stdout, /^WRONG server: .*nothing listens there\. Check/m);
  assert.equal(far.code, 1);
});

const hasNats = await hasServers('nats');

test.skipIf(isLeftOut(hasNats))('NATS that is available, and NATS that is not', async () => {
  await using nats = await startNats();
  assert.ok(nats);
  const folder = await copied('bus');
  const here = await examined(folder, { TAPEDECK_BUS: nats.url });
  expect(here.problems).toEqual([]);
  expect(here.all.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^NATS [\d.]+ at 127\.0\.0\.1:\d+ answers, with JetStream$/),
  );
  const { up } = await nats.down();
  const reportAfter = await examined(folder, { TAPEDECK_BUS: nats.url });
  expect(reportAfter.problems).toEqual([
    expect.stringMatching(/^fault bus: NATS at 127\.0\.0\.1:\d+: /),
  ]);
  expect(reportAfter.code).toBe(1);
  await up();
});

test('a disk without space', async (t) => {
  const { folder, leave } = await smallDisk(t);
  const data = join(folder, 'data');
  await cp(healthy, data, { recursive: true });
  chmodSync(data, 0o700);
  await leave(1_000_000);
  const { code, problems } = await examined(data);
  expect([code, problems]).toEqual([
    1,
    [expect.stringMatching(/^fault disk: .* has 1 MB of 25 MB free/)],
  ]);
});
