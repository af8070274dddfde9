// Bodies that are refused before they have arrived completely, from clients that read no answer before they
// have sent everything. Closing a connection with unread bytes resets it, and the answer is lost.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'vitest';
import { startServer, type TestServer } from '../../../base/server.ts';

const MANY = Buffer.alloc(30_000_000, '1\n');
const BODY_BYTES_MAX = 8_000_000;

interface RefusedRequest {
  readonly name: string;
  readonly path: (server: TestServer) => string;
  readonly isChunked?: true;
  readonly status: number;
  readonly pattern: RegExp;
}

const REQUESTS: readonly RefusedRequest[] = [
  {
    name: 'an unknown token',
    path: () => '/v1/data/WS/D?token=sk_wrong',
    status: 403,
    pattern: /The API key provided is not valid/,
  },
  {
    name: 'a load whose declared length is too long',
    path: ({ secret }) => `/v1/data/WS/D?token=${secret}`,
    status: 413,
    pattern: /the body is over 8000000 bytes/,
  },
  {
    name: 'a load that turns out to be too long',
    path: ({ secret }) => `/v1/data/WS/D?token=${secret}`,
    isChunked: true,
    status: 413,
    pattern: /the body is over 8000000 bytes/,
  },
  {
    name: 'JSON that is too long',
    path: ({ secret }) => `/v1/datasets/WS?token=${secret}`,
    status: 413,
    pattern: /the body is over 1048576 bytes/,
  },
  {
    name: 'a message of an agent that is too long',
    path: ({ secret }) => `/mcp?token=${secret}`,
    status: 413,
    pattern: /the body is over 524288 bytes/,
  },
  {
    name: 'an unknown path',
    path: ({ secret }) => `/v1/nothing/here?token=${secret}`,
    status: 404,
    pattern: /./,
  },
];

/** Sends everything before it reads. */
async function sent(base: string, path: string, body: Buffer, isChunked = false): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  socket.pause();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n${length}\r\n\r\n`,
  );
  const whole = isChunked
    ? Buffer.concat([
        Buffer.from(`${body.length.toString(16)}\r\n`),
        body,
        Buffer.from('\r\n0\r\n\r\n'),
      ])
    : body;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(whole, () => resolve());
  });
  return text(socket);
}

test('clients that read late get the answers', async () => {
  await using server = await startServer({
    settings: { TAPEDECK_BODY_BYTES: String(BODY_BYTES_MAX) },
  });
  for (const { isChunked, name, path, pattern, status } of REQUESTS) {
    const answer = await sent(server.base, path(server), MANY, isChunked);
    assert.equal(answer.split(' ')[1], String(status), `${name}: ${answer}`);
    assert.match(answer, pattern, `${name}: ${answer}`);
  }
});

test('a refusal of a request without a body keeps the connection', async () => {
  await using server = await startServer();
  for (const path of ['/v1/nothing', '/v1/data/WS/D?token=sk_wrong']) {
    const answer = await fetch(`${server.base}${path}`);
    await answer.text();
    assert.deepEqual([path, answer.headers.get('connection')], [path, 'keep-alive']);
  }
});
