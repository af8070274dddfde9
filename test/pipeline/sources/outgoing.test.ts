// The guarded client: refusals before a byte is sent, its requests, and answers that it does not trust.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, test } from 'vitest';
import type { Resolve } from '../../../pipeline/sources/base/guard.ts';
import { checkHeaders } from '../../../pipeline/sources/http/headers.ts';
import {
  openOutgoing,
  type OutgoingRequest,
  type OutgoingRules,
} from '../../../pipeline/sources/http/outgoing.ts';
import { SourceFailure } from '../../../pipeline/sources/base/source.ts';
import { HOSTILE_URLS } from './hostileUrls.ts';

/** The addresses of the names in the tests. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.test': ['93.184.216.34'],
  'loop.test': ['127.0.0.1'],
  'loop6.test': ['::1'],
  'mixed.test': ['93.184.216.34', '10.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'nothing.test': [],
};

const resolve: Resolve = async (host) => {
  const addresses = NAMES[host.replace(/\.$/, '')];
  if (addresses === undefined) throw Object.assign(new Error(host), { code: 'ENOTFOUND' });
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

const OPEN: OutgoingRules = {
  allowPrivateAddresses: true,
  deadlineMs: 5_000,
  idleMs: 1_000,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};
const CLOSED: OutgoingRules = { ...OPEN, allowPrivateAddresses: false, resolve };

const request = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  method: 'GET',
  url,
  headers: {},
  bytesMax: 1_000_000,
  signal: new AbortController().signal,
  ...more,
});

interface Got {
  readonly status: number;
  readonly text: string;
}

async function send(
  url: string,
  rules: OutgoingRules = OPEN,
  more: Partial<OutgoingRequest> = {},
): Promise<Got> {
  await using outgoing = openOutgoing(rules);
  const answer = await outgoing.send(request(url, more));
  return { status: answer.status, text: await textOf(answer.body) };
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

interface Listening extends AsyncDisposable {
  readonly port: number;
  connections(): number;
}

async function listening(server: ReturnType<typeof createServer>): Promise<Listening> {
  let count = 0;
  server.on('connection', () => {
    count += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    connections: () => count,
    [Symbol.asyncDispose]: async () => {
      server.close();
      if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
      await once(server, 'close');
    },
  };
}

const serve = (listener: RequestListener): Promise<Listening> =>
  listening(createHttpServer(listener));

/** Sends `parts` as they are, 20 ms apart, then closes unless the connection is to stay open. */
const sends = (parts: readonly (string | Buffer)[], stay = false): Promise<Listening> =>
  listening(
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', async () => {
        for (const part of parts) {
          socket.write(part);
          await new Promise((done) => setTimeout(done, 20));
        }
        if (stay) socket.once('close', () => socket.destroy());
        else socket.end();
      });
    }),
  );

const failing = (pattern: RegExp, transient: boolean) => (error: unknown) => {
  assert.ok(error instanceof SourceFailure, String(error));
  assert.match(error.detail ?? '', pattern);
  assert.equal(error.transient, transient, error.detail);
  return true;
};

describe('hostile URLs reach nothing', () => {
  for (const [url, why] of HOSTILE_URLS) {
    test(`${JSON.stringify(url.slice(0, 80))}: ${why.source}`, async () => {
      await using server = await sends(['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n']);
      const aimed = url.replaceAll('PORT', String(server.port));
      await assert.rejects(send(aimed, CLOSED), failing(why, false));
      assert.equal(server.connections(), 0);
    });
  }
  test('there are at least 80', () => {
    assert.ok(new Set(HOSTILE_URLS.map(([url]) => url)).size >= 80);
  });
});

