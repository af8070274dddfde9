// A recording as a feed: its trades and best offers are stored as recorded, and streams publish them.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStream, until } from '../../api/streams/listening.ts';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data');
const FILE = 'DEEP10.pcap.gz';
const isThere = existsSync(join(DATA, FILE));
const real = describe.skipIf(!isThere && process.env['CI'] !== 'true');

let folder = '';
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-recorded-'));
  if (isThere) await copyFile(join(DATA, FILE), join(folder, FILE));
  await writeFile(join(folder, 'text.pcap'), 'symbol,price\nA,1\n');
  server = await startServer({ settings: { TAPEDECK_SOURCE_FOLDER: folder } });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const { status, text } = await send(server, method, path, body);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

interface FeedView {
  readonly isRunning: boolean;
  readonly records: number;
  readonly rejected: number;
  readonly restarts: number;
  readonly fault: string | null;
  readonly capture?: {
    readonly isOver: boolean;
    readonly breaks: number;
    readonly missing: number;
  };
}

const createSource = async (source: object): Promise<string> =>
  ((await ask('POST', '/data-sources/CORE', source)) as { dataSourceId: string }).dataSourceId;

const feedOf = async (id: string): Promise<FeedView> =>
  ((await ask('GET', `/data-sources/CORE/${id}`)) as { feed: FeedView }).feed;

const counted = async (query: string): Promise<unknown> =>
  ask('GET', `/sql-query/CORE?sqlQuery=${encodeURIComponent(query)}`);

real('a recording', () => {
  test('becomes the same records as its import, as fast as they are stored', async () => {
    const source = { type: 'CAPTURE', path: FILE, speed: 'max' };
    const quotes = await createSource({ ...source, name: 'offers', dataset: 'QUOTES' });
    let feed = await feedOf(quotes);
    await until(async () => (feed = await feedOf(quotes)).records === 2_372);
    await until(async () => (feed = await feedOf(quotes)).capture?.isOver === true);
    expect(feed).toMatchObject({ isRunning: true, rejected: 0, restarts: 0, fault: null });
    expect(feed.capture).toMatchObject({ breaks: 73, missing: 0 });
    const metrics = await fetch(`${server.base}/metrics`, {
      headers: { authorization: `Bearer ${server.tapedeck.services.adminToken}` },
    });
    const faults = 'tapedeck_upstream_faults{workspace="CORE",feed="offers",kind="breaks"} 73';
    expect(await metrics.text()).toContain(faults);
    for (const state of ['PAUSED', 'ACTIVE']) {
      const changed = { ...source, name: 'offers', dataset: 'QUOTES', state };
      await ask('PUT', `/data-sources/CORE/${quotes}`, changed);
    }
    await until(async () => (feed = await feedOf(quotes)).capture?.isOver === true);
    expect(feed).toMatchObject({ records: 0, rejected: 0, fault: null });
    const [row] = (await counted('SELECT count(*) AS n FROM QUOTES')) as readonly object[];
    expect(row).toEqual({ n: 2_372 });
  });

  test('is played at its pace, and streams publish it', async () => {
    const stream = await openStream(server, '/last?nosnapshot=true');
    assert.equal(stream.status, 200);
    const source = { type: 'CAPTURE', path: FILE, speed: 100, dataset: 'TRADES' };
    const trades = await createSource(source);
    await until(() => stream.messages().length > 5);
    const feed = await feedOf(trades);
    expect(feed.capture).toMatchObject({ isOver: false });
    expect(feed.records).toBeLessThan(80_000);
    const [symbol] = stream.messages().map((message) => message['symbol']);
    const [row] = (await counted(
      `SELECT symbol FROM TRADES WHERE symbol = '${String(symbol)}' LIMIT 1`,
    )) as readonly object[];
    expect(row).toEqual({ symbol });
    await stream.close();
    const paused = await send(server, 'PUT', `/data-sources/CORE/${trades}`, {
      ...source,
      state: 'PAUSED',
    });
    expect([paused.status, paused.text]).toEqual([200, expect.anything()]);
  });
});

real('the books of a recording', () => {
  test('are published as they change, and equal the stored ones', async () => {
    const stream = await openStream(server, '/book?symbols=MSFT&nosnapshot=true');
    assert.equal(stream.status, 200);
    const source = { type: 'CAPTURE', path: FILE, speed: 200, dataset: 'BOOK', name: 'books' };
    const books = await createSource(source);
    await until(() => stream.messages().length > 20);
    await ask('PUT', `/data-sources/CORE/${books}`, { ...source, state: 'PAUSED' });
    expect(stream.messages()[0]).toMatchObject({ symbol: 'MSFT', messageType: 'book' });
    const levels = (await counted(
      "SELECT side, price, size FROM BOOK WHERE symbol = 'MSFT' QUALIFY row_number() OVER " +
        '(PARTITION BY side, price ORDER BY time DESC, nanoseconds DESC) = 1',
    )) as readonly { readonly side: string; readonly price: number; readonly size: number }[];
    const stored = levels
      .filter(({ side, size }) => side === 'bid' && size > 0)
      .map(({ price, size }) => ({ price, size }))
      .toSorted((one, other) => other.price - one.price)
      .slice(0, 100);
    const readBids = async (): Promise<readonly object[]> => {
      const all = (await ask('GET', '/deep/book?symbols=MSFT')) as {
        readonly MSFT: { readonly bids: readonly { price: number; size: number }[] };
      };
      return all.MSFT.bids.map(({ price, size }) => ({ price, size }));
    };
    await until(async () => JSON.stringify(await readBids()) === JSON.stringify(stored));
    await stream.close();
  });
});

test('an invalid recording is reported, and retried', async () => {
  const id = await createSource({
    type: 'CAPTURE',
    path: 'text.pcap',
    dataset: 'TRADES',
    name: 'text',
  });
  await until(async () => (await feedOf(id)).fault !== null);
  expect((await feedOf(id)).fault).toBe('text.pcap has no messages');
  const missing = await createSource({ type: 'CAPTURE', path: 'none.pcap', dataset: 'TRADES' });
  await until(async () => (await feedOf(missing)).fault !== null);
  expect((await feedOf(missing)).fault).toBe('none.pcap is not there');
});

test('an invalid feed is refused with the rule', async () => {
  for (const [body, rule] of [
    [{ path: 'x.pcap' }, /dataset is required/],
    [{ path: 'x.pcap', dataset: 'PRICES' }, /dataset is one of TRADES, QUOTES, BOOK/],
    [{ path: '*.pcap', dataset: 'TRADES' }, /no pattern/],
    [{ path: '../x.pcap', dataset: 'TRADES' }, /path/],
    [{ path: 'x.pcap', dataset: 'TRADES', speed: 0 }, /speed/],
    [{ path: 'x.pcap', dataset: 'TRADES', url: 'https://a.example' }, /url is no member/],
  ] as const) {
    const { status, text } = await send(server, 'POST', '/data-sources/CORE', {
      type: 'CAPTURE',
      ...body,
    });
    expect([body, status]).toEqual([body, 400]);
    expect(text).toMatch(rule);
  }
});
