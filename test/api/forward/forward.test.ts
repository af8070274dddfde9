// Forwarded requests: their target, their retries, and the answer to a lost one. The nodes are
// real servers on loopback that answer, wait, or break the connection.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, Agent as SecureAgent } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, test } from 'vitest';
import {
  verifyProxyHeader,
  PROXY_HEADER,
  signProxyHeader,
} from '../../../api/auth/proxyIdentity.ts';
import { makeForwarder, type ForwarderOptions } from '../../../api/forward/forward.ts';
import { openFrontServer } from '../../../api/forward/frontServer.ts';
import type { Target } from '../../../api/forward/proxyRequest.ts';
import { makeReachability } from '../../../api/forward/reachability.ts';
import { makeRenewedAgent } from '../../../api/forward/renewedAgent.ts';
import { sendBeforeDrain } from '../../../api/forward/drainBody.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** @param isReached result of the reachability probe, which runs every 20 ms */
const targetAt = (port: number, id = 'one', isReached = true): Target => {
  const agent = makeRenewedAgent(() => new Agent({ keepAlive: true }));
  closing.push(() => agent.destroy());
  const reach = makeReachability({ probe: async () => isReached, everyMs: 20, misses: 3 });
  return {
    id,
    agent,
    reachability: reach,
    url: new URL(`http://127.0.0.1:${port}`),
    proxyKey: 'key',
  };
};

const answers =
  (name: string): RequestListener =>
  async (request, reply) => {
    const body = await text(request);
    reply.setHeader('x-request-id', 'r');
    reply.end(
      `${name} ${request.method} ${request.url} ${body.length} ${request.headers[PROXY_HEADER]}`,
    );
  };

interface Front {
  readonly base: string;
  readonly port: number;
  readonly outcomes: string[];
  set(target: Target | undefined): void;
}

