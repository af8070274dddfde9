// Records as they are written: of any dataset, by pushes and loads, each once; and those that the original
// streamed under separate names.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { loaded, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

const csvOf = (...lines: readonly string[]): string => ['symbol,date,v', ...lines, ''].join('\n');
const INDEX = { key: 'symbol', date: 'date' };

const push = async (server: TestServer, path: string, value: object): Promise<void> => {
  const { status, text } = await send(server, 'POST', `/record/${path}`, value);
  assert.equal(status, 200, text);
};

test('a dataset sends pushed and loaded records, each once', async ({ server }) => {
  await loaded(server, 'TOLD', csvOf('A,2024-01-01,1', 'B,2024-01-01,2'), INDEX);
  const all = await openStream(server, '/stream/WS/TOLD');
  const one = await openStream(server, '/stream/ws/told?keys=A');
  await push(server, 'WS/TOLD', { symbol: 'A', date: '2024-01-02', v: 3 });
  await until(() => all.messages().length === 1);
  await loaded(server, 'TOLD', csvOf('A,2024-01-03,4', 'B,2024-01-03,5'), {});
  await push(server, 'WS/TOLD?duplicateKeyHandling=replace', {
    symbol: 'A',
    date: '2024-01-02',
    v: 33,
  });
  await until(() => all.messages().length === 4 && one.messages().length === 4);
  expect(all.messages()).toEqual([
    { symbol: 'A', date: '2024-01-02', v: 3 },
    { symbol: 'A', date: '2024-01-03', v: 4 },
    { symbol: 'B', date: '2024-01-03', v: 5 },
    { symbol: 'A', date: '2024-01-02', v: 33 },
  ]);
  // The stored records come first, then the new ones.
  expect(one.messages().map(({ v }) => v)).toEqual([1, 3, 4, 33]);
  await all.close();
  await one.close();
});

test('deletions are sent by their index to clients that request them', async ({ server }) => {
  await loaded(server, 'GONE', csvOf('A,2024-01-01,1', 'A,2024-01-02,2', 'B,2024-01-01,3'), INDEX);
  const deaf = await openStream(server, '/stream/WS/GONE');
  const all = await openStream(server, '/stream/WS/GONE?deletions=true');
  const ofA = await openStream(server, '/stream/WS/GONE?deletions=true&keys=A&nosnapshot=true');
  const erase = async (path: string): Promise<void> => {
    const { status, text } = await send(server, 'DELETE', `/data/WS/GONE${path}`);
    assert.equal(status, 200, text);
  };
  await erase('/A?from=2024-01-01&to=2024-01-01');
  await until(() => all.messages().length === 1 && ofA.messages().length === 1);
  await erase('/B');
  await push(server, 'WS/GONE', { symbol: 'A', date: '2024-01-03', v: 4 });
  await until(() => all.messages().length === 3 && ofA.messages().length === 2);
  const first = { type: 'deleted', symbol: 'A', date: '2024-01-01' };
  const written = { symbol: 'A', date: '2024-01-03', v: 4 };
  expect(all.messages()).toEqual([
    first,
    { type: 'deleted', symbol: 'B', date: '2024-01-01' },
    written,
  ]);
  expect(ofA.messages()).toEqual([first, written]);
  expect(deaf.messages()).toEqual([written]);
  // A replacement is a write, and not a deletion.
  await loaded(server, 'GONE', csvOf('A,2024-01-02,22'), {
    duplicateKeyHandling: 'replace',
  });
  await until(() => all.messages().length === 4);
  expect(all.messages().at(-1)).toEqual({ symbol: 'A', date: '2024-01-02', v: 22 });
  for (const stream of [deaf, all, ofA]) await stream.close();
});

test('deletions of a dataset without an index cannot be sent', async ({ server }) => {
  await loaded(server, 'BARE', 'v\n1\n', {});
  const { status, text } = await openStream(server, '/stream/WS/BARE?deletions=true');
  expect([status, text()]).toEqual([400, expect.stringContaining('deletions')]);
});

test('a load of many records is sent completely, at its price', async ({ server }) => {
  await loaded(server, 'MANY', csvOf('A,2024-01-01,1'), INDEX);
  const headers = { weight: 3 };
  assert.equal(
    (await send(server, 'PATCH', '/datasets/WS/MANY', { dataset: headers })).status,
    200,
  );
  const all = await openStream(server, '/stream/WS/MANY');
  const many = Array.from({ length: 2_000 }, (_, at) => `B${at},2024-01-02,${at}`);
  await loaded(server, 'MANY', csvOf(...many), {});
  await until(() => all.messages().length === 2_000);
  await all.close();
  const usage = JSON.parse((await send(server, 'GET', '/account/usage')).text) as {
    readonly messages: { readonly keyUsage: Readonly<Record<string, number>> };
  };
  expect(usage.messages.keyUsage['WS.MANY']).toBe(6_000);
});

