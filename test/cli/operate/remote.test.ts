// Commands that call a server: by its URL and a token, over TLS, and with its local folder, where the name
// in its certificate does not matter.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

type Variables = Readonly<Record<string, string>>;

let folder = '';
let cert = '';
let plain: TestServer;
let tls: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-remote-'));
  await writeFile(join(folder, 'p.csv'), 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-01,2\n');
  const key = join(folder, 'key.pem');
  cert = join(folder, 'cert.pem');
  const subject = ['-subj', '/CN=data.example', '-addext', 'subjectAltName=DNS:data.example'];
  const files = ['-keyout', key, '-out', cert, '-days', '1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], {
    stdio: 'ignore',
  });
  plain = await startServer();
  tls = await startServer({ settings: { TAPEDECK_TLS_CERT: cert, TAPEDECK_TLS_KEY: key } });
});
afterAll(async () => {
  await Promise.all([plain.close(), tls.close()]);
  await rm(folder, { recursive: true, force: true });
});

const nowhere = (): string => join(folder, 'nowhere');

const run = (args: readonly string[], more: Variables = {}): Promise<Ran> =>
  runHere(args, {
    env: { TAPEDECK_DATA: nowhere(), TAPEDECK_LOG: 'silent', ...more },
    cwd: folder,
  });

async function readOutput(args: readonly string[], more: Variables = {}): Promise<string> {
  const { code, stderr, stdout } = await run(args, more);
  expect([args, code, code === 0 ? '' : stderr]).toEqual([args, 0, '']);
  return stdout;
}

test('a remote server: load, inspect, query, rename, delete; no local folder is created', async () => {
  const far = ['--server', plain.base, '--token', plain.secret];
  const place = ['--dataset', 'P', '--workspace', 'WS', '--key', 'symbol', '--date', 'date'];
  const loading = ['ingest', 'p.csv', ...place, ...far];
  expect(await readOutput(loading)).toContain('P: 2 records received, 2 stored');
  const env = { TAPEDECK_SERVER: `${plain.base}/`, TAPEDECK_TOKEN: plain.secret };
  expect(await readOutput(['dataset'], env)).toMatch(/P +│ +2 │ symbol, date/);
  expect(await readOutput(['dataset', 'describe', 'P'], env)).toMatch(/date +│ date +│ date/);
  expect(await readOutput(['sql', 'SELECT sum(v) AS v FROM P', '--format', 'csv'], env)).toBe(
    'v\n3\n',
  );
  expect(await readOutput(['dataset', 'rename', 'P', 'Q'], env)).toBe('WS.Q\n');
  await writeFile(join(folder, 'q.csv'), 'symbol,date,v\nB,2024-01-01,9\nC,2024-01-01,1\n');
  const again = ['ingest', 'q.csv', '--dataset', 'Q', '--workspace', 'WS', ...far];
  const replacing = await readOutput([...again, '--duplicates', 'replace']);
  expect(replacing).toContain('2 records received, 1 stored, 1 replaced');
  expect(replacing).not.toContain('warning');
  await readOutput(['dataset', 'purge', 'Q', 'C', '--yes'], env);
  expect(await readOutput(['dataset', 'index', 'Q', '--no-index'], env)).toBe(
    'no unique index, 2 records\n',
  );
  const keyed = ['dataset', 'index', 'Q', '--key', 'symbol', '--date', 'date'];
  expect(await readOutput(keyed, env)).toBe('unique index symbol, date, 2 records\n');
  expect((await run(['dataset', 'index', 'Q'], env)).stderr).toContain('--key');
  const purge = ['dataset', 'purge', 'Q', 'A', '--from', '2024-01-01'];
  expect((await run(purge, env)).stderr).toContain('--yes');
  expect(await readOutput([...purge, '--yes'], env)).toBe('records of WS.Q are purged\n');
  expect(await readOutput(['sql', 'SELECT symbol FROM Q', '--format', 'csv'], env)).toBe(
    'symbol\nB\n',
  );
  const refused = await run(['dataset', 'delete', 'Q'], env);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--yes')]);
  expect(await readOutput(['dataset', 'delete', 'Q', '--yes'], env)).toBe('WS.Q is deleted\n');
  expect(await readOutput(['dataset', 'list', '--json'], env)).toBe('');
  expect(await readOutput(['ingest', 'p.csv', '--dataset', 'R', ...far])).toContain('R: 2 records');
  expect(await readOutput(['dataset', 'list', '--workspace', 'WS', '--json'], env)).toContain(
    '"R"',
  );
  expect(await readOutput(['workspace', 'create', 'MORE', ...far])).toBe('MORE\n');
  expect(await readOutput(['workspace', 'list', ...far])).toContain('MORE: \n');
  const admin = plain.tapedeck.services.adminToken;
  expect((await run(['status', '--server', plain.base, '--token', admin])).stdout).toContain(
    'version',
  );
  expect(existsSync(nowhere())).toBe(false);
});

test('a certificate is verified, or passed with --ca; with the local folder it is trusted', async () => {
  const far = ['--server', tls.base, '--token', tls.secret];
  const refused = await run(['workspace', 'list', ...far]);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--ca')]);
  const named = await run(['workspace', 'list', ...far, '--ca', cert]);
  expect(named.stderr).toContain('its certificate is for another name');
  const none = await run(['workspace', 'list', ...far, '--ca', join(folder, 'none.pem')]);
  expect(none.stderr).toContain('can not be read');
  await writeServerFile(tls.folder, { base: tls.base, certificate: cert });
  const beside = { TAPEDECK_DATA: tls.folder };
  expect(await readOutput(['workspace', 'list'], beside)).toContain('WS: ');
  expect((await run(['status'], beside)).stdout).toContain('version');
});

test('an unreachable server is reported in one sentence', async () => {
  const readError = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr, stdout } = await run(['dataset', ...args]);
    expect([code, stdout]).toEqual([1, '']);
    return stderr;
  };
  expect(await readError('--server', 'ftp://x', '--token', 't')).toContain('must be http://');
  expect(await readError('--server', plain.base)).toContain('needs a token');
  expect(await readError('--server', 'http://127.0.0.1:1', '--token', 't')).toContain(
    'nothing listens',
  );
  const spoken = plain.base.replace('http:', 'https:');
  expect(await readError('--server', spoken, '--token', 't')).toContain('does not speak TLS');
  expect(await readError('--server', plain.base, '--token', 'sk_wrong')).toContain('not valid');
  const good = ['--server', plain.base, '--token', plain.secret];
  expect(await readError(...good, '--workspace', 'NO')).toContain('workspace "NO"');
});

test('a read does not create a missing folder', async () => {
  for (const args of [['sql', 'SELECT 1'], ['dataset'], ['dataset', 'describe', 'P']]) {
    const { code, stderr } = await run(args);
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is no data folder')]);
  }
  expect(existsSync(nowhere())).toBe(false);
});
