// Feeds of other servers: another Tapedeck's streams, and a WebSocket; each message becomes records as it
// arrives.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { openStream, until } from '../api/streams/listening.ts';
import { loaded, send } from '../base/client.ts';
import { test } from '../base/fixtures.ts';
import { startServer, type TestServer } from '../base/server.ts';

const SETTINGS = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
const INDEX = { key: 'symbol', date: 'date' };
const CSV = 'symbol,date,v\nA,2024-01-01,1\n';

interface FeedView {
  readonly feed?: {
    readonly isRunning: boolean;
    readonly records: number;
    readonly rejected: number;
    readonly rejectReason: string | null;
    readonly restarts: number;
    readonly fault: string | null;
  };
}

async function ask<T>(server: TestServer, method: string, path: string, body?: object): Promise<T> {
  const { status, text } = await send(server, method, path, body);
  assert.equal(status, 200, text);
  return JSON.parse(text) as T;
}

const createSource = async (server: TestServer, source: object): Promise<string> =>
  (await ask<{ dataSourceId: string }>(server, 'POST', '/data-sources/WS', source)).dataSourceId;

const feedOf = async (server: TestServer, id: string): Promise<FeedView['feed']> =>
  (await ask<FeedView>(server, 'GET', `/data-sources/WS/${id}`)).feed;

const recordsOf = (server: TestServer, query = ''): Promise<readonly object[]> =>
  ask(server, 'GET', `/data/WS/FED?from=2000-01-01&limit=10000&sort=asc${query}`);

interface Way extends AsyncDisposable {
  readonly base: string;
  /** Breaks all connections. */
  cut(): void;
}

/** A proxy to a server whose connections can be cut. */
async function wayTo(base: string): Promise<Way> {
  const { hostname, port: target } = new URL(base);
  const sockets = new Set<Socket>();
  const door = createServer((socket) => {
    const onward = connect(Number(target), hostname);
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on('error', () => undefined).on('close', () => void sockets.delete(one));
    }
    socket.pipe(onward).pipe(socket);
    socket.on('close', () => onward.destroy());
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const cut = (): void => sockets.forEach((socket) => void socket.destroy());
  return {
    base: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      door.close();
      await once(door, 'close');
    },
  };
}

test('a stream of another server becomes a local dataset, and resumes after a break', async ({
  server: origin,
}) => {
  await using server = await startServer({ settings: SETTINGS });
  await loaded(origin, 'P', CSV, INDEX);
  await loaded(server, 'FED', 'symbol,date,value,venue\nZ,2023-01-01,9,none\n', INDEX);
  await using way = await wayTo(origin.base);
  const url = `${way.base}/v1/stream/WS/P?ids=true`;
  const headers = { authorization: `Bearer ${origin.publishable}` };
  const reading = { columns: { v: 'value' }, constants: { venue: 'theirs' } };
  const id = await createSource(server, { type: 'SSE', url, headers, dataset: 'FED', ...reading });
  await until(() => origin.tapedeck.services.streams.open.state().open === 1);
  const push = (v: number): Promise<unknown> =>
    ask(origin, 'POST', '/record/WS/P', { symbol: 'A', date: `2024-02-0${v}`, v });
  const listener = await openStream(server, '/stream/WS/FED');
  await push(1);
  await push(2);
  await until(() => listener.messages().length === 2);
  expect(listener.messages()).toEqual([
    { symbol: 'A', date: '2024-02-01', value: 1, venue: 'theirs' },
    { symbol: 'A', date: '2024-02-02', value: 2, venue: 'theirs' },
  ]);
  expect(await feedOf(server, id)).toMatchObject({ isRunning: true, records: 2, fault: null });
  // After the cut it resumes after the last message that it stored.
  way.cut();
  await push(3);
  await push(4);
  await until(async () => (await recordsOf(server)).length === 5);
  const values = (await recordsOf(server)) as readonly { value: number }[];
  expect(values.map(({ value }) => value)).toEqual([9, 1, 2, 3, 4]);
  assert.ok(((await feedOf(server, id))?.restarts ?? 0) > 0);
  await ask(server, 'DELETE', `/data-sources/WS/${id}`);
  await until(() => origin.tapedeck.services.streams.open.state().open === 0);
  await listener.close();
});

