// The objects of buckets are listed through the API and the command line, of sources and of credentials: page
// by page, with the address rules of pulls.
import assert from 'node:assert/strict';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, test, type TestContext } from 'vitest';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { startHttp } from '../../base/servers/http.ts';
import { startSwift, type Swift } from '../../base/servers/swift.ts';
import { runHere } from '../../cli/commandHere.ts';

const MISSING = 'Swift is not on this machine (Debian: swift-proxy, -account, -container, -object)';
const KEYS = ['daily/a.csv', 'daily/b.csv', 'daily/é +&?.csv', 'old/c.csv', 'readme.txt'];
const BUCKET = 'listed-objects';

interface Page {
  readonly folders: readonly string[];
  readonly objects: readonly { readonly key: string; readonly size: number }[];
  readonly nextPage: string | null;
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' } });
});
const swift = await startSwift();
afterAll(async () => {
  await server.close();
  await swift?.[Symbol.asyncDispose]();
});

/** The answer to a POST below the workspace. */
async function create(
  on: TestServer,
  path: string,
  value: object,
): Promise<Record<string, string>> {
  const { status, text } = await send(on, 'POST', path, value);
  assert.equal(status, 200, text);
  return JSON.parse(text) as Record<string, string>;
}

const list = (id: string, query: Record<string, string> = {}, on = server) =>
  send(on, 'GET', `/bucket-objects/WS/${id}?${new URLSearchParams(query)}`);

async function page(id: string, query: Record<string, string> = {}): Promise<Page> {
  const { status, text } = await list(id, query);
  assert.equal(status, 200, text);
  return JSON.parse(text) as Page;
}

async function refused(id: string, query: Record<string, string>, why: RegExp, on = server) {
  const { status, text } = await list(id, query, on);
  assert.deepEqual([status, why.test(text)], [400, true], text);
}

const KEY = { type: 'AWS-S3', accessKeyId: 'a', secretAccessKey: 's' };

interface World {
  readonly endpoint: string;
  readonly credentialId: string;
  readonly dataSourceId: string;
}

/** A bucket with the objects, a credential that opens it, and a source of it. */
async function startWorld({ accessKeyId, port, secretAccessKey }: Swift): Promise<World> {
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  for (const Key of KEYS) {
    await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: Key }));
  }
  client.destroy();
  const opens = { ...KEY, accessKeyId, secretAccessKey, name: 'store' };
  const { credentialId = '' } = await create(server, '/credentials/WS', opens);
  const place = { type: 'AWS-S3', awsbucketName: BUCKET, endpoint, pattern: 'daily/*.csv' };
  const source = { ...place, name: 'daily', credentialId };
  const { dataSourceId = '' } = await create(server, '/data-sources/WS', source);
  return { endpoint, credentialId, dataSourceId };
}

const keysOf = ({ objects }: Page): readonly string[] => objects.map(({ key }) => key);

/** All pages of two objects. */
async function inPages(id: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let next: string | null = ''; next !== null;) {
    const query: Record<string, string> = { limit: '2', ...(next === '' ? {} : { page: next }) };
    const one = await page(id, query);
    assert.ok(one.objects.length <= 2);
    keys.push(...keysOf(one));
    next = one.nextPage;
  }
  return keys;
}

let world: Promise<World> | undefined;

/** Undefined where the machine has no store. */
async function worldOf(t: TestContext): Promise<World | undefined> {
  if (swift === undefined) return t.skip(MISSING);
  world ??= startWorld(swift);
  return world;
}
test('a bucket of a real store: pages, prefixes and folders', async (t) => {
  const world = await worldOf(t);
  if (world === undefined) return;
  const { credentialId, dataSourceId, endpoint } = world;
  const all = await page(dataSourceId);
  assert.deepEqual([[...keysOf(all)].sort(), all.nextPage], [[...KEYS].sort(), null]);
  assert.equal(all.objects.find(({ key }) => key === 'daily/a.csv')?.size, 11);
  assert.deepEqual(await inPages(dataSourceId), keysOf(all));
  const top = await page(dataSourceId, { folders: 'true' });
  assert.deepEqual([top.folders, keysOf(top)], [['daily/', 'old/'], ['readme.txt']]);
  const named = { bucket: BUCKET, endpoint };
  assert.deepEqual(keysOf(await page(credentialId, { ...named, prefix: 'old/' })), ['old/c.csv']);
});

