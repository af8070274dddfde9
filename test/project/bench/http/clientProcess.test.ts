// The client process of the benches, against servers with known responses.
import { writeFile } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { byPace, openClient, type Side } from '../../../../bench/http/clientProcess.ts';
import { getRequests } from '../../../../bench/http/order.ts';
import { median, p99 } from '../../../../bench/base/measure.ts';
import { startHttp } from '../../../base/servers/http.ts';

const client = openClient();
afterAll(() => client[Symbol.asyncDispose]());

const sideOf = ({ port }: { readonly port: number }): Side => ({ port, pids: [process.pid] });

const SLOW_MS = 200;
/** A timer counts in whole milliseconds. */
const SLOW_LEAST_MS = SLOW_MS - 2;

function late(request: IncomingMessage, response: ServerResponse): void {
  const answer = (): void => void response.end('{}');
  if (request.url === '/slow') setTimeout(answer, SLOW_MS);
  else answer();
}

test('a server that is slow for one request in ten has a fast median and a slow p99', async () => {
  await using server = await startHttp(late);
  const paths = Array.from({ length: 10 }, (_, at) => (at === 4 ? '/slow' : '/quick'));
  const plan = { requests: getRequests(paths), connections: 1, count: 20 };
  const { times, tookMs } = await client.drive(sideOf(server), plan);
  expect(times).toHaveLength(20);
  expect(times.filter((ms) => ms >= SLOW_LEAST_MS).length).toBeGreaterThanOrEqual(2);
  expect(median(times)).toBeLessThan(SLOW_LEAST_MS);
  expect(p99(times)).toBeGreaterThanOrEqual(SLOW_LEAST_MS);
  expect(tookMs).toBeGreaterThanOrEqual(2 * SLOW_LEAST_MS);
});

test('in a timed run each connection sends its next request immediately, and no other is open', async () => {
  let [now, most, answered] = [0, 0, 0];
  await using server = await startHttp((_request, response) => {
    now += 1;
    most = Math.max(most, now);
    setTimeout(() => {
      now -= 1;
      answered += 1;
      response.end('{}');
    }, 20);
  });
  const plan = { requests: getRequests(['/a', '/b']), connections: 3, seconds: 0.4 };
  const driven = await client.drive(sideOf(server), plan);
  expect(most).toBe(3);
  expect(driven.times).toHaveLength(answered);
  expect(driven.tookMs).toBeGreaterThanOrEqual(400);
  // At most as many as three connections can send, and more than one could.
  expect(answered).toBeGreaterThan(3);
  expect(answered).toBeLessThanOrEqual(3 * (driven.tookMs / 19 + 1));
  expect(byPace(driven).ms).toBeCloseTo(driven.tookMs / answered);
});

test('failed responses fail the bench with the first of them, and have no time', async () => {
  let asks = 0;
  await using server = await startHttp((_request, response) => {
    asks += 1;
    if (asks % 3 === 0) response.writeHead(503).end('no room');
    else response.end('{}');
  });
  const plan = { requests: getRequests(['/']), connections: 1, count: 7 };
  const failing = client.drive(sideOf(server), plan);
  await expect(failing).rejects.toThrow('2 requests failed, the first with 503 no room');
  asks = 0;
  const { failure, failures, times } = await client.tryAll(sideOf(server), plan);
  expect({ failure, failures }).toEqual({ failure: '503 no room', failures: 2 });
  expect(times).toHaveLength(5);
});

test('a server that closes the connection, and a missing one, fail it too', async () => {
  await using server = await startHttp((request) => request.socket.destroy());
  const plan = { requests: getRequests(['/']), connections: 1, count: 1 };
  await expect(client.drive(sideOf(server), plan)).rejects.toThrow('closed a connection');
  await expect(client.drive({ port: 1, pids: [] }, plan)).rejects.toThrow('ECONNREFUSED');
});

test('methods, headers, bodies and files arrive as requested, each request once', async () => {
  const seen: string[] = [];
  await using server = await startHttp((request, response) => {
    void text(request).then((body) => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization} ${body}`);
      response.end();
    });
  });
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-client-'));
  try {
    const file = join(folder, 'body');
    await writeFile(file, 'ä'.repeat(100_000));
    const headers = { authorization: 'Bearer t' };
    const requests = [
      { path: '/get', headers },
      { path: '/patch', method: 'PATCH', headers, body: '{"é":1}' },
      { path: '/file', method: 'POST', headers, file },
    ];
    await client.drive(sideOf(server), { requests, connections: 1, count: 4 });
    expect(seen).toEqual([
      'GET /get Bearer t ',
      'PATCH /patch Bearer t {"é":1}',
      `POST /file Bearer t ${'ä'.repeat(100_000)}`,
      'GET /get Bearer t ',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