test('a restarted server follows its feeds; paused ones wait', async ({ server: origin }) => {
  await loaded(origin, 'P', CSV, INDEX);
  const url = `${origin.base}/v1/stream/WS/P?token=${origin.publishable}`;
  const open = (): number => origin.tapedeck.services.streams.open.state().open;
  const first = await startServer({ settings: SETTINGS });
  const { folder } = first;
  await loaded(first, 'FED', CSV, INDEX);
  const source = { type: 'SSE', url, dataset: 'FED' };
  const id = await createSource(first, source);
  await createSource(first, { ...source, state: 'PAUSED' });
  await until(() => open() === 1);
  await first.tapedeck.close();
  await until(() => open() === 0);
  await using again = await startServer({ folder, settings: SETTINGS });
  await until(() => open() === 1);
  await ask(again, 'PUT', `/data-sources/WS/${id}`, { ...source, state: 'PAUSED' });
  await until(() => open() === 0);
  expect(await feedOf(again, id)).toBeUndefined();
});

test('a WebSocket receives the subscription, and odd messages are counted', async () => {
  await using server = await startServer({ settings: SETTINGS });
  await loaded(server, 'FED', 'symbol,date,value,count\nZ,2023-01-01,9,1\n', INDEX);
  const heard: string[] = [];
  const sockets: WebSocket[] = [];
  const upstream = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  upstream.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (data) => heard.push(String(data)));
  });
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const subscribe = '{"op":"subscribe","symbols":["A"]}';
  const id = await createSource(server, {
    type: 'WEBSOCKET',
    url: `ws://127.0.0.1:${port}/ticks`,
    dataset: 'FED',
    messages: [subscribe],
    jsonPath: '$.data',
    columns: {
      s: 'symbol',
      noise: null,
    },
  });
  await until(() => heard.length === 1);
  expect(heard).toEqual([subscribe]);
  const sendText = (text: string): void => sockets.at(-1)?.send(text);
  sendText('{"data":[{"s":"A","date":"2024-01-01","value":1,"noise":"x"}]}');
  sendText('{"event":"heartbeat"}');
  sendText('not JSON');
  sendText('{"data":{"s":"A","date":"2024-01-02","value":2}}');
  sendText(
    '{"data":[{"s":"A","date":"no day","value":3},{"s":"B","date":"2024-01-03","value":4}]}',
  );
  await until(async () => (await feedOf(server, id))?.records === 3);
  const feed = await feedOf(server, id);
  expect([feed?.rejected, feed?.isRunning]).toEqual([2, true]);
  expect(feed?.rejectReason).toContain('date');
  // After a reconnection it subscribes again.
  sockets.at(-1)?.close();
  await until(() => heard.length === 2);
  sendText('{"data":[{"s":"C","date":"2024-01-04","value":5}]}');
  await until(async () => (await recordsOf(server)).length === 5);
  expect(await recordsOf(server, '&filter=symbol')).toEqual(
    ['Z', 'A', 'A', 'B', 'C'].map((symbol) => ({ symbol })),
  );
  // JSON.parse would round it.
  sendText('{"data":[{"s":"D","date":"2024-01-05","count":9007199254740993}]}');
  await until(async () => (await feedOf(server, id))?.records === 5);
  const exact = await send(server, 'GET', '/data/WS/FED/D?from=2000-01-01&filter=count');
  expect(exact.text).toBe('[{"count":"9007199254740993"}]');
  for (const socket of sockets) socket.terminate();
  upstream.close();
});

test('the reason why a feed does not run is in its source, in the status and in the log', async () => {
  await using server = await startServer({ settings: SETTINGS });
  await loaded(server, 'FED', CSV, INDEX);
  const url = `${server.base}/v1/status`;
  const id = await createSource(server, { name: 'odd', type: 'SSE', url, dataset: 'FED' });
  await until(async () => (await feedOf(server, id))?.fault !== null);
  const reason = (await feedOf(server, id))?.fault ?? '';
  expect(reason).toContain('application/json');
  const admin = { authorization: `Bearer ${server.tapedeck.services.adminToken}` };
  const status = await fetch(`${server.base}/v1/admin/status`, { headers: admin });
  const { problems } = (await status.json()) as { problems: readonly { what: string }[] };
  expect(problems.map(({ what }) => what)).toContain(`feed odd of WS does not run: ${reason}`);
});