async function front(first: Target | undefined, waitMs = 5_000): Promise<Front> {
  let target = first;
  let changed = Promise.withResolvers<void>();
  const outcomes: string[] = [];
  const forwarding: ForwarderOptions = {
    targets: {
      current: () => target,
      waitForChange: (withinMs) =>
        Promise.race([changed.promise, sleep(withinMs, undefined, { ref: false })]),
    },
    signHeader: ({ proxyKey }) => `signed with ${proxyKey}`,
    recordOutcome: (outcome) => outcomes.push(outcome),
    waitMs,
  };
  const door = await openFrontServer({
    host: '127.0.0.1',
    port: 0,
    https: undefined,
    answerLocally: () => undefined,
    forward: makeForwarder(forwarding),
  });
  closing.push(() => door.close(0));
  const set = (next: Target | undefined): void => {
    target = next;
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return { base: `http://127.0.0.1:${door.port}`, port: door.port, outcomes, set };
}

const ask = async (base: string, init: RequestInit = {}): Promise<string> => {
  const answer = await fetch(`${base}/v1/a?b=c%20d`, init);
  return `${answer.status} ${await answer.text()}`;
};

test('a forwarded request arrives unchanged, with the signature of the proxy', async () => {
  const { base, outcomes } = await front(targetAt(await listening(createServer(answers('one')))));
  assert.equal(await ask(base), '200 one GET /v1/a?b=c%20d 0 signed with key');
  for (const bytes of [1, 65_536, 65_537, 5_000_000]) {
    const post = { method: 'POST', body: 'x'.repeat(bytes) };
    assert.equal(await ask(base, post), `200 one POST /v1/a?b=c%20d ${bytes} signed with key`);
  }
  // Without a declared length.
  const chunked = {
    method: 'POST',
    duplex: 'half' as const,
    body: new Blob(['y'.repeat(2e5)]).stream(),
  };
  assert.equal(await ask(base, chunked), '200 one POST /v1/a?b=c%20d 200000 signed with key');
  assert.deepEqual(new Set(outcomes), new Set(['answered']));
});

test('a client that reads late gets the answer to a body that was refused', async () => {
  const early = createServer((request, reply) => {
    reply.writeHead(413, { 'x-request-id': 'r', connection: 'close', 'content-length': 8 });
    Readable.from(sendBeforeDrain('too long', request)).pipe(reply);
  });
  const { port } = await front(targetAt(await listening(early)));
  const body = Buffer.alloc(30_000_000, 'x');
  const socket = connect(port, '127.0.0.1').pause();
  socket.write(`POST /v1/a HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n`);
  await new Promise((resolve) => socket.write(body, resolve));
  const [answer] = (await once(socket.resume(), 'data')) as [Buffer];
  assert.match(String(answer), /^HTTP\/1\.1 413 [^]*too long/);
  socket.destroy();
});

test('a slow body is forwarded as it arrives', async () => {
  let came = Promise.withResolvers<string>();
  const server = createServer((request, reply) => {
    request.setEncoding('utf8').once('data', (piece: string) => came.resolve(piece));
    request.once('end', () => reply.setHeader('x-request-id', 'r').end('whole'));
  });
  const { port } = await front(targetAt(await listening(server)));
  const socket = connect(port, '127.0.0.1');
  closing.push(() => socket.destroy());
  socket.write('POST /v1/a HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nfirst');
  assert.equal(await came.promise, 'first', 'before the rest was sent');
  came = Promise.withResolvers();
  const answer = once(socket, 'data');
  socket.write('later');
  assert.match(String((await answer)[0]), /^HTTP\/1.1 200[^]*whole/);
});

test('the proxy waits for a slow node, but not for an unreachable one', async () => {
  const silent = await listening(createServer(() => undefined));
  const cut = await front(targetAt(silent, 'cut', false), 300);
  assert.match(await ask(cut.base), /^503 .*no node serves for now/);
  assert.match(await ask(cut.base, { method: 'POST', body: 'a' }), /^502 .*is not known/);
  assert.deepEqual(cut.outcomes, ['refused', 'unknown']);
  const server = createServer((_request, reply) => {
    setTimeout(() => reply.setHeader('x-request-id', 'r').end('late'), 300);
  });
  const slow = await front(targetAt(await listening(server)));
  assert.equal(await ask(slow.base, { method: 'POST', body: 'a' }), '200 late');
});

test('a node may have an IPv6 address', async (context) => {
  const server = createServer(answers('six'));
  server.listen(0, '::1');
  const isThere = await Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]);
  context.skip(!isThere && process.env['CI'] !== 'true', 'this machine has no ::1');
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { base } = await front({ ...targetAt(port), url: new URL(`http://[::1]:${port}`) });
  assert.match(await ask(base), /^200 six/);
});

test("a client's own proxy header is not forwarded", async () => {
  const { base } = await front(targetAt(await listening(createServer(answers('one')))));
  const forged = { headers: { [PROXY_HEADER]: 'forged', connection: 'keep-alive' } };
  assert.match(await ask(base, forged), /signed with key$/);
});

test('requests wait while no node serves, until one does', async () => {
  const { base, set } = await front(undefined);
  const waiting = ['GET', 'POST', 'PUT'].map((method) =>
    ask(base, method === 'GET' ? {} : { method, body: 'body' }),
  );
  await sleep(50);
  set(targetAt(await listening(createServer(answers('late')))));
  for (const answer of await Promise.all(waiting)) assert.match(answer, /^200 late/);
});

test('a request that no node accepts in time is refused, and may be sent again', async () => {
  const { base, outcomes } = await front(undefined, 100);
  const answer = await fetch(`${base}/v1/a`, { headers: { accept: 'application/problem+json' } });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.match(await answer.text(), /no node serves for now: try again/);
  assert.deepEqual(outcomes, ['refused']);
});

/** Accepts requests, and closes their connections without an answer. */
async function breaking(): Promise<{ readonly target: Target; readonly count: () => number }> {
  let count = 0;
  const server = createServer(async (request) => {
    await text(request).catch(() => '');
    count += 1;
    request.socket.destroy();
  });
  return { target: targetAt(await listening(server), 'breaks'), count: () => count };
}

