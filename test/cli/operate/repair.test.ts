// `tapedeck verify` and `tapedeck repair`: a lost catalog, an older one and a damaged file, as an operator
// handles them at the terminal.
import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { compactDataset } from '../../../jobs/upkeep/compaction.ts';
import { loaded, read, send } from '../../base/client.ts';
import { served, startServer } from '../../base/server.ts';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-repair-'));
  folders.push(folder);
  return folder;
}

function run(folder: string, ...args: readonly string[]): Promise<Ran> {
  const env = { TAPEDECK_DATA: folder, TAPEDECK_LOG: 'error', TAPEDECK_DEMO: 'off' };
  return runHere(args, { env });
}

const INDEX = { key: 'symbol', date: 'date' };
const HEADER = 'symbol,date,price,note\n';
const day = (at: number): string => new Date(Date.UTC(2020, 0, 1 + at)).toISOString().slice(0, 10);
const csv = (symbol: string, days: number, price: number): string =>
  HEADER +
  Array.from({ length: days }, (_, at) => `${symbol},${day(at)},${price + at},n\n`).join('');
const all = (dataset: string): string => `/data/WS/${dataset}?format=csv&limit=5000&sort=asc`;

async function loseCatalog(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith('catalog.db')) await rm(join(folder, name));
  }
}

test('datasets of a lost catalog are rebuilt in their latest state from the files alone', async () => {
  const folder = await newFolder();
  const before = await served(folder, async (server) => {
    // Replaced, deleted, compacted, overwritten: the valid records differ from the stored ones.
    await loaded(server, 'D', csv('A', 40, 1), INDEX);
    await loaded(server, 'D', csv('B', 40, 100));
    await loaded(server, 'D', csv('A', 10, 500), { duplicateKeyHandling: 'replace' });
    assert.equal((await send(server, 'DELETE', '/data/WS/D/B?to=2020-01-05')).status, 200);
    await loaded(server, 'E', csv('X', 20, 1), INDEX);
    await loaded(server, 'E', csv('Y', 5, 7), { overwrite: 'true' });
    for (const symbol of ['P', 'Q', 'R']) await loaded(server, 'C', csv(symbol, 9, 3), INDEX);
    const { services } = server.tapedeck;
    const compacted = services.lake.directory.dataset('WS', 'C');
    assert.ok(compacted !== undefined);
    assert.equal(await compactDataset(compacted, services.ingestion, 2), 3);
    await loaded(server, 'C', csv('S', 2, 3));
    return Promise.all(['D', 'E', 'C'].map((name) => read(server, all(name))));
  });
  await loseCatalog(folder);
  const preview = await run(folder, 'repair');
  assert.equal(preview.code, 1, preview.stderr);
  assert.match(preview.stdout, /catalog\.db is missing.*Nothing was changed/);
  assert.match(preview.stdout, /WS\.D: 3 files in force/);
  assert.match(preview.stdout, /WS\.E: 1 files in force/);
  assert.match(preview.stdout, /WS\.C: 2 files in force/);
  const rebuilt = await run(folder, 'repair', '--rebuild');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.match(rebuilt.stdout, /WS\.D: 75 records of 3 files/);
  assert.doesNotMatch(rebuilt.stdout + rebuilt.stderr, /[ps]k_[0-9a-f]{8}/, 'a log has no token');
  const file = join(folder, 'first-tokens');
  assert.ok(rebuilt.stdout.includes(`tokens: in ${file}`), rebuilt.stdout);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const secret = /^secret (sk_\w+)$/m.exec(await readFile(file, 'utf8'))?.[1] ?? '';
  const after = await served(folder, async ({ base }) => {
    const answers = ['D', 'E', 'C'].map((name) => fetch(`${base}/v1${all(name)}&token=${secret}`));
    return Promise.all((await Promise.all(answers)).map((answer) => answer.text()));
  });
  assert.deepEqual(after, before);
});

test('an older catalog is accepted on demand, later records go into another dataset', async () => {
  const folder = await newFolder();
  await served(folder, (server) => loaded(server, 'D', csv('A', 10, 1), INDEX));
  await copyFile(join(folder, 'catalog.db'), join(folder, 'older.db'));
  await served(folder, (server) => loaded(server, 'D', csv('B', 7, 1)));
  await loseCatalog(folder);
  await copyFile(join(folder, 'older.db'), join(folder, 'catalog.db'));
  const rebuilt = await run(folder, 'repair', '--rebuild');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.match(
    rebuilt.stdout,
    /WS\.D_FOUND: 7 records of 1 files; WS\.D is there and stays as it is/,
  );
  await served(folder, async (server) => {
    assert.equal((await read(server, all('D'))).trim().split('\n').length, 11);
    assert.equal((await read(server, all('D_FOUND'))).trim().split('\n').length, 8);
  });
  const fits = await run(folder, 'repair');
  assert.match(fits.stdout, /every file is as it was written/);
  assert.equal(fits.code, 0);
});

test('verify names a damaged file, repair heals it from a backup, also with a running server', async () => {
  const folder = await newFolder();
  const backup = await newFolder();
  const server = await startServer({ folder, seams: { watch: false } });
  try {
    await loaded(server, 'D', csv('A', 10, 1), INDEX);
    await loaded(server, 'D', csv('B', 10, 1));
    const before = await read(server, all('D'));
    const response = await fetch(`${server.base}/v1/admin/backup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.tapedeck.services.adminToken}` },
      body: JSON.stringify({ target: backup, copy: true }),
    });
    assert.equal(response.status, 200, await response.text());
    const lake = join(folder, 'lake', 'WS', 'D');
    const [one = '', other = ''] = await readdir(lake);
    const bytes = await readFile(join(lake, one));
    bytes[60] = (bytes[60] ?? 0) ^ 4;
    await writeFile(join(lake, one), bytes);
    await rm(join(lake, other));
    // As `serve` writes it for the command line.
    await writeFile(join(folder, 'server.json'), JSON.stringify({ base: server.base }));
    const bad = await run(folder, 'verify');
    assert.equal(bad.code, 1, bad.stderr);
    assert.ok(bad.stdout.includes(`lake/WS/D/${one} is damaged: its SHA-256`), bad.stdout);
    assert.ok(bad.stdout.includes(`lake/WS/D/${other} is missing`), bad.stdout);
    const ready = await (await fetch(`${server.base}/readyz`)).text();
    assert.equal(ready, 'ready, but 2 files of the lake are damaged: see `tapedeck verify`\n');
    const none = await run(folder, 'repair', '--from', folder);
    assert.notEqual(none.code, 0);
    assert.match(none.stderr, /holds no backup: nothing was healed/);
    const healed = await run(folder, 'repair', '--from', backup);
    assert.equal(healed.code, 0, healed.stderr + healed.stdout);
    assert.ok(healed.stdout.includes(`lake/WS/D/${one} is healed`), healed.stdout);
    assert.equal(await read(server, all('D')), before);
    assert.equal(await (await fetch(`${server.base}/readyz`)).text(), 'ready\n');
    const metrics = await (await fetch(`${server.base}/metrics`)).text();
    assert.match(metrics, /tapedeck_files_damaged 0/);
  } finally {
    await server.close();
  }
});