test('an invalid feed is refused with the wrong member', async ({ server }) => {
  await loaded(server, 'FED', CSV, INDEX);
  const refused = async (source: object, word: string): Promise<void> => {
    const { status, text } = await send(server, 'POST', '/data-sources/WS', source);
    expect([status, text]).toEqual([400, expect.stringContaining(word)]);
  };
  const good = { type: 'SSE', url: 'https://example.com/ticks', dataset: 'FED' };
  await refused({ ...good, dataset: 'NONE' }, 'dataset');
  await refused({ ...good, url: 'http://127.0.0.1/x' }, 'TAPEDECK_ALLOW_PRIVATE_ADDRESSES');
  await refused({ ...good, url: 'wss://example.com' }, 'http:// or https://');
  await refused({ ...good, type: 'WEBSOCKET' }, 'ws:// or wss://');
  await refused({ ...good, messages: ['x'] }, 'messages');
  await refused({ ...good, headers: { host: 'x' } }, 'host');
  await refused({ ...good, jsonPath: 'data' }, 'jsonPath');
  await refused({ type: 'SSE', url: good.url }, 'dataset is required');
  const id = await createSource(server, { ...good, state: 'PAUSED' });
  const schedule = { dataSourceId: id, datasetId: 'FED', every: 'day' };
  const { status, text } = await send(server, 'POST', '/ingestion-schedules/WS', schedule);
  expect([status, text]).toEqual([400, expect.stringContaining('feeds its dataset continuously')]);
});

test('a sample of a feed shows its records', async ({ server: origin }) => {
  await using server = await startServer({ settings: SETTINGS });
  await loaded(origin, 'P', CSV, INDEX);
  await loaded(server, 'FED', CSV, INDEX);
  const url = `${origin.base}/v1/stream/WS/P?keys=A&token=${origin.publishable}`;
  const columns = { v: 'value' };
  const id = await createSource(server, {
    type: 'SSE',
    url,
    dataset: 'FED',
    columns,
    state: 'PAUSED',
  });
  const rows = await ask(server, 'GET', `/sample-data-source/WS/${id}`);
  expect(rows).toEqual([{ symbol: 'A', date: '2024-01-01', value: 1 }]);
});

test('a message without a valid record is counted, and the feed goes on', async () => {
  await using server = await startServer({ settings: SETTINGS });
  await loaded(server, 'FED', CSV, INDEX);
  await send(server, 'PATCH', '/datasets/WS/FED', {
    expectations: [{ range: { property: 'v', max: 100 }, action: 'fail' }],
  });
  const events = ['1', '"bad"', '2', '1000', '3'].map(
    (v, at) => `id: ${at + 1}\ndata: {"symbol":"E${at}","date":"2024-01-01","v":${v}}\n\n`,
  );
  const upstream = createHttp((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const last = Number(request.headers['last-event-id'] ?? 0);
    response.write(events.slice(last).join(''));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  const id = await createSource(server, {
    type: 'SSE',
    url: `http://127.0.0.1:${port}/events`,
    dataset: 'FED',
  });
  await until(async () => (await feedOf(server, id))?.records === 3);
  expect(await feedOf(server, id)).toMatchObject({ rejected: 2, restarts: 0, fault: null });
  expect(await recordsOf(server, '&filter=symbol')).toHaveLength(4);
  upstream.closeAllConnections();
  upstream.close();
});

test('a restarted server resumes after the last stored event', async () => {
  const lastIds: (string | undefined)[] = [];
  const origin = createHttp((request, answer) => {
    const lastId = request.headers['last-event-id'] as string | undefined;
    lastIds.push(lastId);
    const first = Number(lastId ?? 0) + 1;
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const n of [first, first + 1]) {
      const record = JSON.stringify({ symbol: 'A', date: `2024-02-0${n}`, v: n });
      answer.write(`id: ${n}\ndata: ${record}\n\n`);
    }
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-feed-'));
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/`;
  const source = { type: 'SSE', url, dataset: 'FED' };
  try {
    let id = '';
    {
      await using server = await startServer({ settings: SETTINGS, folder });
      await loaded(server, 'FED', CSV, INDEX);
      id = await createSource(server, source);
      await until(async () => (await feedOf(server, id))?.records === 2);
    }
    await using server = await startServer({ settings: SETTINGS, folder });
    await until(async () => (await feedOf(server, id))?.records === 2);
    expect(lastIds).toEqual([undefined, '2']);
    expect(await recordsOf(server)).toHaveLength(5);
    // For another address the stored position is not used.
    await ask(server, 'PUT', `/data-sources/WS/${id}`, { ...source, url: `${url}other` });
    await until(() => lastIds.length === 3);
    expect(lastIds[2]).toBe(undefined);
    await ask(server, 'DELETE', `/data-sources/WS/${id}`);
    const positions = server.tapedeck.services.database.selectFrom('feed_position').selectAll();
    expect(await positions.execute()).toEqual([]);
  } finally {
    origin.closeAllConnections();
    origin.close();
    await rm(folder, { recursive: true, force: true });
  }
});
