// Streams that are opened before their dataset exists, or after it was deleted, send its first records: no
// client has to reconnect after a load.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until as untilTrue } from './listening.ts';

const until = (isTrue: () => boolean): Promise<void> => untilTrue(isTrue, 15_000);

const write = async (server: TestServer, path: string, value: object): Promise<void> => {
  const { status, text } = await send(server, 'POST', `/record/CORE/${path}`, value);
  assert.equal(status, 200, text);
};

const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const EVENT = { symbol: 'BTCUSD', date: '2024-02-01', reason: 'place' };
const NEWS = { symbol: 'AAA', uuid: 'n1', datetime: '2024-02-01T10:00:00Z', headline: 'h' };

/** Name, dataset, two records of one symbol. */
const STREAMS = [
  ['news-stream', 'NEWS', NEWS, { ...NEWS, uuid: 'n2' }],
  ['cryptoEvents', 'CRYPTO_EVENTS', EVENT, { ...EVENT, date: '2024-02-02' }],
  [
    'sentiment',
    'SENTIMENT',
    { symbol: 'AAA', date: '2024-02-01', sentiment: 0.5 },
    { symbol: 'AAA', date: '2024-02-02', sentiment: 0.25 },
  ],
  [
    'forex',
    'FX_RATES',
    { symbol: 'USDCAD', date: '2024-02-01', rate: 1.31 },
    { symbol: 'USDCAD', date: '2024-02-02', rate: 1.32 },
  ],
] as const;

test.each(STREAMS)('%s sends the first records of %s, each once', async (...row) => {
  const [name, dataset, first, second] = row;
  await using server = await startServer({});
  const all = await openStream(server, `/${name}`);
  const one = await openStream(server, `/${name}?symbols=${first.symbol}&nosnapshot=true`);
  const other = await openStream(server, `/${name}?symbols=ZZZ`);
  await write(server, dataset, first);
  // Another reader is connected before the waiting streams are checked.
  const late = await openStream(server, `/${name}`);
  await write(server, dataset, second);
  await until(() => all.messages().length >= 2 && one.messages().length >= 2);
  await until(() => late.messages().length >= 1);
  expect(all.messages()).toHaveLength(2);
  expect(one.messages()).toEqual(all.messages());
  expect(late.messages()).toEqual(all.messages().slice(1));
  expect(other.messages()).toEqual([]);
  for (const stream of [all, one, other, late]) await stream.close();
  const usage = await send(server, 'GET', '/account/usage/messages');
  const { keyUsage } = JSON.parse(usage.text) as { readonly keyUsage: Record<string, number> };
  expect(Number(keyUsage[name.toUpperCase()]), usage.text).toBe(5);
});

test('a dataset that is deleted and created again continues in the same stream', async () => {
  await using server = await startServer({});
  await write(server, 'CRYPTO_EVENTS', EVENT);
  const stream = await openStream(server, '/cryptoEvents');
  const everyMinute = await openStream(server, '/forex1Minute?symbols=USDCAD');
  for (const reason of ['trade', 'cancel']) {
    const { status } = await send(server, 'DELETE', '/datasets/CORE/CRYPTO_EVENTS');
    assert.equal(status, 200);
    await write(server, 'CRYPTO_EVENTS', { ...EVENT, reason });
    await until(() => stream.messages().at(-1)?.['reason'] === reason);
  }
  expect(stream.messages().map(({ reason }) => reason)).toEqual(['trade', 'cancel']);
  // A stream with an interval sends the latest record of a symbol.
  const { status } = await send(server, 'POST', '/record/CORE/FX_RATES', [
    { symbol: 'USDCAD', date: '2024-02-01', rate: 1.31 },
    { symbol: 'USDCAD', date: '2024-02-02', rate: 1.32 },
  ]);
  assert.equal(status, 200);
  await until(() => everyMinute.messages().length > 0);
  expect(everyMinute.messages().map(({ rate }) => rate)).toEqual([1.32]);
  await stream.close();
  await everyMinute.close();
});

test('other accounts receive datasets that are shared with them, and are cut off from others', async () => {
  await using server = await startServer({});
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('guest', 'scale');
  const publishable = (await accounts.createToken(accountId, 'publishable')).text;
  const guest = { base: server.base, publishable };
  const last = await openStream(guest, '/last?symbols=AAA');
  const news = await openStream(guest, '/news-stream?events=true');
  const trade = { symbol: 'AAA', tradeId: '1', price: 10, size: 100 };
  await write(server, 'TRADES', { ...trade, time: new Date().toISOString() });
  const owner = await openStream(server, '/last?symbols=AAA');
  await until(() => owner.messages().length > 0);
  await until(() => last.messages().length > 0 || owner.messages().length > 0);
  const next = { ...trade, tradeId: '2', price: 11, time: new Date().toISOString() };
  await write(server, 'TRADES', next);
  await until(() => last.messages().some(({ price }) => price === 11));
  const dataset = {
    datasetId: 'NEWS',
    schema: {
      type: 'object',
      required: ['symbol', 'uuid', 'datetime'],
      properties: {
        symbol: { type: 'string' },
        uuid: { type: 'string' },
        datetime: {
          type: 'string',
          format: 'date-time',
        },
      },
    },
    access: { level: 'restricted' },
  };
  const { status, text } = await send(server, 'POST', '/datasets/CORE', { dataset });
  assert.equal(status, 200, text);
  await until(() => news.isEnded());
  expect(news.text()).toContain('"permission"');
  for (const stream of [last, owner]) await stream.close();
});

test('quotes include days that are loaded after the stream was opened', async () => {
  await using server = await startServer({ seams: { clock: () => NOW_MS } });
  const stream = await openStream(server, '/stocksUS?symbols=AAA');
  const trade = { symbol: 'AAA', size: 100, price: 11, tradeId: '1' };
  await write(server, 'TRADES', { ...trade, time: '2024-02-29T18:00:00Z' });
  await until(() => stream.messages().length > 0);
  await write(server, 'HISTORICAL_PRICES', {
    symbol: 'AAA',
    date: '2024-02-28',
    open: 9,
    high: 9,
    low: 9,
    close: 9,
    volume: 1,
  });
  await write(server, 'TRADES', { ...trade, tradeId: '2', time: '2024-02-29T18:00:01Z' });
  await until(() => stream.messages().at(-1)?.['previousClose'] === 9);
  await stream.close();
});
