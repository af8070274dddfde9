// Trades and quotes that are written into CORE are ticks: streams, quotes and rules receive them.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

/** Thursday, 29 February 2024, two in the afternoon in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const at = (seconds: number): string => new Date(NOW_MS + seconds * 1_000).toISOString();

async function ask(
  server: TestServer,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const { status, text } = await send(server, method, path, body);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

const trade = (symbol: string, seconds: number, price: number): object => ({
  symbol,
  tradeId: `${seconds}`,
  time: at(seconds),
  price,
  size: 100,
});

const priced = (messages: readonly Readonly<Record<string, unknown>>[]): readonly unknown[] =>
  messages.map(({ price, symbol }) => [symbol, price]);

test('pushed trades are sent, each once, in the order of their times', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  // The first one creates the dataset.
  await ask(server, 'POST', '/record/CORE/TRADES?wait=true', [trade('AAA', -100, 9)]);
  const all = await openStream(server, '/last');
  const one = await openStream(server, '/last?symbols=AAA');
  await until(() => priced(one.messages()).length === 1);
  const push = (records: readonly object[]): Promise<unknown> =>
    ask(server, 'POST', '/record/CORE/TRADES', records);
  // Existing datasets are followed within a second.
  await until(async () => {
    await push([trade('BBB', -90, 1)]);
    return all.messages().some(({ symbol }) => symbol === 'BBB');
  });
  await push([trade('AAA', -50, 10.5), trade('AAA', -60, 10)]);
  await push([trade('AAA', -40, 11)]);
  await until(() => one.messages().length === 4);
  // An earlier trade corrects the past, and is not sent.
  await push([trade('AAA', -70, 7)]);
  await push([trade('AAA', -30, 12)]);
  const expectedTrades = [10, 10.5, 11, 12].map((price) => ['AAA', price]);
  await until(() => one.messages().length === 5);
  expect(priced(one.messages())).toEqual([['AAA', 9], ...expectedTrades]);
  const ofAll = priced(all.messages()).filter((message) => (message as string[])[0] === 'AAA');
  expect(ofAll, 'a snapshot, and the sent trades').toEqual([['AAA', 9], ...expectedTrades]);
  // A later client begins at the current state, and receives nothing twice.
  const late = await openStream(server, '/last?symbols=AAA,CCC');
  await push([trade('CCC', -20, 5)]);
  await until(() => late.messages().length === 2);
  expect(priced(late.messages())).toEqual([
    ['AAA', 12],
    ['CCC', 5],
  ]);
  for (const stream of [all, one, late]) await stream.close();
});

test('quotes change the tops, and the board of another server may feed them', async () => {
  await using origin = await startServer({ seams: { clock: () => NOW_MS } });
  await using server = await startServer({
    settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' },
    seams: { clock: () => NOW_MS },
  });
  const quote = (seconds: number, bidPrice: number): object => ({
    symbol: 'AAA',
    time: at(seconds),
    sequence: seconds + 1e3,
    bidPrice,
    bidSize: 100,
    askPrice: bidPrice + 1,
    askSize: 200,
  });
  for (const one of [origin, server]) {
    await ask(one, 'POST', '/record/CORE/QUOTES?wait=true', [quote(-100, 9)]);
  }
  const url = `${origin.base}/v1/stream/CORE/QUOTES?nosnapshot=true&token=${origin.publishable}`;
  await ask(server, 'POST', '/data-sources/CORE', { type: 'SSE', url, dataset: 'QUOTES' });
  const tops = await openStream(server, '/tops?symbols=AAA');
  await until(() => tops.messages().length === 1);
  await until(() => origin.tapedeck.services.streams.open.state().open === 1);
  let bid = 10;
  await until(async () => {
    await ask(origin, 'POST', '/record/CORE/QUOTES', [quote(bid - 100, bid)]);
    bid += 1;
    return tops.messages().length > 2;
  });
  const bids = tops.messages().map(({ bidPrice }) => Number(bidPrice));
  expect(bids[0]).toBe(9);
  expect(bids).toEqual(bids.toSorted((a, b) => a - b));
  expect(new Set(bids).size).toBe(bids.length);
  await tops.close();
});

interface Top {
  readonly symbol: string;
  readonly volume: number;
  readonly lastSalePrice: number;
  readonly bidPrice: number;
}

const topOf = async (server: TestServer, symbol: string): Promise<Top | undefined> =>
  ((await ask(server, 'GET', `/tops?symbols=${symbol}`)) as readonly Top[])[0];

test('a client that connects before the dataset exists receives its first records', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  const last = await openStream(server, '/last');
  const tops = await openStream(server, '/tops?symbols=AAA');
  await ask(server, 'POST', '/record/CORE/TRADES?wait=true', [trade('AAA', -100, 9)]);
  await ask(server, 'POST', '/record/CORE/TRADES', [trade('AAA', -90, 10)]);
  const offers = { symbol: 'AAA', time: at(-80), sequence: 1, bidPrice: 8, bidSize: 100 };
  await ask(server, 'POST', '/record/CORE/QUOTES?wait=true', [
    { ...offers, askPrice: 12, askSize: 100 },
  ]);
  await ask(server, 'POST', '/record/CORE/TRADES', [trade('AAA', -70, 11)]);
  await until(() => priced(last.messages()).length >= 3);
  expect(priced(last.messages())).toEqual([9, 10, 11].map((price) => ['AAA', price]));
  await until(() => tops.messages().some(({ bidPrice }) => bidPrice === 8));
  for (const stream of [last, tops]) await stream.close();
});

test('a late trade is in the volume of its day, at any delay', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  const first = [trade('AAA', -3_600, 9), trade('BBB', -3_600, 1)];
  await ask(server, 'POST', '/record/CORE/TRADES?wait=true', first);
  expect(await topOf(server, 'AAA')).toMatchObject({ volume: 100, lastSalePrice: 9 });
  const stream = await openStream(server, '/last?symbols=AAA,BBB&nosnapshot=true');
  const push = (records: readonly object[]): Promise<unknown> =>
    ask(server, 'POST', '/record/CORE/TRADES', records);
  await push([trade('AAA', -50, 10)]);
  // Both are read together, in the order of their times, and none is late.
  await until(() => stream.messages().length === 1);
  await push([trade('AAA', -60, 7)]);
  await until(async () => (await topOf(server, 'AAA'))?.volume === 300);
  // Before all known trades of the day, and of the day before.
  await push([trade('AAA', -7_200, 8), trade('AAA', -90_000, 5)]);
  await until(async () => (await topOf(server, 'AAA'))?.volume === 400);
  // The stored trade of the same id is replaced: its size counts once.
  const replaced = { ...trade('AAA', -60, 7), size: 150 };
  await ask(server, 'POST', '/record/CORE/TRADES?duplicateKeyHandling=replace', [replaced]);
  await until(async () => (await topOf(server, 'AAA'))?.volume === 450);
  expect((await topOf(server, 'AAA'))?.lastSalePrice).toBe(10);
  await push([trade('BBB', -10, 2)]);
  await until(() => stream.messages().length >= 2);
  expect(priced(stream.messages()), 'none of them is sent').toEqual([
    ['AAA', 10],
    ['BBB', 2],
  ]);
  await stream.close();
});

test('deleted or purged records are removed from the board', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  const all = [-300, -200, -100].map((seconds) => trade('AAA', seconds, 10 - seconds / 100));
  await ask(server, 'POST', '/record/CORE/TRADES?wait=true', [...all, trade('BBB', -90, 1)]);
  const quote = { sequence: '1', bidPrice: 8, bidSize: 100, askPrice: 12, askSize: 100 };
  await ask(server, 'POST', '/record/CORE/QUOTES?wait=true', [
    { ...quote, symbol: 'AAA', time: at(-80) },
    { ...quote, symbol: 'AAA', time: at(-70), sequence: '2', bidPrice: 9 },
  ]);
  expect(await topOf(server, 'AAA')).toMatchObject({ volume: 300, lastSalePrice: 11, bidPrice: 9 });
  expect(await topOf(server, 'BBB')).toMatchObject({ volume: 100 });
  const stream = await openStream(server, '/last?symbols=AAA');
  await until(() => stream.messages().length === 1);
  const remove = (path: string): Promise<unknown> => ask(server, 'DELETE', `/data/CORE/${path}`);
  await remove('TRADES/AAA/-100');
  await until(async () => (await topOf(server, 'AAA'))?.volume === 200);
  expect((await topOf(server, 'AAA'))?.lastSalePrice).toBe(12);
  await until(() => stream.messages().length === 2);
  expect(priced(stream.messages())).toEqual([11, 12].map((price) => ['AAA', price]));
  await remove('QUOTES/AAA/2');
  await until(async () => (await topOf(server, 'AAA'))?.bidPrice === 8);
  // Pushed, but not in a file yet.
  await ask(server, 'POST', '/record/CORE/TRADES', [trade('AAA', -50, 20)]);
  await until(async () => (await topOf(server, 'AAA'))?.volume === 300);
  await remove('TRADES/AAA/-50');
  await until(async () => (await topOf(server, 'AAA'))?.lastSalePrice === 12);
  await remove('TRADES/AAA/-200?purge=true');
  await until(async () => (await topOf(server, 'AAA'))?.volume === 100);
  expect((await topOf(server, 'AAA'))?.lastSalePrice).toBe(13);
  await remove('TRADES/AAA');
  await until(async () => (await topOf(server, 'AAA'))?.lastSalePrice === 0);
  expect(await topOf(server, 'BBB'), 'others stay').toMatchObject({ volume: 100 });
  await stream.close();
});
