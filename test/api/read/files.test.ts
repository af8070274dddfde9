// One-time download addresses: late, twice, interrupted, guessed, by another account, in parts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, test } from 'vitest';
import { LINK_LIFE_MS } from '../../../store/publications/downloadLinks.ts';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let nowMs = Date.parse('2024-02-29T17:00:00Z');
let server: TestServer;
/** More than both ends of a connection buffer. */
const LARGE = Buffer.alloc(64 * 1024 ** 2, 'tapedeck ');

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => nowMs, watch: false } });
  await createFileType('SMALL', 'symbol,close\nAAPL,1\n', { weight: 2 });
  await createFileType('LARGE', LARGE);
});
afterAll(() => server.close());

async function createFileType(
  id: string,
  body: string | Uint8Array,
  settings: object = {},
): Promise<void> {
  const { status, text } = await send(server, 'PUT', `/file-types/WS/${id}`, settings);
  assert.equal(status, 200, text);
  await published(id, body);
}

async function published(id: string, body: string | Uint8Array): Promise<void> {
  const url = `${server.base}/v1/file-types/WS/${id}/files?token=${server.secret}`;
  const bytes = body as string | Uint8Array<ArrayBuffer>;
  const answer = await fetch(url, { method: 'POST', body: bytes });
  assert.equal(answer.status, 200, await answer.text());
}

/** The target of a redirect, and its cost. */
async function address(
  id: string,
): Promise<{ readonly url: string; readonly cost: string | null }> {
  const url = `${server.base}/v1/files/download/${id}?token=${server.secret}`;
  const answer = await fetch(url, { redirect: 'manual' });
  assert.equal(answer.status, 302, await answer.text());
  const location = answer.headers.get('location') ?? '';
  assert.match(location, /^\/v1\/files\/once\/dk_[0-9a-f]{64}$/);
  return { url: server.base + location, cost: answer.headers.get('svccloud-messages-used') };
}

async function downloads(id: string): Promise<number> {
  const { text } = await send(server, 'GET', '/files');
  const types = JSON.parse(text) as readonly {
    readonly id: string;
    readonly metadata: { readonly numberOfDownloads: number };
  }[];
  return types.find((type) => type.id === id)?.metadata.numberOfDownloads ?? -1;
}

const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> => {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  return answer.status;
};

/** Reads some bytes and disconnects. */
async function cut(url: string, bytes: number): Promise<number> {
  const request = httpGet(url);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  let got = 0;
  for await (const piece of answer) {
    got += (piece as Buffer).length;
    if (got >= bytes) break;
  }
  request.destroy();
  return got;
}

/** Retries until the server has noticed that the last connection was cut. */
async function resumed(url: string, range: string): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(url, { headers: { range } });
    if (answer.status !== 410 || tries >= 50) return answer;
    await new Promise((done) => setTimeout(done, 20));
  }
}

test('an address works once, and is counted and charged once', async () => {
  const before = await downloads('SMALL');
  const { cost, url } = await address('SMALL');
  assert.equal(cost, '2');
  assert.equal(await downloads('SMALL'), before, 'nothing was downloaded yet');
  const answer = await fetch(url);
  assert.equal(await answer.text(), 'symbol,close\nAAPL,1\n');
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="SMALL.bin"');
  assert.equal(await statusOf(url), 410);
  assert.equal(await statusOf(url, { range: 'bytes=1-' }), 410);
  assert.equal(await downloads('SMALL'), before + 1);
});

test('an address expires after its minute', async () => {
  const { url } = await address('SMALL');
  const late = await address('SMALL');
  nowMs += LINK_LIFE_MS - 1;
  assert.equal(await statusOf(url), 200);
  nowMs += 1;
  assert.equal(await statusOf(late.url), 410);
});

test('HEAD returns the length and does not use the address up', async () => {
  const { url } = await address('SMALL');
  const head = await fetch(url, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get('content-length'), '20');
  assert.equal(await statusOf(url), 200);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 410);
});