test('refusals of a store, and invalid requests', async (t) => {
  const world = await worldOf(t);
  if (world === undefined) return;
  const { credentialId, dataSourceId, endpoint } = world;
  const named = { bucket: BUCKET, endpoint };
  await refused(credentialId, { endpoint }, /"bucket\\" is required/);
  await refused(credentialId, { ...named, bucket: 'nonesuch' }, /bucket nonesuch is not there/);
  await refused(dataSourceId, named, /"bucket\\" is that of the data source/);
  const badPage = /bucket listed-objects (?:answered|does not answer)/;
  await refused(dataSourceId, { page: 'no token' }, badPage);
  await refused(dataSourceId, { limit: '1001' }, /"limit\\" must be/);
  const other = await create(server, '/credentials/WS', { ...KEY, ...swift?.stranger });
  await refused(other['credentialId'] ?? '', named, /refused the credential: AccessDenied/);
});

test('the command line lists a source, and a bucket beside a credential', async (t) => {
  const world = await worldOf(t);
  if (world === undefined) return;
  const { dataSourceId, endpoint } = world;
  const env = { TAPEDECK_SERVER: server.base, TAPEDECK_TOKEN: server.secret };
  const result = await runHere(['source', 'objects', 'daily', '--limit', '2', '--json'], { env });
  assert.equal(result.code, 0, result.stderr);
  const lines = result.stdout.trim().split('\n');
  const keys = lines.map((line) => (JSON.parse(line) as { readonly key: string }).key);
  assert.deepEqual(keys, keysOf(await page(dataSourceId)).slice(0, 2));
  assert.match(result.stderr, /^more: --page \S+\n$/);
  const from = ['source', 'objects', `s3://${BUCKET}/old/`];
  const opened = await runHere([...from, '--credential', 'store', '--endpoint', endpoint], { env });
  assert.equal(opened.code, 0, opened.stderr);
  assert.match(opened.stdout, /old\/c\.csv │ +9 /);
  const unopened = await runHere(from, { env });
  assert.match(unopened.stderr, /--credential must name the credential of s3:/);
});

test('a source or credential of another kind, and one that does not exist', async () => {
  const http = { type: 'HTTP', url: 'http://example.com/a.csv' };
  const { dataSourceId = '' } = await create(server, '/data-sources/WS', http);
  await refused(dataSourceId, {}, /the data source is of type HTTP: only one of type AWS-S3/);
  const headers = { type: 'HTTP', headers: { authorization: 'x' } };
  const { credentialId = '' } = await create(server, '/credentials/WS', headers);
  await refused(credentialId, { bucket: 'abc' }, /the credential is of type HTTP/);
  assert.equal((await list('DATA_SOURCE_none')).status, 404);
  assert.equal((await list('CREDENTIAL_none')).status, 404);
});

test('private addresses are refused as those of pulls are, by number and by name', async () => {
  await using closed = await startServer({});
  const { credentialId = '' } = await create(closed, '/credentials/WS', KEY);
  for (const endpoint of ['http://127.0.0.1:9000', 'http://169.254.169.254', 'http://[::1]']) {
    await refused(credentialId, { bucket: 'abc', endpoint }, /not on the public Internet/, closed);
  }
  await refused(
    credentialId,
    { bucket: 'abc', endpoint: 'http://localhost:9000' },
    /localhost/,
    closed,
  );
  await refused(credentialId, { bucket: 'a/../b' }, /no name of a bucket/, closed);
});

test('a store that answers without an end is refused at its bound', async () => {
  await using endless = await startHttp((_, answer) => {
    answer.writeHead(200, { 'content-type': 'application/xml' });
    const piece = Buffer.alloc(256 * 1024, '<!-- -->');
    const more = (): void => {
      while (!answer.destroyed && answer.write(piece));
      if (!answer.destroyed) answer.once('drain', more);
    };
    more();
  });
  const { credentialId = '' } = await create(server, '/credentials/WS', KEY);
  const endpoint = `http://127.0.0.1:${endless.port}`;
  await refused(credentialId, { bucket: 'abc', endpoint }, /over 4194304 bytes/);
});
