// The bytes of a stream, as the clients of the original parse them (INTERFACE.md 2.1).
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StreamConnection } from '../../../api/sse/connection.ts';
import { CountingMeter } from '../../../api/sse/meter.ts';
import { Hub } from '../../../store/bus/hub.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

/** Thursday, 29 February 2024, two in the afternoon in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS } });
  const load = async (dataset: string, csv: string): Promise<void> => {
    const url = `${server.base}/v1/data/CORE/${dataset}?wait=true&token=${server.secret}`;
    const answer = await fetch(url, { method: 'POST', body: csv });
    assert.equal(answer.status, 200, await answer.text());
  };
  await load(
    'HISTORICAL_PRICES',
    'symbol,date,open,high,low,close,volume\nAAA,2024-02-28,10,12,10,11,200\nBBB,2024-02-28,1,2,1,2,20\n',
  );
});
afterAll(() => server.close());

const trade = (symbol: string, price: number, at: number): void =>
  server.tapedeck.services.streams.board.apply({
    kind: 'trade',
    symbol,
    price,
    size: 100,
    tradeId: String(at),
    timeMs: NOW_MS - 6e4 + at,
  });

test('each message is data, an array of one object, and a blank line', async () => {
  trade('AAA', 11.5, 1);
  const stream = await openStream(server, '/last?symbols=aaa');
  trade('AAA', 11.75, 2);
  trade('BBB', 2, 3);
  trade('AAA', 12, 4);
  await until(() => stream.messages().length === 3);
  await stream.close();
  const time = NOW_MS - 60_000;
  expect(stream.text()).toBe(
    [
      { symbol: 'AAA', price: 11.5, size: 100, time: time + 1, seq: 1 },
      { symbol: 'AAA', price: 11.75, size: 100, time: time + 2, seq: 2 },
      { symbol: 'AAA', price: 12, size: 100, time: time + 4, seq: 4 },
    ]
      .map((message) => `data: [${JSON.stringify(message)}]\r\n\r\n`)
      .join(''),
  );
});

test('quotes equal those of REST', async () => {
  const stream = await openStream(server, '/stocksus?symbols=AAA,BBB');
  trade('AAA', 13, 5);
  await until(() => stream.messages().length === 3);
  await stream.close();
  for (const message of stream.messages()) {
    const symbol = String(message['symbol']);
    const url = `${server.base}/v1/stock/${symbol}/quote?token=${server.publishable}`;
    const quote = (await (await fetch(url)).json()) as object;
    expect(Object.keys(message), 'in the order of REST').toEqual(Object.keys(quote));
  }
  const quote = { symbol: 'AAA', latestPrice: 13, high: 13, low: 11.5, volume: 400, change: 2 };
  expect(stream.messages().at(-1)).toMatchObject({ ...quote, previousClose: 11, open: 11.5 });
});

test('a streams-only port serves no REST requests', async () => {
  const settings = { TAPEDECK_STREAM_PORT: '0' };
  await using own = await startServer({ settings, seams: { clock: () => NOW_MS } });
  const { streaming = '' } = own.tapedeck;
  const base = { base: streaming, publishable: own.publishable };
  const stream = await openStream(base, '/last?symbols=AAA', { accept: '*/*' });
  expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  const { board } = own.tapedeck.services.streams;
  board.apply({ kind: 'trade', symbol: 'AAA', price: 1, size: 1, tradeId: '1', timeMs: NOW_MS });
  await until(() => stream.messages().length === 1);
  await stream.close();
  expect((await fetch(`${streaming}/v1/status`)).status).toBe(404);
});

test('a slow reader receives the latest message when it reads again, not an earlier one', async () => {
  const hub = new Hub(Date.now);
  const written: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (bytes: Buffer) => written.push(bytes.toString()),
    end: () => undefined,
  });
  const connection = new StreamConnection({
    socket: socket as unknown as Socket,
    isChunked: false,
    hub,
    meter: new CountingMeter(),
    subscription: {
      topics: ['rates'],
      symbols: ['A'],
      intervalMs: 1,
      ids: false,
    },
    newest: () => ['{"rate":1}'],
    gathering: undefined,
    events: false,
    heartbeatMs: 0,
    isAllowed: () => true,
    nowMs: 0,
    onEnd: () => undefined,
  });
  connection.sendNewest(['A']);
  socket.writableLength = 2 * 1024 ** 2;
  hub.publish('rates', 'A', () => '{"rate":2}');
  await until(() => hub.state().waiting === 0);
  socket.writableLength = 0;
  socket.emit('drain');
  expect(written).toEqual(['data: [{"rate":1}]\r\n\r\n', 'data: [{"rate":2}]\r\n\r\n']);
  hub.close();
});