test('a request to a lost node is sent again only if it changes nothing', async () => {
  const next = targetAt(await listening(createServer(answers('next'))), 'next');
  const { count, target } = await breaking();
  const { base, set, outcomes } = await front(target);
  const reading = ask(base);
  await sleep(100);
  set(next);
  assert.match(await reading, /^200 next GET/);
  assert.ok(count() > 0);
  for (const method of ['POST', 'PUT', 'DELETE']) {
    set(target);
    const before = count();
    const lost = await ask(base, { method, body: method === 'DELETE' ? null : 'x' });
    assert.match(lost, /^502 .*whether this was done is not known/);
    assert.equal(count() - before, 1, `${method} once`);
  }
  set(target);
  const cursor = await fetch(`${base}/v1/time-series/A?queryId=mine`);
  assert.equal(cursor.status, 502, 'a named query advances with each answer');
  assert.deepEqual(outcomes.slice(-4), ['unknown', 'unknown', 'unknown', 'unknown']);
});

test('after one connection broke, no other earlier connection is used', async () => {
  const sockets = new Set<object>();
  const server = createServer(async ({ socket, url }, reply) => {
    sockets.add(socket);
    if (url === '/break') return void socket.destroy();
    if (url === '/slow') await sleep(100);
    reply.setHeader('x-request-id', 'r').end('answered');
  });
  const { base } = await front(targetAt(await listening(server)));
  const get = (path: string): Promise<string> =>
    fetch(`${base}${path}`).then((answer) => answer.text());
  await Promise.all(['/slow', '/slow', '/slow'].map(get));
  assert.equal(sockets.size, 3);
  const slow = get('/slow');
  await sleep(20);
  assert.equal((await fetch(`${base}/break`, { method: 'POST', body: 'x' })).status, 502);
  const before = sockets.size;
  await get('/one');
  assert.equal(sockets.size, before + 1, 'a new connection');
  assert.equal(await slow, 'answered', 'a running request continues');
  await get('/two');
  assert.equal(sockets.size, before + 1, 'and it is used again');
});

test('a request just after a broken connection is not sent to a process that is ending', async () => {
  let isEnding = false;
  const dying = createServer(({ socket }) => {
    socket.destroy();
    isEnding = true;
    setTimeout(() => dying.close(), 50);
  });
  // Its port is closed after its connections.
  dying.on('connection', (socket) => {
    if (isEnding) setTimeout(() => socket.destroy(), 10);
  });
  const { base, set } = await front(targetAt(await listening(dying), 'dying'));
  assert.match(await ask(base, { method: 'POST', body: 'x' }), /^502/);
  const second = ask(base, { method: 'POST', body: 'x' });
  await sleep(150);
  set(targetAt(await listening(createServer(answers('next'))), 'next'));
  assert.match(await second, /^200 next POST/);
});

test('a node that is ending refuses requests that it has not started; the next one serves them', async () => {
  const ending: RequestListener = (_request, reply) => reply.writeHead(503).end('ending');
  const busy: RequestListener = (_request, reply) =>
    reply.writeHead(503, { 'x-request-id': 'r' }).end('busy');
  const { base, set } = await front(targetAt(await listening(createServer(ending)), 'ends'));
  const pushed = ask(base, { method: 'POST', body: 'x'.repeat(1_000) });
  await sleep(120);
  set(targetAt(await listening(createServer(answers('next'))), 'next'));
  assert.match(await pushed, /^200 next POST \S+ 1000/);
  set(targetAt(await listening(createServer(busy)), 'busy'));
  assert.equal(await ask(base), '503 busy', 'the answer of the node itself');
});

test('the client must send a body again that the proxy has no longer', async () => {
  const ending: RequestListener = (_request, reply) => reply.writeHead(503).end('ending');
  const { base } = await front(targetAt(await listening(createServer(ending)), 'ends'));
  const answer = await ask(base, { method: 'POST', body: 'x'.repeat(100_000) });
  assert.match(answer, /^503 .*the node that serves changed while the body was sent/);
});

