// What the doctor finds: each finding of a folder that has just that wrong, and that it changes nothing.
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

interface Found {
  readonly check: string;
  readonly level: string;
  readonly what: string;
  readonly advice: string;
}

let outside = '';
/** A folder that a server made and left, with a charged read. */
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

/** What is wrong with a folder, or worth a note; everything found with `all`. */
async function examined(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{
  readonly code: number | null;
  readonly all: readonly Found[];
  readonly told: string[];
}> {
  const env = { TAPEDECK_DATA: folder, TAPEDECK_PORT: '0', TAPEDECK_LOG: 'silent', ...more };
  const { code, stderr, stdout } = await runHere(['doctor', '--json'], { env });
  assert.equal(stderr, '');
  const { findings, ok } = JSON.parse(stdout) as { ok: boolean; findings: readonly Found[] };
  assert.equal(ok, code === 0);
  for (const { advice, level } of findings) assert.equal(advice === '', level === 'ok', advice);
  const odd = findings.filter(({ level }) => level !== 'ok');
  return { code, all: findings, told: odd.map((one) => `${one.level} ${one.check}: ${one.what}`) };
}

/** Every file, its rights and what it holds. */
const stateOf = (folder: string): string =>
  globSync('**', { cwd: folder })
    .toSorted()
    .map((name) => {
      const { mode, mtimeMs, size } = statSync(join(folder, name));
      const isFile = statSync(join(folder, name)).isFile();
      const held = isFile ? readFileSync(join(folder, name)) : '';
      return `${name} ${mode} ${size} ${mtimeMs} ${createHash('sha256').update(held).digest('hex')}`;
    })
    .join('\n');

const changed = (folder: string, statement: string): void => {
  const catalog = new DatabaseSync(join(folder, 'catalog.db'));
  catalog.exec(statement);
  catalog.close();
};

test('a healthy folder is all well, and stays as it is', async () => {
  const before = stateOf(healthy);
  const { all, code, told } = await examined(healthy);
  expect([code, told]).toEqual([0, []]);
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

test('a folder that is not there is not made', async () => {
  const folder = join(outside, 'nothing');
  const { code, told } = await examined(folder);
  expect([code, told]).toEqual([0, [expect.stringMatching(/^notice folder: .* does not exist$/)]]);
  assert.throws(() => statSync(folder));
});

test('others who may read, a lost catalog, a restore without an end, a file in its place', async () => {
  const open = await copied('open');
  chmodSync(join(open, 'lake'), 0o755);
  chmodSync(join(open, 'key'), 0o640);
  const before = stateOf(open);
  const { code, told } = await examined(open);
  expect([code, told]).toEqual([
    1,
    [
      expect.stringMatching(/^notice permissions: .*lake \(mode 755\)$/),
      expect.stringMatching(/^fault permissions: .*secret .*key \(mode 640\)$/),
    ],
  ]);
  assert.equal(stateOf(open), before);
  const lost = await copied('lost');
  await rm(join(lost, 'catalog.db'));
  const found = await examined(lost);
  expect(found.told).toEqual([expect.stringMatching(/^fault folder: .*lake and no catalog$/)]);
  const half = await copied('half');
  await mkdir(join(half, 'restoring'));
  expect((await examined(half)).told[0]).toMatch(/^fault folder: a restore .* has not ended$/);
  const file = join(outside, 'file');
  await writeFile(file, '');
  chmodSync(file, 0o600);
  expect((await examined(file)).told[0]).toMatch(/^fault folder: .* is no folder$/);
});

test('a catalog of a newer program, one of an older, and one that is none', async () => {
  const newer = await copied('newer');
  changed(newer, `UPDATE folder SET value = '999' WHERE key = 'version'`);
  const found = await examined(newer);
  expect([found.code, found.told]).toEqual([1, [expect.stringMatching(/^fault version: .*999/)]]);
  const older = await copied('older');
  changed(older, `UPDATE folder SET value = '1' WHERE key = 'version'`);
  const known = await examined(older);
  expect([known.code, known.told]).toEqual([0, [expect.stringMatching(/^notice version: .* 1,/)]]);
  const none = await copied('none');
  await writeFile(join(none, 'catalog.db'), 'no database '.repeat(1_000));
  expect((await examined(none)).told).toEqual([expect.stringMatching(/^fault catalog: .*can not/)]);
});

test('a clock behind the newest commit', async () => {
  const folder = await copied('clock');
  changed(folder, `UPDATE ducklake_snapshot SET snapshot_time = '2999-01-01 00:00:00.000+00'`);
  const { code, told } = await examined(folder);
  expect([code, told]).toEqual([1, [expect.stringMatching(/^fault clock: .*behind .*2999-01-01/)]]);
});

test('a ledger that disagrees', async () => {
  const folder = await copied('ledger');
  changed(folder, 'UPDATE balance SET messages = messages + 7');
  const { code, told } = await examined(folder);
  const sentence = /^fault ledger: account \w+ has a balance of 8 messages, its counters 1$/;
  expect([code, told]).toEqual([1, [expect.stringMatching(sentence)]]);
});

/** The port of a program of another kind. */
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
  const { code, told } = await examined(folder);
  expect([code, told]).toEqual([
    1,
    [expect.stringMatching(/^fault sources: the source of WS\.FAR/)],
  ]);
});

test('a port that another program has', async () => {
  const port = await listening(() => undefined);
  const { code, told } = await examined(healthy, { TAPEDECK_PORT: String(port) });
  expect([code, told]).toEqual([1, [`fault port: 127.0.0.1:${port} is taken by another program`]]);
});

test('beside a server, which goes on, and where one has gone', async () => {
  const folder = await copied('served');
  const server = await startServer({ folder });
  await writeServerFile(folder, { base: server.base });
  const found = await examined(folder);
  expect([found.code, found.told]).toEqual([0, []]);
  expect(found.all.map(({ what }) => what)).toContain(`${server.base} is ready`);
  await read(server, '/data/WS/P/A?last=1');
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-02,1\n');
  const elsewhere = await runHere(['doctor', '--server', server.base], { env: {} });
  assert.match(elsewhere.stdout, /is ready/);
  await server.close();
  const gone = await examined(folder);
  expect(gone.told).toEqual([expect.stringMatching(/^notice server: .*does not answer/)]);
  const far = await runHere(['doctor', '--server', server.base], { env: {} });
  assert.match(far.stdout, /^WRONG server: .*nothing listens there\. Check/m);
  assert.equal(far.code, 1);
});

const hasNats = await hasServers('nats');

test.skipIf(isLeftOut(hasNats))('NATS that is there, and that is not', async () => {
  await using nats = await startNats();
  assert.ok(nats);
  const folder = await copied('bus');
  const here = await examined(folder, { TAPEDECK_BUS: nats.url });
  expect(here.told).toEqual([]);
  expect(here.all.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^NATS [\d.]+ at 127\.0\.0\.1:\d+ answers, with JetStream$/),
  );
  const { up } = await nats.down();
  const gone = await examined(folder, { TAPEDECK_BUS: nats.url });
  expect(gone.told).toEqual([expect.stringMatching(/^fault bus: NATS at 127\.0\.0\.1:\d+: /)]);
  expect(gone.code).toBe(1);
  await up();
});

test('a disk without room', async (t) => {
  const { folder, leave } = await smallDisk(t);
  const data = join(folder, 'data');
  await cp(healthy, data, { recursive: true });
  chmodSync(data, 0o700);
  await leave(1_000_000);
  const { code, told } = await examined(data);
  expect([code, told]).toEqual([
    1,
    [expect.stringMatching(/^fault disk: .* has 1 MB of 25 MB free/)],
  ]);
});
