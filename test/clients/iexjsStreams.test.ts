// The official JavaScript client, unmodified, with its own EventSource: streams below the base of REST.
// Its `topsSSE` and `lastSSE` always send `token=undefined`, so they are not tested here.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deepTicks } from '../api/streams/deepTicks.ts';
import { until } from '../api/streams/listening.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { iexjs } from './iexjs.ts';

interface Source {
  readonly close: () => void;
  onerror: unknown;
}
type Listen = (...parts: readonly unknown[]) => Source;

const NOW_MS = Date.parse('2024-02-29T19:00:00Z');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS } });
  iexjs.overrideUrl({ url: `${server.base}/v1/` });
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await server.close();
});

const OF = { symbol: 'AAA', timeMs: NOW_MS } as const;

const CHANNELS: readonly (readonly [
  method: string,
  parts: readonly unknown[],
  types: readonly string[],
])[] = [
  ['bookSSE', [], ['book', 'book']],
  ['tradesSSE', [], ['trades']],
  ['tradeBreaksSSE', [], ['tradebreak']],
  ['tradingStatusSSE', [], ['tradingstatus']],
  ['opHaltStatusSSE', [], ['ophaltstatus']],
  ['ssrStatusSSE', [], ['ssr']],
  ['securityEventSSE', [], ['securityevent']],
  ['officialPriceSSE', [], ['officialprice']],
  ['auctionSSE', [], ['auction']],
  ['systemEventSSE', [], ['systemevent']],
  ['deepSSE', [['trades', 'auction']], ['trades', 'auction']],
];

for (const [method, parts, types] of CHANNELS) {
  // A separate symbol for each test: a stream begins with the latest message of its symbol.
  const symbol = method.toUpperCase();
  test(`${method} receives its channel`, async () => {
    const client = new iexjs.Client({ api_token: server.publishable, version: 'v1' });
    const listen = Reflect.get(client, method) as Listen | undefined;
    assert.ok(listen !== undefined);
    const got: { readonly symbol: string; readonly messageType: string; readonly data: object }[] =
      [];
    const { streams } = server.tapedeck.services;
    const open = streams.open.state().open;
    const heard = ([message]: typeof got): unknown => message !== undefined && got.push(message);
    const source = listen.call(client, symbol, ...parts, heard, {});
    try {
      await until(() => streams.open.state().open === open + 1);
      for (const tick of deepTicks(NOW_MS)) streams.board.apply({ ...tick, symbol });
      await until(() => got.length === types.length);
      expect(got.map(({ messageType }) => messageType)).toEqual(types);
      expect(got.every((one) => one.symbol === symbol)).toBe(true);
    } finally {
      source.close();
    }
    await until(() => streams.open.state().open === open);
  });
}

test('quotes', async () => {
  const load = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const body = 'symbol,date,close\nAAA,2024-02-28,10\n';
  assert.equal((await fetch(load, { method: 'POST', body })).status, 200);
  const client = new iexjs.Client({ api_token: server.publishable, version: 'v1' });
  const prices: unknown[] = [];
  const listen = Reflect.get(client, 'stocksUS1SecondSSE') as Listen;
  const heard = ([quote]: readonly { readonly latestPrice: number }[]): unknown =>
    prices.push(quote?.latestPrice);
  const source = listen.call(client, 'AAA', heard, {});
  try {
    await until(() => prices.length === 1);
    const { board } = server.tapedeck.services.streams;
    board.apply({ ...OF, kind: 'trade', price: 11, size: 100, tradeId: '8' });
    board.apply({ ...OF, kind: 'trade', price: 12, size: 100, tradeId: '9' });
    await until(() => prices.length === 2);
    expect(prices, 'the last of a second').toEqual([10, 12]);
  } finally {
    source.close();
  }
});