test('a client that disconnects ends its request, and a broken answer breaks for the client', async () => {
  let ended = Promise.withResolvers<void>();
  const slow: RequestListener = (_request, reply) => {
    reply.writeHead(200, { 'x-request-id': 'r' }).write('begun');
    reply.once('close', () => ended.resolve());
  };
  const port = await listening(createServer(slow));
  const { base } = await front(targetAt(port));
  const leaving = new AbortController();
  const stream = await fetch(`${base}/v1/stream`, { signal: leaving.signal });
  assert.equal(stream.status, 200, 'headers come before the end');
  leaving.abort();
  await ended.promise;
  ended = Promise.withResolvers();
  const half: RequestListener = (_request, reply) => {
    reply.writeHead(200, { 'x-request-id': 'r', 'content-length': '100' }).write('half');
    setTimeout(() => reply.destroy(), 20);
  };
  const { base: other } = await front(targetAt(await listening(createServer(half))));
  await assert.rejects(ask(other), /terminated|aborted/);
});

test('a node that is down receives nothing, also not with retries', async () => {
  const closedServer = createServer();
  const port = await listening(closedServer);
  closedServer.close();
  const { base, set } = await front(targetAt(port, 'gone'));
  const large = ask(base, { method: 'POST', body: 'x'.repeat(300_000) });
  await sleep(200);
  set(targetAt(await listening(createServer(answers('next'))), 'next'));
  assert.match(await large, /^200 next POST \S+ 300000/, 'nothing of it was read before');
});

test('bytes that are no request do no harm', async () => {
  const { base, port } = await front(targetAt(await listening(createServer(answers('one')))));
  const oddLength = 'POST /v1 HTTP/1.1\r\ncontent-length: -1\r\n\r\n';
  for (const bytes of ['\r\n\r\n', 'GET', 'GET / HTTP/9.9\r\n\r\n', oddLength]) {
    const socket = connect(port, '127.0.0.1');
    socket.end(bytes);
    await once(socket.resume(), 'close');
  }
  assert.match(await ask(base), /^200 one/);
});

test('a TLS node is identified by its own certificate', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tapedeck-pinned-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const createCertificate = (name: string): { readonly cert: string; readonly key: string } => {
    const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const rest = ['-nodes', '-days', '2', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert];
    execFileSync('openssl', [...kind, ...rest], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  };
  const [right, wrong] = [createCertificate('api.example'), createCertificate('other.example')];
  const secure = (certificate: string, port: number): Target => ({
    ...targetAt(port, certificate.slice(30, 60)),
    url: new URL(`https://127.0.0.1:${port}`),
    agent: makeRenewedAgent(
      () =>
        new SecureAgent({
          ca: certificate,
          allowPartialTrustChain: true,
          checkServerIdentity: () => undefined,
        }),
    ),
  });
  const port = await listening(createSecureServer(right, answers('tls')));
  const { base, set } = await front(secure(right.cert, port), 300);
  assert.match(await ask(base), /^200 tls GET/);
  set(secure(wrong.cert, port));
  assert.match(await ask(base), /^503 .*no node serves/);
});

test('a client address is accepted only with the key, for its own request, and for a short time', () => {
  let nowMs = 1_000_000;
  const hopping = { key: 'k'.repeat(64), clock: () => nowMs };
  const request = { method: 'GET', url: '/v1/data/A' };
  const header = signProxyHeader(hopping, request, '203.0.113.7');
  assert.equal(verifyProxyHeader(hopping, request, header), '203.0.113.7');
  assert.equal(verifyProxyHeader({ ...hopping, key: 'other' }, request, header), undefined);
  assert.equal(verifyProxyHeader(hopping, { ...request, method: 'POST' }, header), undefined);
  assert.equal(verifyProxyHeader(hopping, { ...request, url: '/v1/data/B' }, header), undefined);
  assert.equal(verifyProxyHeader(hopping, request, header.replace('203', '204')), undefined);
  for (const odd of ['', 'a', 'a b', `${header} more`, [header], undefined]) {
    assert.equal(verifyProxyHeader(hopping, request, odd), undefined);
  }
  nowMs += 59_000;
  assert.equal(verifyProxyHeader(hopping, request, header), '203.0.113.7');
  nowMs += 2_000;
  assert.equal(verifyProxyHeader(hopping, request, header), undefined);
});
