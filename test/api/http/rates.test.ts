// 429 over HTTP: by address and by token, counted in milliseconds, with the time to retry.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';

const RATED = { TAPEDECK_RATE_LIMIT: 'on' };

async function burst(
  server: TestServer,
  path: string,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly Response[]> {
  const one = async (): Promise<Response> => {
    const answer = await fetch(`${server.base}/v1${path}`, { headers });
    await answer.clone().arrayBuffer();
    return answer;
  };
  return Promise.all(Array.from({ length: count }, one));
}

const passed = (answers: readonly Response[]): number =>
  answers.filter(({ status }) => status !== 429).length;

test('an address has a burst of 100, then one request every 10 ms', async () => {
  let nowMs = 5_000;
  await using server = await startServer({ settings: RATED, seams: { monotonic: () => nowMs } });
  const first = await burst(server, '/status', 130);
  assert.equal(passed(first), 100);
  const refused = first.find(({ status }) => status === 429);
  assert.equal(refused?.headers.get('retry-after'), '1');
  assert.equal(refused?.headers.get('svccloud-messages-used'), null);
  assert.equal(await refused?.text(), 'Too Many Requests');
  nowMs += 9;
  assert.equal(passed(await burst(server, '/status', 5)), 0);
  nowMs += 1;
  assert.equal(passed(await burst(server, '/status', 5)), 1);
  nowMs += 200;
  assert.equal(passed(await burst(server, '/status', 50)), 20);
  nowMs += 60_000;
  assert.equal(passed(await burst(server, '/status', 130)), 100, 'a burst is at most a second');
});

test('a token has the rate of its tier, independent of its addresses', async () => {
  const settings = { ...RATED, TAPEDECK_TRUSTED_PROXIES: '127.0.0.1' };
  await using server = await startServer({ settings, seams: { monotonic: () => 7_000 } });
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('slow', 'free');
  const { text } = await accounts.createToken(accountId, 'secret');
  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
  const path = `/account/metadata?token=${text}`;
  assert.equal(passed(await burst(server, path, 40, from('192.0.2.1'))), 40);
  assert.equal(passed(await burst(server, path, 40, from('192.0.2.2'))), 10, '50 in all');
  assert.equal(passed(await burst(server, '/status', 60, from('192.0.2.1'))), 60, 'others go on');
  const v6 = from('2001:db8:1:2::1');
  assert.equal(passed(await burst(server, '/status', 70, v6)), 70);
  const neighbour = from('2001:db8:1:2:ffff::9');
  assert.equal(passed(await burst(server, '/status', 70, neighbour)), 30, 'one /64 is one caller');
});

test('forwarded addresses of untrusted senders are ignored', async () => {
  await using server = await startServer({ settings: RATED, seams: { monotonic: () => 9_000 } });
  let through = 0;
  for (let at = 0; at < 3; at += 1) {
    const forwarded = { 'x-forwarded-for': `192.0.2.${at}` };
    through += passed(await burst(server, '/status', 50, forwarded));
  }
  assert.equal(through, 100);
});

test('the test environment has 10 a second, apart from production', async () => {
  const settings = { ...RATED, TAPEDECK_SANDBOX_PORT: '0' };
  await using server = await startServer({ settings, seams: { monotonic: () => 11_000 } });
  const sandbox = { ...server, base: server.tapedeck.sandbox ?? '' };
  assert.equal(passed(await burst(sandbox, '/status', 30)), 10);
  assert.equal(passed(await burst(server, '/status', 30)), 30);
});
