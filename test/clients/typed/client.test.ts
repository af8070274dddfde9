// The typed client against a real server: types, costs, pages, retries and resumed streams.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectTypeOf } from 'vitest';
import { TapedeckClient } from '../../../client/client.ts';
import { frameReader } from '../../../client/frames.ts';
import type { Operations } from '../../../client/operations.ts';
import { TapedeckError } from '../../../client/request.ts';
import { loaded, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

const DAYS = Array.from({ length: 25 }, (_, at) => `A,2024-01-${String(at + 1).padStart(2, '0')}`);

const clientOf = ({ base, secret: token }: TestServer): TapedeckClient =>
  new TapedeckClient({ base, token });

const load = (server: TestServer): Promise<unknown> =>
  loaded(server, 'P', `symbol,date,v\n${DAYS.map((day, at) => `${day},${at}`).join('\n')}\n`, {
    key: 'symbol',
    date: 'date',
  });

test('operations are typed by the table of endpoints', async ({ server }) => {
  const client = clientOf(server);
  const status = await client.call('getStatus', {});
  expectTypeOf(status.value.status).toEqualTypeOf<'up'>();
  assert.equal(status.value.status, 'up');
  const metadata = await client.call('getAccountMetadata', {});
  expectTypeOf(metadata.value.messageBudget).toEqualTypeOf<number | null>();
  assert.equal(metadata.value.tierName, 'scale');
  type CallParameters = Parameters<typeof client.call<'getDataset'>>[1];
  expectTypeOf<'getNothing'>().not.toExtend<keyof Operations>();
  expectTypeOf<{ path: { workspace: string } }>().not.toExtend<CallParameters>();
  expectTypeOf<{ path: { workspace: string; id: string } }>().toExtend<CallParameters>();
});

test('spent messages are counted, and a refusal includes the reason', async ({ server }) => {
  await load(server);
  const client = clientOf(server);
  const rows = await client.sql<{ readonly v: number }>(
    'WS',
    'SELECT v FROM P WHERE v < 3 ORDER BY v',
  );
  assert.deepEqual(rows, [{ v: 0 }, { v: 1 }, { v: 2 }]);
  const answered = await client.call('queryDataByKey', {
    path: { workspace: 'WS', id: 'P', key: 'A' },
    query: { last: 2 },
  });
  assert.equal(answered.messages, 2);
  assert.deepEqual(client.spent, { messages: 5, premiumMessages: 0, calls: 2 });
  await assert.rejects(client.sql('WS', 'SELECT nothing FROM P'), (error: unknown) => {
    assert.ok(error instanceof TapedeckError);
    assert.equal(error.status, 400);
    assert.match(error.message, /nothing/);
    assert.notEqual(error.requestId, '');
    return true;
  });
});

test('all pages are as of one moment, independent of writes between them', async ({ server }) => {
  await load(server);
  const seen: unknown[] = [];
  for await (const { v } of clientOf(server).records('WS', 'P', { key: 'A', pageSize: 10 })) {
    if (seen.length === 5) {
      const record = [{ symbol: 'A', date: '2024-02-01', v: 99 }];
      assert.equal((await send(server, 'POST', '/record/WS/P', record)).status, 200);
    }
    seen.push(v);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 25 }, (_, at) => 24 - at),
  );
});

test('changes arrive as they happen, and continue after a broken connection', async ({
  server,
}) => {
  await load(server);
  const abort = new AbortController();
  const pushed = async (v: number): Promise<void> => {
    const date = `2024-03-${String(v).padStart(2, '0')}`;
    await send(server, 'POST', '/record/WS/P', [{ symbol: 'A', date, v }]);
  };
  let connections = 0;
  const breaking: typeof fetch = async (input, init) => {
    connections += 1;
    const answer = await fetch(input, init);
    if (connections > 1) return answer;
    const body = answer.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          controller.enqueue(piece);
          controller.terminate();
        },
      }),
    );
    return new Response(body ?? null, { status: answer.status, headers: answer.headers });
  };
  const broken = new TapedeckClient({
    base: server.base,
    token: server.secret,
    fetch: breaking,
    retries: { waitMs: 1 },
  });
  const seen: unknown[] = [];
  const changes = broken.changes('WS', 'P', { keys: ['A'], signal: abort.signal });
  const reading = (async () => {
    for await (const item of changes) {
      if (item.kind !== 'message') continue;
      seen.push(item.value['v']);
      // The latest record arrives immediately, and then the connection breaks.
      if (seen.length < 3) await pushed(seen.length);
      else abort.abort();
    }
  })();
  await reading;
  assert.deepEqual(seen, [24, 1, 2]);
  assert.equal(connections, 2);
});

test('a request to a busy server is retried, a broken POST is not', async () => {
  const methods: string[] = [];
  const server = createServer((request, response) => {
    methods.push(request.method ?? '');
    if (request.method === 'POST') return void request.socket.destroy();
    if (methods.length < 3) return void response.writeHead(429, { 'retry-after': '0' }).end('slow');
    response.setHeader('content-type', 'application/json').end('{"status":"up"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const retries = { waitMs: 1, most: 3 };
  const client = new TapedeckClient({ base: `http://127.0.0.1:${port}`, token: 'pk', retries });
  assert.equal((await client.call('getStatus', {})).value.status, 'up');
  assert.deepEqual(methods, ['GET', 'GET', 'GET']);
  await assert.rejects(client.sql('WS', 'SELECT 1'));
  assert.deepEqual(methods.slice(3), ['POST']);
  server.close();
});

test('events are assembled from pieces of any length', () => {
  const text =
    ': hello\r\n\r\ndata: [{"a":1}]\r\n\r\nevent: gap\ndata: {"missed":2}\nid: 7\n\ndata: x\ndata: y\r\n\r\n';
  const whole = frameReader()(text);
  assert.deepEqual(whole, [
    { event: 'message', id: undefined, data: '[{"a":1}]' },
    { event: 'gap', id: '7', data: '{"missed":2}' },
    { event: 'message', id: undefined, data: 'x\ny' },
  ]);
  for (const size of [1, 2, 3, 7]) {
    const read = frameReader();
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    assert.deepEqual(
      pieces.flatMap((piece) => [...read(piece)]),
      whole,
    );
  }
});