describe('names', () => {
  test('a name is resolved once, and the client connects to that address', async () => {
    let lookupCount = 0;
    await using server = await serve((_request, response) => response.end('here'));
    const rebinding: Resolve = async () => {
      lookupCount += 1;
      return [{ address: lookupCount === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    await using outgoing = openOutgoing({ ...OPEN, resolve: rebinding });
    for (let count = 0; count < 3; count += 1) {
      const answer = await outgoing.send(request(`http://rebinding.test:${server.port}/`));
      assert.equal(await textOf(answer.body), 'here');
    }
    assert.equal(lookupCount, 1);
  });

  test('a delivery to many origins keeps eight connections', async () => {
    const resolvedHosts: string[] = [];
    await using server = await serve((_request, response) => response.end('here'));
    const named: Resolve = async (host) => {
      resolvedHosts.push(host);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    await using outgoing = openOutgoing({ ...OPEN, resolve: named });
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 9, 1]) {
      const answer = await outgoing.send(request(`http://h${n}.test:${server.port}/`));
      assert.equal(await textOf(answer.body), 'here');
    }
    assert.equal(resolvedHosts.join(' ').replaceAll('.test', ''), 'h1 h2 h3 h4 h5 h6 h7 h8 h9 h1');
  });

  test('a resolver that is down is worth another try', async () => {
    const down: Resolve = () => Promise.reject(Object.assign(new Error(), { code: 'EAI_AGAIN' }));
    const sent = send('http://a.test/', { ...OPEN, resolve: down });
    await assert.rejects(sent, failing(/a\.test cannot be resolved: EAI_AGAIN/, true));
  });

  test('a resolver that hangs ends at the deadline', async () => {
    const hangs: Resolve = () => new Promise(() => undefined);
    const sent = send('http://a.test/', { ...OPEN, resolve: hangs, deadlineMs: 100 });
    await assert.rejects(sent, failing(/a\.test took longer than 100 ms/, true));
  });
});

test("an unknown and a private name fail alike; the address is the operator's to read", async () => {
  const reasons: string[] = [];
  const rules = { ...CLOSED, onRefused: (reason: string) => void reasons.push(reason) };
  const refusal = async (host: string): Promise<string> => {
    const error = await send(`http://${host}/`, rules).catch((reason: unknown) => reason);
    return String(error).replaceAll(host, 'HOST');
  };
  const unknown = await refusal('unknown.test');
  for (const host of ['loop.test', 'mixed.test', 'metadata.test', 'nothing.test']) {
    assert.equal(await refusal(host), unknown, host);
  }
  assert.match(unknown, /host HOST is unknown or is not on the public Internet/);
  assert.deepEqual(
    reasons.map((reason) => reason.split(', which')[0]),
    [
      'host loop.test is 127.0.0.1',
      'host mixed.test is 10.0.0.1',
      'host metadata.test is 169.254.169.254',
    ],
  );
});

describe('redirects', () => {
  for (const [location, why] of [
    ['http://169.254.169.254/latest/meta-data/', /169\.254\.169\.254 is not on the public/],
    ['http://loop.test/', /host loop\.test is unknown or is not on the public/],
    ['file:///etc/passwd', /begins with http/],
    ['http://user:password@public.test/', /holds no user/],
    ['//2130706433/', /127\.0\.0\.1 is not on the public/],
    ['http://[::ffff:10.0.0.1]/', /is not on the public/],
    ['gopher://public.test/', /begins with http/],
    ['http://public.test\\@loop.test/', /no space, backslash/],
  ] as const) {
    test(`to ${location} is refused`, async () => {
      const rules = { ...CLOSED, allowPrivateAddresses: true };
      const pinned: Resolve = async (host) =>
        host === 'start.test' ? [{ address: '127.0.0.1', family: 4 }] : resolve(host);
      // On this machine, only the first hop is allowed.
      await using server = await serve((_request, response) => {
        rules.allowPrivateAddresses = false;
        response.writeHead(302, { location }).end('moved');
      });
      await using outgoing = openOutgoing(Object.assign(rules, { resolve: pinned }));
      const sent = outgoing.send(request(`http://start.test:${server.port}/`));
      await assert.rejects(sent, failing(why, false));
      assert.equal(server.connections(), 1);
    });
  }

  test('six are one too many', async () => {
    await using server = await serve((incoming, response) => {
      const count = Number(incoming.url?.slice(1));
      if (count === 0) response.end('there');
      else response.writeHead(302, { location: `/${count - 1}` }).end();
    });
    const at = (hops: number): string => `http://127.0.0.1:${server.port}/${hops}`;
    assert.equal((await send(at(5))).text, 'there');
    await assert.rejects(send(at(6)), failing(/more than 5 redirects/, false));
  });

  test('another origin gets no header that may be a secret', async () => {
    const seen: (readonly string[])[] = [];
    await using second = await serve((incoming, response) => {
      seen.push(Object.keys(incoming.headers).sort());
      response.end('ok');
    });
    await using first = await serve((incoming, response) => {
      seen.push(Object.keys(incoming.headers).sort());
      response.writeHead(307, { location: `http://127.0.0.1:${second.port}/` }).end();
    });
    const headers = {
      Authorization: 'Bearer x',
      Cookie: 'a=b',
      'X-Api-Key': 'k',
      Accept: 'text/csv',
    };
    await send(`http://127.0.0.1:${first.port}/`, OPEN, { headers });
    const plain = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'];
    assert.deepEqual(seen[0], [...plain, 'authorization', 'cookie', 'x-api-key'].sort());
    assert.deepEqual(seen[1], plain);
  });

  test('a POST is not turned into a GET', async () => {
    const bodies: string[] = [];
    await using server = await serve((incoming, response) => {
      let body = '';
      incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
      incoming.on('end', () => {
        bodies.push(`${incoming.method} ${incoming.url} ${body}`);
        const status = Number(incoming.url?.slice(1));
        if (status > 0) response.writeHead(status, { location: '/0' });
        response.end();
      });
    });
    const post = {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    } as const;
    for (const status of [302, 307]) {
      const got = await send(`http://127.0.0.1:${server.port}/${status}`, OPEN, post);
      assert.equal(got.status, status === 302 ? 302 : 200);
    }
    assert.deepEqual(bodies, ['POST /302 {"a":1}', 'POST /307 {"a":1}', 'POST /0 {"a":1}']);
  });
});

describe('bodies', () => {
  const TEXT = 'symbol,price\n'.repeat(5_000);
  const head = (headers: string): string => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`;

  for (const [coding, body] of [
    ['identity', Buffer.from(TEXT)],
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['gzip', Buffer.concat([gzipSync(TEXT.slice(0, 100)), gzipSync(TEXT.slice(100))])],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate, gzip', gzipSync(deflateSync(TEXT))],
  ] as const) {
    test(`${coding} of ${body.length} bytes`, async () => {
      await using server = await serve((_request, response) => {
        response.writeHead(200, { 'content-encoding': coding }).end(body);
      });
      assert.equal((await send(`http://127.0.0.1:${server.port}/`)).text, TEXT);
    });
  }

  const zipped = gzipSync(TEXT);
  const bomb = gzipSync(Buffer.alloc(100_000_000));
  const FAULTS: readonly (readonly [
    name: string,
    parts: readonly (string | Buffer)[],
    why: RegExp,
    transient: boolean,
    stay?: boolean,
  ])[] = [
    ['cut short', [head('content-length: 50'), 'abc'], /before the end/, true],
    [
      'cut within chunks',
      [head('transfer-encoding: chunked'), '3\r\nabc\r\n'],
      /before the end/,
      true,
    ],
    [
      'chunks that are none',
      [head('transfer-encoding: chunked'), '3\r\nabcd'],
      /not answer in HTTP/,
      false,
    ],
    [
      'longer than its content-length',
      [`${head('content-length: 3')}abcdef`],
      /longer than its content-length/,
      false,
    ],
    [
      'two lengths',
      [`${head('content-length: 3\r\ncontent-length: 4')}abcd`],
      /before the end|in HTTP/,
      true,
    ],
    ['cut gzip', [head('content-encoding: gzip'), zipped.subarray(0, 60)], /cut short/, true],
    ['no gzip', [`${head('content-encoding: gzip')}<html>`], /not in its declared encoding/, false],
    ['no zstd', [`${head('content-encoding: zstd')}<html>`], /cannot be decoded/, false],
    [
      'bytes behind',
      [head('content-encoding: zstd'), Buffer.concat([zstdCompressSync(TEXT), zipped])],
      /bytes follow the end of the zstd body/,
      false,
    ],
    ['unknown coding', [`${head('content-encoding: rot13')}abc`], /encoded as "rot13"/, false],
    ['many codings', [`${head('content-encoding: br,br,br,br')}abc`], /more than 3 times/, false],
    ['a bomb', [head('content-encoding: gzip'), bomb], /more than 1000000 bytes/, false],
    ['too long, as it states', [head('content-length: 1000001')], /more than 1000000 bytes/, false],
    [
      'too long, without a content-length',
      [head('x: y'), Buffer.alloc(1_000_001)],
      /more than 1000000/,
      false,
    ],
    ['not HTTP', ['SSH-2.0-OpenSSH_9.2\r\n'], /not answer in HTTP/, false],
    ['nothing', [], /before the end/, true],
    ['endless headers', [head(`x: ${'y'.repeat(100_000)}`)], /too many headers/, false],
    ['silence', [], /not answer in time/, true, true],
    [
      'silence in the middle',
      [head('content-length: 50'), 'abc'],
      /stopped in the middle/,
      true,
      true,
    ],
  ];
  for (const [name, parts, why, transient, stay] of FAULTS) {
    test(`${name} is a failure${transient ? ' for now' : ''}`, async () => {
      await using server = await sends(parts, stay);
      await assert.rejects(send(`http://127.0.0.1:${server.port}/`), failing(why, transient));
    });
  }

  test('one byte now and then ends at the deadline', async () => {
    await using server = await sends([
      head('content-length: 500'),
      ...Array<string>(400).fill('a'),
    ]);
    const sent = send(`http://127.0.0.1:${server.port}/`, { ...OPEN, deadlineMs: 300 });
    await assert.rejects(sent, failing(/took longer than 300 ms/, true));
  });

  test('no server at the port', async () => {
    const { port } = await (async () => {
      await using server = await sends([]);
      return server;
    })();
    await assert.rejects(send(`http://127.0.0.1:${port}/`), failing(/refuses connections/, true));
  });

  test('the caller may cancel it, and may stop reading', async () => {
    await using server = await serve((_request, response) => {
      response.write(Buffer.alloc(100_000));
    });
    const stop = new AbortController();
    const reason = new Error('cancelled');
    const sent = send(`http://127.0.0.1:${server.port}/`, OPEN, { signal: stop.signal });
    setTimeout(() => {
      stop.abort(reason);
    }, 50);
    await assert.rejects(sent, (error) => error === reason);
    await using outgoing = openOutgoing(OPEN);
    const answer = await outgoing.send(request(`http://127.0.0.1:${server.port}/`));
    for await (const chunk of answer.body) {
      assert.ok(chunk.length > 0);
      break;
    }
  });
});

