// Stored days, replayed through the same streams: the messages equal the stored records, in their order.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

/** Friday, 1 March 2024, noon in New York. */
const NOW_MS = Date.parse('2024-03-01T17:00:00Z');
const DAY = '2024-02-29';
const TRADES = 400;

let server: TestServer;
const stored: { readonly symbol: string; readonly price: number; readonly time: number }[] = [];
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS } });
  const lines = Array.from({ length: TRADES }, (_, at) => {
    const time = Date.parse(`${DAY}T15:00:00Z`) + at * 500;
    const one = { symbol: at % 3 === 0 ? 'BBB' : 'AAA', price: 100 + (at % 17), time };
    stored.push(one);
    return `${one.symbol},${new Date(time).toISOString()},${at},${one.price},100`;
  });
  await load('TRADES', `symbol,time,tradeId,price,size\n${lines.join('\n')}\n`);
  await load(
    'QUOTES',
    'symbol,time,sequence,bidPrice,bidSize,askPrice,askSize\n' +
      `AAA,${DAY}T15:00:01Z,1,99,100,101,200\n`,
  );
  const days = 'symbol,date,close\nAAA,2024-02-28,90\nAAA,2024-02-29,500\n';
  await load('HISTORICAL_PRICES', days);
});
afterAll(() => server.close());