test('news, sentiment, crypto and rates of currencies under their own names', async ({
  server,
}) => {
  const PLACES = [
    [
      'news-stream',
      'NEWS',
      { symbol: 'AAA', id: 'n1', time: '2024-02-01T10:00:00Z', headline: 'h' },
    ],
    ['sentiment', 'SENTIMENT', { symbol: 'AAA', date: '2024-02-01', score: 0.5, sequence: 1 }],
    ['cryptoEvents', 'CRYPTO_EVENTS', { symbol: 'BTCUSD', date: '2024-02-01', reason: 'place' }],
  ] as const;
  for (const [name, dataset, record] of PLACES) {
    const first = { ...record, symbol: 'ZZZ' };
    await push(server, `CORE/${dataset}`, first);
    const stream = await openStream(server, `/${name}`);
    await push(server, `CORE/${dataset}`, record);
    await until(() => stream.messages().length === 1);
    const { symbol } = record;
    expect(stream.messages()[0], name).toMatchObject({ symbol });
    await stream.close();
  }
  await push(server, 'CORE/FX_RATES', { symbol: 'USDCAD', date: '2024-02-01', rate: 1.31 });
  const rates = await openStream(server, '/forex?symbols=USDCAD');
  await until(() => rates.messages().length === 1);
  expect(rates.messages()).toEqual([
    { symbol: 'USDCAD', rate: 1.31, timestamp: Date.parse('2024-02-01'), isDerived: false },
  ]);
  await rates.close();
});

test('records are sent in the format of the original, with times in milliseconds', async ({
  server,
}) => {
  const TIME = '2024-02-01T10:00:00Z';
  const ms = Date.parse(TIME);
  const level = { price: '42000', size: '0.5', timestamp: 1 };
  const [AAA, BTC] = ['AAA', 'BTCUSD'].map((symbol) => ({ symbol }));
  const scores = { date: '2024-02-01', sentiment: 0.5, totalScores: 7 };
  const event = { eventType: 'trade', reason: 'trade', price: 42_000, size: 1, side: 'bid' };
  const quote = { latestPrice: '42000.1', bidPrice: '42000', primaryExchange: 'Kraken' };
  const news = { uuid: 'n1', headline: 'h', lang: 'en' };
  const PLACES = [
    ['news-stream', 'NEWS', { ...AAA, ...news, datetime: TIME }, { ...AAA, ...news, datetime: ms }],
    [
      ...(['sentiment', 'SENTIMENT', { ...AAA, ...scores }] as const),
      { ...AAA, ...scores, score: 0.5, sequence: 7 },
    ],
    [
      ...(['cryptoQuotes', 'CRYPTO_QUOTES', { ...BTC, ...quote, latestUpdate: TIME }] as const),
      {
        ...BTC,
        ...quote,
        latestUpdate: ms,
        sector: 'cryptocurrency',
        calculationPrice: 'realtime',
      },
    ],
    [
      ...(['cryptoBook', 'CRYPTO_BOOKS'] as const),
      { ...BTC, time: TIME, bids: JSON.stringify([level]), asks: '[]' },
      { ...BTC, bids: [level], asks: [] },
    ],
    [
      ...(['cryptoEvents', 'CRYPTO_EVENTS', { ...BTC, ...event, timestamp: TIME }] as const),
      { ...BTC, ...event, timestamp: ms },
    ],
  ] as const;
  for (const [name, dataset, record, expected] of PLACES) {
    await push(server, `CORE/${dataset}`, record);
    const { symbol = '' } = record;
    const stream = await openStream(server, `/${name}?symbols=${symbol}`);
    await until(() => stream.messages().length === 1);
    expect(stream.messages()[0], name).toMatchObject(expected);
    await stream.close();
  }
});

test('no client receives a foreign or missing dataset', async ({ server }) => {
  await loaded(server, 'OWN', csvOf('A,2024-01-01,1'), INDEX);
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('other', 'grow');
  const { text: publishable } = await accounts.createToken(accountId, 'publishable');
  const base = { base: server.base, publishable };
  expect((await openStream(base, '/stream/WS/OWN')).status).toBe(404);
  expect((await openStream(server, '/stream/WS/NONE')).status).toBe(404);
  expect((await openStream(server, '/stream/WS/OWN?symbols=A')).status).toBe(400);
  const silent = await openStream(server, '/news-stream');
  expect(silent.status).toBe(200);
  await silent.close();
});

test('a stream that is opened while records arrive receives all after its first', async ({
  server,
}) => {
  await loaded(server, 'BUSY', csvOf('A,2000-01-01,0'), INDEX);
  let pushed = 0;
  let isOver = false;
  const pushing = (async () => {
    while (!isOver) {
      pushed += 1;
      const date = new Date(Date.UTC(2000, 0, 1 + pushed)).toISOString().slice(0, 10);
      await push(server, 'WS/BUSY', { symbol: 'A', date, v: pushed });
    }
  })();
  const streams = [];
  for (let opened = 0; opened < 40; opened += 1) {
    streams.push(await openStream(server, '/stream/WS/BUSY?keys=A'));
  }
  isOver = true;
  await pushing;
  for (const stream of streams) {
    const readValues = (): readonly number[] => stream.messages().map(({ v }) => Number(v));
    await until(() => readValues().at(-1) === pushed);
    const [first = 0] = readValues();
    expect(readValues()).toEqual(Array.from({ length: pushed - first + 1 }, (_, at) => first + at));
    await stream.close();
  }
});