test('a guessed, shortened or lengthened address is not valid', async () => {
  const { url } = await address('SMALL');
  const wrong = [url.slice(0, -1), `${url}0`, `${url.slice(0, -64)}${'0'.repeat(64)}`];
  for (const one of [...wrong, url.replace('dk_', ''), `${server.base}/v1/files/once/x`]) {
    assert.equal(await statusOf(one), 410, one);
  }
  assert.equal(await statusOf(url), 200);
});

test('a token in the request must be that of the payer', async () => {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('other', 'scale');
  const { text: other } = await accounts.createToken(accountId, 'secret');
  const { url } = await address('SMALL');
  assert.equal(await statusOf(`${url}?token=${other}`), 404);
  assert.equal(await statusOf(url, { authorization: `Bearer ${other}` }), 404);
  assert.equal(await statusOf(`${url}?token=sk_0000`), 403);
  assert.equal(await statusOf(`${url}?token=${server.secret}`), 200);
});

test('each part is served once, in any order', async () => {
  const { url } = await address('SMALL');
  const part = async (range: string): Promise<string> => {
    const answer = await fetch(url, { headers: { range } });
    return `${answer.status} ${answer.status === 206 ? await answer.text() : ''}`;
  };
  assert.equal(await part('bytes=-7'), '206 AAPL,1\n');
  assert.equal(await part('bytes=0-5'), '206 symbol');
  assert.equal(await part('bytes=5-6'), '410 ');
  assert.equal(await part('bytes=6-12'), '206 ,close\n');
  assert.equal(await part('bytes=0-'), '410 ');
});

test('a range outside the file uses nothing; an invalid range is ignored', async () => {
  const { url } = await address('SMALL');
  const answer = await fetch(url, { headers: { range: 'bytes=20-' } });
  assert.equal(answer.status, 416);
  assert.equal(answer.headers.get('content-range'), 'bytes */20');
  assert.equal(await statusOf(url, { range: 'bytes=4-2' }), 200);
});

test('If-Range of another file requests the whole one', async () => {
  const { url } = await address('SMALL');
  assert.equal(await statusOf(url, { range: 'bytes=1-', 'if-range': '"other"' }), 200);
});

test('an interrupted download continues, and does not begin a second time', async () => {
  const before = await downloads('LARGE');
  const { url } = await address('LARGE');
  const got = await cut(url, 1_000_000);
  const rest = await resumed(url, `bytes=${got}-`);
  assert.equal(rest.status, 206);
  const bytes = Buffer.from(await rest.arrayBuffer());
  assert.ok(bytes.equals(LARGE.subarray(got)));
  assert.equal(await statusOf(url), 410);
  assert.equal(await statusOf(url, { range: 'bytes=0-' }), 410);
  assert.equal(await statusOf(url, { range: `bytes=${got}-` }), 410);
  assert.equal(await downloads('LARGE'), before + 1);
});

test('during a download nobody else gets a byte', async () => {
  const { url } = await address('LARGE');
  const request = httpGet(url);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  assert.equal(await statusOf(url, { range: 'bytes=60000000-' }), 410);
  request.destroy();
});

test('100 concurrent downloads: one succeeds', async () => {
  const before = await downloads('SMALL');
  const { url } = await address('SMALL');
  const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(url)));
  assert.equal(statuses.filter((status) => status === 200).length, 1);
  assert.equal(statuses.filter((status) => status === 410).length, 99);
  assert.equal(await downloads('SMALL'), before + 1);
});

test('a replaced or withdrawn file remains available to its payer', async () => {
  await createFileType('CHANGING', 'first');
  const { url } = await address('CHANGING');
  await published('CHANGING', 'second');
  await server.tapedeck.services.publications.removeExpired();
  assert.equal(await (await fetch(url)).text(), 'first');
  assert.equal(await (await fetch((await address('CHANGING')).url)).text(), 'second');
});

test('the address is neither stored in clear nor logged', async () => {
  const { url } = await address('SMALL');
  const secret = url.slice(-64);
  const rows = await server.tapedeck.services.database
    .selectFrom('download_link')
    .selectAll()
    .execute();
  assert.ok(!JSON.stringify(rows).includes(secret));
});
