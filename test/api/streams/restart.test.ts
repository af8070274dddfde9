// A restarted server has the same state of every symbol as before, and counts no tick twice.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

/** Thursday, 29 February 2024, two in the afternoon in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const DAY_MS = 86_400_000;
const instant = (ms: number): string => new Date(NOW_MS + ms).toISOString();

const trade = (symbol: string, ms: number, price: number, size = 10): object => ({
  symbol,
  tradeId: `${symbol}${ms}`,
  time: instant(ms),
  price,
  size,
});
const quote = (symbol: string, ms: number, bidPrice: number): object => ({
  symbol,
  time: instant(ms),
  sequence: NOW_MS + ms,
  bidPrice,
  bidSize: 100,
  askPrice: bidPrice + 1,
  askSize: 200,
});

async function push(server: TestServer, input: string, records: readonly object[]): Promise<void> {
  const answer = await send(server, 'POST', `/record/CORE/${input}?wait=true`, records);
  expect(answer.status, answer.text).toBe(200);
}

type Row = Readonly<Record<string, unknown>>;

async function readRows(server: TestServer, path: string): Promise<readonly Row[]> {
  const { status, text } = await send(server, 'GET', path);
  expect(status, text).toBe(200);
  const rows = JSON.parse(text) as readonly Row[];
  return rows
    .map((row): Row => ({ ...row, seq: undefined }))
    .toSorted((one, other) => (String(one['symbol']) < String(other['symbol']) ? -1 : 1));
}

async function temporary(): Promise<AsyncDisposable & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-restart-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { folder, [Symbol.asyncDispose]: remove };
}

const started = (folder: string): Promise<TestServer> =>
  startServer({ folder, seams: { clock: () => NOW_MS } });

/** More trades of a symbol than one read returns, the day before, and a symbol without a trade. */
async function fill(server: TestServer): Promise<void> {
  await push(server, 'TRADES', [trade('AAA', -DAY_MS, 5), trade('OLD', -DAY_MS, 50)]);
  await push(server, 'QUOTES', [quote('NEW', -9_000, 3)]);
  await readRows(server, '/tops');
  const many = Array.from({ length: 2_500 }, (_, at) => trade('AAA', at - 5_000, 10 + (at % 97)));
  await push(server, 'TRADES', many);
  await push(server, 'TRADES', [trade('BBB', -100, 7), trade('BBB', -90, 8, 33)]);
  await push(server, 'QUOTES', [quote('AAA', -7_000, 11), quote('AAA', -2_000, 12)]);
}

test('tops and last are the same before and after a restart', async () => {
  await using disposed = await temporary();
  const { folder } = disposed;
  const named = 'symbols=AAA,BBB,OLD,NEW';
  const states = async (
    server: TestServer,
    query: string,
  ): Promise<readonly (readonly Row[])[]> => [
    await readRows(server, `/tops${query}`),
    await readRows(server, `/last${query}`),
  ];
  let before: readonly (readonly Row[])[] = [];
  {
    await using server = await started(folder);
    await fill(server);
    await until(async () =>
      JSON.stringify(await readRows(server, '/tops')).includes('"bidPrice":12'),
    );
    await until(async () => JSON.stringify(await readRows(server, '/last')).includes('"price":8'));
    // Messages of one push are applied symbol by symbol.
    await until(async () => (await readRows(server, `/tops?${named}`)).length === 4);
    before = await states(server, `?${named}`);
    expect(before[0]).toHaveLength(4);
    expect(before[0]?.[0]).toMatchObject({ symbol: 'AAA', bidPrice: 12, volume: 25_000 });
    expect(await states(server, '')).toEqual(before);
  }
  {
    await using again = await started(folder);
    expect(await states(again, ''), 'all').toEqual(before);
  }
  await using other = await started(folder);
  expect(await states(other, `?${named}`), 'by name').toEqual(before);
});

test('a trade that arrives before the first request is added to its day, and sent once', async () => {
  await using disposed = await temporary();
  const { folder } = disposed;
  {
    await using server = await started(folder);
    await fill(server);
  }
  await using server = await started(folder);
  const others = await openStream(server, '/last?symbols=ZZZ');
  const all = await openStream(server, '/last?nosnapshot=true');
  await push(server, 'TRADES', [trade('AAA', -10, 20, 5)]);
  await push(server, 'TRADES', [trade('ZZZ', -9, 1)]);
  await until(() => others.messages().length === 1);
  const [top] = await readRows(server, '/tops?symbols=AAA');
  expect(top).toMatchObject({ volume: 25_005, lastSalePrice: 20, bidPrice: 12 });
  const heard = all.messages().map(({ symbol, price }) => [symbol, price]);
  expect(heard).toEqual([
    ['AAA', 20],
    ['ZZZ', 1],
  ]);
  for (const stream of [others, all]) await stream.close();
});