describe('headers of a user', () => {
  const long = 'x'.repeat(8_193);
  for (const [name, value, why] of [
    ['Host', 'a', /"Host" cannot be set/],
    ['content-length', '1', /cannot be set/],
    ['Transfer-Encoding', 'chunked', /cannot be set/],
    ['connection', 'close', /cannot be set/],
    ['Proxy-Authorization', 'a', /cannot be set/],
    ['accept-encoding', 'br', /cannot be set/],
    ['If-None-Match', '"a"', /cannot be set/],
    ['expect', '100-continue', /cannot be set/],
    ['a b', '1', /is no header/],
    ['', '1', /is no header/],
    [':authority', '1', /is no header/],
    ['a\r\nb', '1', /is no header/],
    ['é', '1', /is no header/],
    ['x', 'a\r\nHost: b', /without line breaks/],
    ['x', 'a\nb', /without line breaks/],
    ['x', 'a\0', /without line breaks/],
    ['x', '€', /Latin-1/],
    ['x', long, /at most 8192/],
    ['x'.repeat(129), '1', /is no header/],
  ] as const) {
    test(`${JSON.stringify(name.slice(0, 30))}: ${JSON.stringify(value.slice(0, 20))}`, () => {
      assert.throws(() => checkHeaders({ [name]: value }), failing(why, false));
    });
  }
  test('none of them is sent', async () => {
    await using server = await serve((_request, response) => response.end());
    const sent = send(`http://127.0.0.1:${server.port}/`, OPEN, { headers: { host: 'a' } });
    await assert.rejects(sent, failing(/"host" cannot be set/, false));
    assert.equal(server.connections(), 0);
  });
  test('one name in two spellings, and too many', () => {
    assert.throws(() => checkHeaders({ a: '1', A: '2' }), failing(/twice/, false));
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`x-${index}`, '']));
    assert.throws(() => checkHeaders(many), failing(/at most 50/, false));
    checkHeaders({ Authorization: 'Bearer a.b-c_d', 'X-Key': 'ü', Cookie: 'a=b; c=d' });
  });
});