async function load(dataset: string, csv: string): Promise<void> {
  const url = `${server.base}/v1/data/CORE/${dataset}?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: csv });
  assert.equal(answer.status, 200, await answer.text());
}

interface ReplayView {
  readonly replayId: string;
  readonly state: string;
  readonly told: number;
  readonly atMs: number;
}

async function make(body: object): Promise<ReplayView> {
  const { status, text } = await send(server, 'POST', '/replays', body);
  assert.equal(status, 200, text);
  return JSON.parse(text) as ReplayView;
}

const change = async (id: string, body: object): Promise<ReplayView> =>
  JSON.parse((await send(server, 'PATCH', `/replays/${id}`, body)).text) as ReplayView;

const readReplay = async (id: string): Promise<ReplayView> =>
  JSON.parse((await send(server, 'GET', `/replays/${id}`)).text) as ReplayView;

/** Its last message is sent a moment before it has ended. */
async function ended(id: string): Promise<ReplayView> {
  await until(async () => (await readReplay(id)).state === 'ended');
  return readReplay(id);
}

const remove = (id: string): Promise<unknown> => send(server, 'DELETE', `/replays/${id}`);

test('at maximum speed: every trade, in its order, and quotes as of that time', async () => {
  const replay = await make({ symbols: ['AAA', 'bbb'], from: DAY, speed: 'max', paused: true });
  expect(replay).toMatchObject({ state: 'paused', told: 0 });
  const place = `/replays/${replay.replayId}`;
  const trades = await openStream(server, `${place}/last?symbols=AAA,BBB`);
  const tops = await openStream(server, `${place}/tops?symbols=AAA`);
  const quotes = await openStream(server, `${place}/stocksus1second?symbols=AAA&nosnapshot=true`);
  // Live ticks are sent by other streams.
  server.tapedeck.services.streams.board.apply({
    kind: 'trade',
    symbol: 'AAA',
    price: 1,
    size: 1,
    tradeId: 'now',
    timeMs: NOW_MS,
  });
  await change(replay.replayId, { state: 'playing' });
  await until(() => trades.messages().length === TRADES);
  expect(trades.messages().map(({ price, symbol, time }) => ({ symbol, price, time }))).toEqual(
    stored.map(({ price, symbol, time }) => ({ symbol, price, time })),
  );
  await until(() => tops.messages().some(({ bidPrice }) => bidPrice === 99));
  await until(() => quotes.messages().length > 0);
  // The close of that day did not exist yet.
  expect(quotes.messages()[0]).toMatchObject({ previousClose: 90, isUSMarketOpen: true });
  expect(await ended(replay.replayId)).toMatchObject({ told: TRADES + 1 });
  for (const stream of [trades, tops, quotes]) await stream.close();
  await remove(replay.replayId);
  expect((await send(server, 'GET', place)).status).toBe(404);
});

/** More than a page; three in each millisecond, in the order of their numbers, not of their texts. */
const MANY = 45_000;

test('a day of more trades than one read returns: every one, once, in its order', async () => {
  const day = '2024-02-27';
  const opened = Date.parse(`${day}T15:00:00Z`);
  const timeOf = (at: number): string => new Date(opened + Math.floor(at / 3)).toISOString();
  const lines = Array.from({ length: MANY }, (_, at) => `MANY,${timeOf(at)},${at},${at},1`);
  await load('TRADES', `symbol,time,tradeId,price,size\n${lines.join('\n')}\n`);
  const replay = await make({ symbols: ['MANY', 'AAA'], from: day, speed: 'max', paused: true });
  const trades = await openStream(server, `/replays/${replay.replayId}/last?nosnapshot=true`);
  // New records are not part of the replay.
  await load('TRADES', `symbol,time,tradeId,price,size\nMANY,${timeOf(30)},late,7,1\n`);
  await change(replay.replayId, { state: 'playing' });
  await until(() => trades.text().split('\r\n\r\n').length > MANY);
  expect(trades.messages().map(({ price }) => price)).toEqual([...lines.keys()]);
  await ended(replay.replayId);
  const at = opened + 10_000;
  expect(await change(replay.replayId, { seek: at })).toMatchObject({ told: 30_000, atMs: at });
  expect(await change(replay.replayId, { seek: opened, step: 2 })).toMatchObject({ told: 2 });
  await until(() => trades.text().split('\r\n\r\n').length > MANY + 2);
  expect(trades.messages().slice(-2)).toMatchObject([{ price: 0 }, { price: 1 }]);
  await trades.close();
  await remove(replay.replayId);
});

test('at the speed of the readers: a paused one loses nothing, a stopped one is disconnected', async () => {
  const day = '2024-02-26';
  const opened = Date.parse(`${day}T15:00:00Z`);
  const count = 100_000;
  const lines = Array.from({ length: count }, (_, at) => {
    return `FULL,${new Date(opened + at).toISOString()},${at},${at + 1},1`;
  });
  await load('TRADES', `symbol,time,tradeId,price,size\n${lines.join('\n')}\n`);
  const replay = await make({ symbols: ['FULL'], from: day, speed: 'max', paused: true });
  const place = `/replays/${replay.replayId}/tops?symbols=FULL&nosnapshot=true`;
  const resting = await openStream(server, place);
  const stopped = await openStream(server, place);
  for (const stream of [resting, stopped]) stream.pause();
  await change(replay.replayId, { state: 'playing' });
  const countMessages = async (): Promise<number> => (await readReplay(replay.replayId)).told;
  // The replay does not advance while both are paused: many checks find the same position.
  let [at, looks] = [0, 0];
  await until(async () => {
    const now = await countMessages();
    looks = now === at ? looks + 1 : 0;
    at = now;
    return now === count || (now > 0 && looks === 50);
  });
  expect(at).toBeLessThan(count);
  const { open } = server.tapedeck.services.streams;
  expect(open.state().open).toBe(2);
  resting.resume();
  await until(async () => (await countMessages()) === count, 60_000);
  await until(() => resting.text().split('\r\n\r\n').length > count);
  expect(resting.messages().map(({ lastSalePrice }) => lastSalePrice)).toEqual(
    lines.map((_, at) => at + 1),
  );
  expect(open.state().ended.get('slow')).toBe(1);
  expect(open.state().open).toBe(1);
  stopped.resume();
  await Promise.all([resting.close(), stopped.close()]);
  await remove(replay.replayId);
});

test('at a given speed, paused, from another time, and step by step', async () => {
  const { replayId } = await make({ symbols: ['AAA', 'BBB'], from: DAY, speed: 60 });
  const stream = await openStream(server, `/replays/${replayId}/last?nosnapshot=true`);
  await until(() => stream.messages().length >= 10);
  const paused = await change(replayId, { state: 'paused' });
  const count = stream.messages().length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(Math.abs(stream.messages().length - count)).toBeLessThan(3);
  expect(paused.state).toBe('paused');
  const at = stored[200]?.time ?? 0;
  expect(await change(replayId, { seek: at, step: 1 })).toMatchObject({ told: 202, atMs: at });
  await until(() => stream.messages().at(-1)?.['time'] === at);
  await change(replayId, { step: 2 });
  await until(() => stream.messages().at(-1)?.['time'] === (stored[202]?.time ?? 0));
  await stream.close();
  await remove(replayId);
});

test('refused requests', async () => {
  const refused = async (body: object): Promise<number> =>
    (await send(server, 'POST', '/replays', body)).status;
  expect(await refused({ symbols: [], from: DAY })).toBe(400);
  expect(await refused({ symbols: ['AAA'], from: 'yesterday' })).toBe(400);
  expect(await refused({ symbols: ['AAA'], from: DAY, to: '2024-02-28' })).toBe(400);
  expect(await refused({ symbols: ['AAA'], from: DAY, speed: 0 })).toBe(400);
  expect(await refused({ symbols: ['AAA'], from: DAY, speed: 1e9 })).toBe(400);
  expect(await refused({ symbols: ['AAA'], from: '2020-01-02' })).toBe(404);
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    ids.push((await make({ symbols: ['AAA'], from: DAY, paused: true })).replayId);
  }
  expect(await refused({ symbols: ['AAA'], from: DAY })).toBe(503);
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('other', 'scale');
  const { text: token } = await accounts.createToken(accountId, 'publishable');
  const other = await fetch(`${server.base}/v1/replays/${ids[0]}/last?token=${token}`);
  expect(other.status).toBe(404);
  for (const id of ids) await remove(id);
  expect(JSON.parse((await send(server, 'GET', '/replays')).text)).toEqual([]);
});

test('a live stream that begins with the messages since a time', async () => {
  const since = stored[TRADES - 5]?.time ?? 0;
  const path = `/last?symbols=AAA,BBB&snapshotAsOf=${since}`;
  const stream = await openStream(server, path);
  await until(() => stream.messages().length === 5);
  expect(stream.messages().map(({ time }) => time)).toEqual(
    stored.slice(-5).map(({ time }) => time),
  );
  await stream.close();
  expect((await openStream(server, '/last?snapshotAsOf=1')).status).toBe(400);
  expect((await openStream(server, '/last?symbols=AAA&snapshotAsOf=soon')).status).toBe(400);
});
