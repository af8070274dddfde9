// Every name of a stream, in every case, and the bytes of tops and of every channel of deep
// (INTERFACE.md 2.2, 2.3).
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startServer } from '../../base/server.ts';
import { deepTicks } from './deepTicks.ts';
import { openStream, until } from './listening.ts';

const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const NAMES = [
  'stocksUS',
  'stocksUS1Second',
  'stocksUS5Second',
  'stocksUS1Minute',
  'stocksUSNoUTP',
  'stocksUSNoUTP1Second',
  'stocksUSNoUTP5Second',
  'stocksUSNoUTP1Minute',
  'stocksOTC',
  'cryptoQuotes',
  'cryptoBook',
  'cryptoEvents',
  'forex1Second',
  'forex5Second',
  'forex1Minute',
  'sentiment',
  'news-stream',
  'tops',
  'last',
  'deep',
];

const server = await startServer({ seams: { clock: () => NOW_MS } });
afterAll(() => server.close());

describe.each(NAMES)('%s', (name) => {
  test.each([name, name.toLowerCase(), name.toUpperCase()])('as %s', async (spelled) => {
    const stream = await openStream(server, `/${spelled}?symbols=AAA`);
    await stream.close();
    expect([stream.status, stream.headers['content-type']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
  });
});

const TRADE =
  '{"price":10,"size":100,"tradeId":7,"isISO":false,"isOddLot":false,"isOutsideRegularHours":false,' +
  '"isSinglePriceCross":false,"isTradeThroughExempt":false,"timestamp":1709233200000}';
const BOOK =
  '{"bids":[{"price":9.99,"size":300,"timestamp":1709233200000}],' +
  '"asks":[{"price":10.01,"size":200,"timestamp":1709233200000}]}';

/** Channel, the type of its messages, their data; `book` sends both sides at each change of one. */
const CHANNELS: readonly (readonly [channel: string, type: string, ...data: readonly string[]])[] =
  [
    ['trading-status', 'tradingstatus', '{"status":"T","reason":"","timestamp":1}'],
    ['tradingstatus', 'tradingstatus', '{"status":"T","reason":"","timestamp":1}'],
    ['auction', 'auction', '{"auctionType":"Open"}'],
    ['op-halt-status', 'ophaltstatus', '{"isHalted":false,"timestamp":1}'],
    ['ssr-status', 'ssr', '{"isSSR":true,"detail":"N","timestamp":1}'],
    ['security-event', 'securityevent', '{"securityEvent":"MarketOpen","timestamp":1}'],
    ['official-price', 'officialprice', '{"priceType":"Open","price":10,"timestamp":1}'],
    ['system-event', 'systemevent', '{"systemEvent":"R","timestamp":1}'],
    ['trades', 'trades', TRADE],
    ['trade-breaks', 'tradebreak', TRADE],
    ['book', 'book', BOOK, BOOK],
  ];

/** Messages are numbered by symbol, independent of the clients. */
const framed = (text: string): string => text.replaceAll(/"seq":\d+/g, '"seq":0');

const apply = (): void => {
  for (const tick of deepTicks(NOW_MS)) server.tapedeck.services.streams.board.apply(tick);
};
// Both sides of the book are set: each change sends the same.
beforeEach(apply);

test.each(CHANNELS)('channel %s', async (channel, type, ...data) => {
  const stream = await openStream(server, `/deep?symbols=aaa&channels=${channel}&nosnapshot=true`);
  apply();
  await until(() => stream.messages().length >= data.length);
  await stream.close();
  const frames = data.map((one) => {
    return `data: [{"symbol":"AAA","messageType":"${type}","data":${one},"seq":0}]\r\n\r\n`;
  });
  expect(framed(stream.text())).toBe(frames.join(''));
});

test('deep begins with the latest message of each requested channel', async () => {
  const stream = await openStream(server, '/deep?symbols=AAA&channels=book,ssr-status,auction');
  const all = await openStream(server, '/deep?symbols=AAA');
  await until(() => stream.messages().length >= 3 && all.messages().length >= 9);
  await stream.close();
  await all.close();
  const types = stream.messages().map(({ messageType }) => messageType);
  expect(types).toEqual(['ssr', 'auction', 'book']);
  expect(stream.messages()[2]).toMatchObject({ symbol: 'AAA', data: JSON.parse(BOOK) });
  expect(all.messages().map(({ messageType }) => messageType)).toEqual([
    'tradingstatus',
    'ophaltstatus',
    'ssr',
    'securityevent',
    'officialprice',
    'auction',
    'systemevent',
    'book',
    'tradebreak',
  ]);
});

test('without levels the book of deep is the best bid and ask', async () => {
  const { board } = server.tapedeck.services.streams;
  const offer = { kind: 'quote', symbol: 'OFF', bidPrice: 9, bidSize: 1, askSize: 2 } as const;
  board.apply({ ...offer, timeMs: NOW_MS, askPrice: 11 });
  const stream = await openStream(server, '/book?symbols=OFF');
  await until(() => stream.messages().length === 1);
  board.apply({ ...offer, timeMs: NOW_MS + 1, askPrice: 12 });
  await until(() => stream.messages().length === 2);
  await stream.close();
  const [first, second] = [11, 12].map((price, at) => ({
    bids: [{ price: 9, size: 1, timestamp: NOW_MS + at }],
    asks: [{ price, size: 2, timestamp: NOW_MS + at }],
  }));
  expect(stream.messages().map(({ data }) => data)).toEqual([first, second]);
});

test('tops', async () => {
  const stream = await openStream(server, '/tops?symbols=AAA');
  await until(() => stream.messages().length === 1);
  await stream.close();
  expect(framed(stream.text())).toBe(
    'data: [{"symbol":"AAA","sector":"","securityType":"","bidPrice":9.99,"bidSize":300,"askPrice":10.01,' +
      '"askSize":200,"lastUpdated":1709233200000,"lastSalePrice":0,"lastSaleSize":0,"lastSaleTime":0,' +
      '"volume":0,"seq":0}]\r\n\r\n',
  );
});
