// Wrong arguments of the command line: files, folders, names, and certificates with a wrong clock.
// One sentence each, exit code 1, nothing left half-written.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../commandHere.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck wörter 銘柄 '));
  await mkdir(join(folder, 'a folder'));
  await writeFile(
    join(folder, 'Äpfel & Birnen 1.csv'),
    'symbol,date,Größe in €\nÄ B,2024-01-02,1\n',
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) => {
  const env = { TAPEDECK_DATA: join(folder, 'däta ord'), TAPEDECK_DEMO: 'off' };
  return runHere(args, { env, cwd: folder });
};

test('missing files and folders are reported before anything is created', async () => {
  const before = await readdir(folder);
  for (const [args, message] of [
    [['ingest', 'nicht da.csv', '--dataset', 'P'], 'there is no file nicht da.csv'],
    [['ingest', 'a folder', '--dataset', 'P'], 'a folder is no file: it is a folder'],
    [['capture', 'info', 'nicht da.pcap'], 'there is no file nicht da.pcap'],
    [['capture', 'import', 'a folder'], 'a folder is no file: it is a folder'],
    [['file', 'publish', 'nicht da.csv', '--type', 'T'], 'there is no file nicht da.csv'],
  ] as const) {
    const { code, stderr, stdout } = await run(...args);
    expect([args, code, stdout, stderr]).toEqual([args, 1, '', `tapedeck: ${message}\n`]);
  }
  expect(await readdir(folder)).toEqual(before);
});

test('names with spaces and letters of any language work, or are refused with the rule', async () => {
  expect(await run('workspace', 'create', 'W')).toMatchObject({ code: 0 });
  const file = 'Äpfel & Birnen 1.csv';
  const loadResult = await run('ingest', file, '--dataset', 'P', '--workspace', 'W');
  expect([loadResult.code, loadResult.stdout]).toEqual([
    0,
    expect.stringContaining('Größe in € integer'),
  ]);
  const query = "SELECT symbol, `Größe in €` AS g FROM P WHERE symbol = 'Ä B'";
  const queryResult = await run('sql', query, '--workspace', 'W', '--format', 'json');
  expect([queryResult.code, queryResult.stdout.trim()]).toEqual([0, '[{"symbol":"Ä B","g":1}]']);
  const rule = 'must be 1 to 128 letters, digits or underscores';
  for (const args of [
    ['workspace', 'create', 'Mein Raum'],
    ['ingest', file, '--dataset', 'Größen der Äpfel', '--workspace', 'W'],
    ['dataset', 'rename', 'P', '銘柄', '--workspace', 'W'],
  ]) {
    const { code, stderr, stdout } = await run(...args);
    expect([args, code, `${stdout}${stderr}`]).toEqual([args, 1, expect.stringContaining(rule)]);
  }
  const listed = await run('dataset', 'list', '--workspace', 'W', '--json');
  expect(listed.stdout).toContain('"P"');
  expect(listed.stdout).not.toContain('銘柄');
  const exported = await run('export', 'P', '--to', 'für Ü', '--workspace', 'W');
  expect(exported.code).toBe(0);
  expect(await readdir(join(folder, 'für Ü'))).toContain('manifest.json');
});

test('an invalid command line has exit code 1 too', async () => {
  for (const args of [
    ['nosuch'],
    ['ingest'],
    ['tokens', 'create', '--nosuch'],
    ['dataset', 'list', '--nosuch'],
  ]) {
    const { code, stderr } = await run(...args);
    expect([args, code]).toEqual([args, 1]);
    expect(stderr).toMatch(/^error: .+/);
  }
  expect((await run('--help')).code).toBe(0);
  expect((await run('--version')).code).toBe(0);
});

const CONFIG = `[ca]
default_ca = it
[it]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = extensions
[any]
commonName = optional
[extensions]
subjectAltName = IP:127.0.0.1
basicConstraints = CA:true
`;

/** A self-signed certificate for these days; returns its folder. */
async function certified(name: string, from: string, to: string): Promise<string> {
  const place = join(folder, name);
  await mkdir(place);
  await writeFile(join(place, 'config'), CONFIG);
  await writeFile(join(place, 'index'), '');
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { cwd: place, stdio: 'ignore' });
  const keyOptions = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'csr.pem'];
  openssl('req', '-new', ...keyOptions, '-subj', '/CN=localhost');
  const how = ['-batch', '-notext', '-config', 'config', '-selfsign', '-keyfile', 'key.pem'];
  openssl('ca', ...how, '-in', 'csr.pem', '-out', 'cert.pem', '-startdate', from, '-enddate', to);
  return place;
}

test('an error about an expired or future certificate names a wrong clock as a cause', async () => {
  for (const [name, from, to, reason] of [
    ['past', '20200101000000Z', '20210101000000Z', 'has expired, or the clock here is wrong'],
    [
      'to come',
      '29900101000000Z',
      '29910101000000Z',
      'is not valid yet, or the clock here is wrong',
    ],
  ] as const) {
    const place = await certified(name, from, to);
    const [cert, key] = ['cert.pem', 'key.pem'].map((file) => readFileSync(join(place, file)));
    const server = createServer({ cert, key }, (_, answer) => answer.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const far = ['--server', base, '--token', 'sk_x', '--ca', join(place, 'cert.pem')];
    const { code, stderr } = await run('workspace', 'list', ...far);
    server.closeAllConnections();
    server.close();
    expect([code, stderr]).toEqual([
      1,
      `tapedeck: ${base} can not be reached: its certificate ${reason}\n`,
    ]);
  }
});
