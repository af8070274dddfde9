// Webhooks about finished jobs, delivered to a real receiver: signed, retried after a refusal, not lost by a
// restart.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';

interface Heard {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly heard: Heard[];
  /** Statuses of the next responses; then 200. */
  readonly statuses: number[];
}

async function openReceiver(): Promise<Receiver> {
  const heard: Heard[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      heard.push({ headers: request.headers, body });
      response.writeHead(statuses.shift() ?? 200).end('heard');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { url, heard, statuses, [Symbol.asyncDispose]: close };
}

const SETTINGS = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
const SECRET = 'a secret of the receiver';

async function post(server: TestServer, path: string, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const answer = await fetch(`${server.base}/v1${path}`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}

const look = (server: TestServer): Promise<number> =>
  server.tapedeck.services.deliveries.deliverDue();

test('the end of a job is delivered until it is accepted, signed and filtered by the webhook', async () => {
  await using receiver = await openReceiver();
  let now = Date.UTC(2024, 1, 29, 17);
  const seams = { watch: false, clock: () => now };
  await using server = await startServer({ settings: SETTINGS, seams });
  const webhook = { url: receiver.url, secret: SECRET, headers: { 'x-team': 'data' } };
  await post(server, '/webhooks/WS', JSON.stringify(webhook));
  await post(server, '/webhooks/WS', JSON.stringify({ url: receiver.url, events: ['ERROR'] }));
  await post(server, '/webhooks/WS', JSON.stringify({ url: receiver.url, datasetId: 'OTHER' }));
  receiver.statuses.push(503);
  await post(server, '/data/WS/D?wait=true', 'a,b\n1,2\n');
  const next = await look(server);
  assert.equal(receiver.heard.length, 1);
  assert.equal(next, now + 10_000, 'it is retried in ten seconds');
  now = next;
  assert.equal(await look(server), Infinity);
  const [first, second, third] = receiver.heard;
  assert.ok(first !== undefined && second !== undefined && third === undefined);
  assert.equal(second.body, first.body);
  assert.equal(second.headers['svc-delivery'], first.headers['svc-delivery']);
  assert.equal(second.headers['x-team'], 'data');
  const stamp = String(second.headers['svc-timestamp']);
  const signature = createHmac('sha256', SECRET).update(`${stamp}.${second.body}`).digest('hex');
  assert.equal(second.headers['svc-signature'], `sha256=${signature}`);
  const payload = JSON.parse(second.body) as Readonly<Record<string, unknown>>;
  const members = ['event', 'workspace', 'datasetId', 'status', 'recordsIngested', 'error'];
  assert.deepEqual(
    members.map((name) => payload[name]),
    ['job', 'WS', 'D', 'INGESTED', 1, null],
  );
});

test('a permanent refusal ends the retries, and is logged', async () => {
  await using receiver = await openReceiver();
  await using server = await startServer({ settings: SETTINGS, seams: { watch: false } });
  await post(server, '/webhooks/WS', JSON.stringify({ url: receiver.url, name: 'Gone' }));
  receiver.statuses.push(410);
  assert.equal(await post(server, '/data/WS/D?wait=true', '{"not": "closed"'), 400);
  assert.equal(await look(server), Infinity);
  const headers = { authorization: `Bearer ${server.secret}` };
  const logs = await (await fetch(`${server.base}/v1/logs/WS`, { headers })).text();
  assert.match(logs, /webhook Gone could not be delivered to after 1 calls: answered 410/);
  assert.match(receiver.heard[0]?.body ?? '', /"status":"ERROR"/);
});

test('a restart loses no delivery, and a deleted webhook receives none', async () => {
  await using receiver = await openReceiver();
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-hook-'));
  try {
    {
      const seams = { watch: false };
      await using server = await startServer({ folder, settings: SETTINGS, seams });
      await post(server, '/webhooks/WS', JSON.stringify({ url: receiver.url }));
      await post(server, '/data/WS/D?wait=true', 'a,b\n1,2\n');
    }
    assert.equal(receiver.heard.length, 0);
    await using server = await startServer({ folder, settings: SETTINGS });
    for (let tries = 0; receiver.heard.length === 0 && tries < 200; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.equal(receiver.heard.length, 1);
    assert.equal(await look(server), Infinity);
  } finally {
    await rm(folder, { recursive: true });
  }
});
