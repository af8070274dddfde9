// Features for operators: probes, metrics, TLS, a drain, a full disk.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { get as getTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { get, load, loaded, read } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { smallDisk } from '../../base/smallDisk.ts';

test('probes and metrics need no token', async () => {
  await using server = await startServer();
  await loaded(server, 'M', 'symbol,date\nA,2020-01-01\n');
  await read(server, '/data/WS/M/A');
  assert.equal(await (await fetch(`${server.base}/healthz`)).text(), 'ok\n');
  assert.equal(await (await fetch(`${server.base}/readyz`)).text(), 'ready\n');
  const metrics = await (await fetch(`${server.base}/metrics`)).text();
  const counted =
    /tapedeck_requests_total\{route="\/:version\/data\/:workspace\/:id\/:key",status="200"\} 1/;
  assert.match(metrics, counted);
  const gauges = ['read_children_running', 'jobs_waiting', 'ledger_charges_waiting'];
  for (const name of [...gauges, 'streams_open', 'live_symbols', 'live_ticks_dropped']) {
    assert.match(metrics, new RegExp(`^tapedeck_${name} \\d+$`, 'm'));
  }
  assert.ok(!metrics.includes(server.secret) && !metrics.includes(server.publishable));
});

test('metrics can have a port of their own, and are then not on the others', async () => {
  const settings = { TAPEDECK_METRICS_PORT: '0', TAPEDECK_SANDBOX_PORT: '0' };
  await using server = await startServer({ settings });
  const { monitoring = '', sandbox = '', services } = server.tapedeck;
  assert.match(monitoring, /^http:\/\/127\.0\.0\.1:\d+$/);
  const ask = async (url: string): Promise<readonly [number, string]> => {
    const answer = await fetch(url);
    return [answer.status, await answer.text()];
  };
  const [status, text] = await ask(`${monitoring}/metrics`);
  assert.equal(status, 200);
  assert.match(text, /^tapedeck_lake_snapshot \d+$/m);
  assert.doesNotMatch(text, /workspace="WS"/);
  const [, all] = await ask(`${monitoring}/metrics?token=${services.adminToken}`);
  assert.match(all, /workspace="WS"/);
  assert.deepEqual(await ask(`${monitoring}/healthz`), [200, 'ok\n']);
  for (const path of [
    '/',
    '/v1/status',
    '/readyz',
    '/console',
    `/v1/data/WS?token=${server.secret}`,
  ]) {
    assert.equal((await ask(monitoring + path))[0], 404, path);
  }
  for (const base of [server.base, sandbox]) {
    assert.equal((await ask(`${base}/metrics`))[0], 404, base);
    assert.doesNotMatch((await ask(`${base}/`))[1], /metrics/);
  }
});

test('a monitoring token reads all metrics, and nothing else', async () => {
  const token = 'ak_monitoring0123456789';
  await using server = await startServer({ settings: { TAPEDECK_METRICS_TOKEN: token } });
  await loaded(server, 'M', 'symbol,date\nA,2020-01-01\n');
  const { adminToken } = server.tapedeck.services;
  const ask = (path: string, text: string): Promise<Response> =>
    fetch(`${server.base}${path}`, { headers: { authorization: `Bearer ${text}` } });
  const hasNames = async (text: string): Promise<boolean> =>
    (await (await ask('/metrics', text)).text()).includes('{workspace="WS"');
  assert.equal(await hasNames(token), true);
  assert.equal(await hasNames(adminToken), true);
  for (const other of [server.secret, `${token}0`, 'ak_']) {
    assert.equal(await hasNames(other), false, other);
  }
  for (const path of ['/v1/admin/status', '/v1/datasets/WS', '/v1/data/WS/M/A']) {
    assert.equal(Math.floor((await ask(path, token)).status / 100), 4, path);
  }
});

test("HTTPS with a certificate of one's own", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-tls-'));
  t.onTestFinished(() => rm(folder, { recursive: true }));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert, '-days', '1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], {
    stdio: 'ignore',
  });
  const settings = { TAPEDECK_TLS_CERT: cert, TAPEDECK_TLS_KEY: key };
  await using server = await startServer({ settings });
  assert.match(server.base, /^https:/);
  const ca = execFileSync('cat', [cert]);
  // Long headers are accepted as without TLS: Node's own limit is 16 kB.
  const headers = { 'x-long': 'x'.repeat(40_000) };
  const status = await new Promise<string>((resolve, reject) => {
    getTls(`${server.base}/v1/status`, { ca, headers }, (answer) => {
      answer.setEncoding('utf8').on('data', resolve);
    }).on('error', reject);
  });
  assert.match(status, /"status":"up"/);
  await assert.rejects(fetch(server.base.replace('https', 'http')));
});

test('half a TLS setting is refused', async () => {
  await assert.rejects(startServer({ settings: { TAPEDECK_TLS_CERT: 'x' } }), /set together/);
});

test('a full disk: reads go on, writes refuse with the reason, then all is well again', async (t) => {
  const { folder, leave } = await smallDisk(t);
  await using server = await startServer({ folder });
  await loaded(server, 'KEPT', 'symbol,date,price\nA,2020-01-01,1\n');
  const before = await read(server, '/data/WS/KEPT?last=9');
  await leave(200_000);
  const rows = Array.from({ length: 60_000 }, (_, at) => `K${at},2020-01-01,${at * 7919}`);
  const big = `symbol,date,price\n${rows.join('\n')}\n`;
  const refused = await load(server, 'KEPT', big);
  assert.equal(refused.status, 507);
  assert.match(await refused.text(), /the disk is full: nothing was written/);
  assert.equal(await read(server, '/data/WS/KEPT?last=9'), before);
  const full = await fetch(`${server.base}/readyz`);
  assert.equal(full.status, 503);
  assert.match(await full.text(), /^not ready: the disk is full: \d+ bytes are free/);
  await leave(undefined);
  assert.equal(await (await fetch(`${server.base}/readyz`)).text(), 'ready\n');
  assert.equal((await loaded(server, 'KEPT', big)).recordsIngested, 60_000);
  assert.equal((await get(server, '/data/WS/KEPT/K59999')).status, 200);
});
