// Trades and quotes that are written into CORE are ticks: streams, quotes and rules hear of them.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { send } from '../../client.ts';
import { test } from '../../fixtures.ts';
import { startServer, type TestServer } from '../../server.ts';
import { openStream, until } from './listening.ts';

/** Thursday, 29 February 2024, two in the afternoon in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const at = (seconds: number): string => new Date(NOW_MS + seconds * 1_000).toISOString();

async function ask(
  server: TestServer,
  method: string,
  path: string,
  body: object,
): Promise<unknown> {
  const { status, text } = await send(server, method, path, body);
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

const trade = (symbol: string, seconds: number, price: number): object => ({
  ...{ symbol, tradeId: `${seconds}`, time: at(seconds), price, size: 100 },
});

const priced = (messages: readonly Readonly<Record<string, unknown>>[]): readonly unknown[] =>
  messages.map(({ price, symbol }) => [symbol, price]);

test('what is pushed is told, each trade once, in the order of its times', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  // The first one makes the dataset.
  await ask(server, 'POST', '/record/CORE/TRADES?wait=true', [trade('AAA', -100, 9)]);
  const all = await openStream(server, '/last');
  const one = await openStream(server, '/last?symbols=AAA');
  await until(() => priced(one.messages()).length === 1);
  const push = (records: readonly object[]): Promise<unknown> =>
    ask(server, 'POST', '/record/CORE/TRADES', records);
  // The datasets that are there are followed within a second.
  await until(async () => {
    await push([trade('BBB', -90, 1)]);
    return all.messages().some(({ symbol }) => symbol === 'BBB');
  });
  await push([trade('AAA', -50, 10.5), trade('AAA', -60, 10)]);
  await push([trade('AAA', -40, 11)]);
  await until(() => one.messages().length === 4);
  // Of before: the past is corrected, and nobody hears of it.
  await push([trade('AAA', -70, 7)]);
  await push([trade('AAA', -30, 12)]);
  const told = [10, 10.5, 11, 12].map((price) => ['AAA', price]);
  await until(() => one.messages().length === 5);
  expect(priced(one.messages())).toEqual([['AAA', 9], ...told]);
  const ofAll = priced(all.messages()).filter((message) => (message as string[])[0] === 'AAA');
  expect(ofAll, 'a snapshot, and what is told').toEqual([['AAA', 9], ...told]);
  // Who comes later begins where it stands, and hears nothing twice.
  const late = await openStream(server, '/last?symbols=AAA,CCC');
  await push([trade('CCC', -20, 5)]);
  await until(() => late.messages().length === 2);
  expect(priced(late.messages())).toEqual([
    ['AAA', 12],
    ['CCC', 5],
  ]);
  for (const stream of [all, one, late]) await stream.close();
});

test('quotes move the tops, and the board of another server may feed them', async () => {
  await using origin = await startServer({ seams: { clock: () => NOW_MS } });
  await using server = await startServer({
    settings: { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' },
    seams: { clock: () => NOW_MS },
  });
  const quote = (seconds: number, bidPrice: number): object => ({
    ...{ symbol: 'AAA', time: at(seconds), sequence: seconds + 1_000 },
    ...{ bidPrice, bidSize: 100, askPrice: bidPrice + 1, askSize: 200 },
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
