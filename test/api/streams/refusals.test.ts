// Causes that refuse or end a stream: tiers, rights, limits, odd parameters, disabled tokens.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

const NOW_MS = Date.parse('2024-02-29T19:00:00Z');

let server: TestServer;
let nowMs = NOW_MS;
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => nowMs } });
  const load = async (dataset: string, csv: string): Promise<void> => {
    const url = `${server.base}/v1/data/CORE/${dataset}?wait=true&token=${server.secret}`;
    const answer = await fetch(url, { method: 'POST', body: csv });
    assert.equal(answer.status, 200, await answer.text());
  };
  await load('TRADES', 'symbol,time,tradeId,price,size\nAAA,2024-02-29T18:00:00Z,1,10,100\n');
  await load(
    'QUOTES',
    'symbol,time,sequence,bidPrice,bidSize,askPrice,askSize\nAAA,2024-02-29T18:00:00Z,1,9,1,11,1\n',
  );
});
afterAll(() => server.close());

async function account(tier: string, grants: readonly string[] = []): Promise<string> {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount(`of ${tier} ${Math.random()}`, tier);
  await accounts.changeAccount(accountId, { grants: [...grants] });
  return (await accounts.createToken(accountId, 'publishable')).text;
}

const ask = async (
  path: string,
  token = server.publishable,
): Promise<readonly [number, string]> => {
  const url = `${server.base}/v1${path}${path.includes('?') ? '&' : '?'}token=${token}`;
  const answer = await fetch(url, { headers: { accept: 'text/event-stream' } });
  return [answer.status, await answer.text()];
};

const tick = (symbol: string, price: number): void =>
  server.tapedeck.services.streams.board.apply({
    kind: 'trade',
    symbol,
    price,
    size: 100,
    tradeId: String(price),
    timeMs: nowMs,
  });

describe('refused with a sentence, and nothing is charged', () => {
  const CASES: readonly (readonly [path: string, status: number, text: RegExp])[] = [
    [
      `/last?symbols=${Array.from({ length: 51 }, (_, at) => `S${at}`).join()}`,
      400,
      /"symbols" has at most 50 symbols/,
    ],
    ['/deep?symbols=AAA,BBB', 400, /"symbols" must be one symbol with deep/],
    ['/deep', 400, /No symbol provided/],
    ['/deep?symbols=firehose', 400, /No symbol provided/],
    ['/deep?symbols=AAA&channels=nonsense', 400, /"channels" must be among deep, auction/],
    ['/last?symbols=AAA&nosnapshot=perhaps', 400, /"nosnapshot"/],
    ['/last?symbols=AAA&heartbeat=0', 400, /"heartbeat"/],
    ['/last?symbols=AAA&heartbeat=301', 400, /"heartbeat"/],
    ['/last?symbols=AAA&resumeFrom=%0d%0a', 400, /"resumeFrom"/],
    ['/last?symbols=AAA&colour=red', 400, /"colour" is not allowed/],
    ['/lastly?symbols=AAA', 404, /Not Found/],
  ];
  for (const [path, status, text] of CASES) {
    test(path.slice(0, 60), async () => {
      const [got, errorText] = await ask(path);
      expect(got, errorText).toBe(status);
      expect(errorText.replaceAll('\\"', '"')).toMatch(text);
    });
  }

  test('a free account, and all symbols below tier scale', async () => {
    expect((await ask('/last?symbols=AAA', await account('free')))[0]).toBe(402);
    const launch = await account('launch');
    expect((await ask('/last', launch))[0]).toBe(402);
    expect((await ask('/last?symbols=firehose', launch))[0]).toBe(402);
    const base = { base: server.base, publishable: launch };
    const stream = await openStream(base, '/last?symbols=AAA');
    expect(stream.status).toBe(200);
    await stream.close();
  });

  test('an unknown token', async () => {
    expect((await ask('/last?symbols=AAA', 'pk_nonsense'))[0]).toBe(403);
  });
});

describe('delayed and restricted data are not streamed', () => {
  const change = async (access: object): Promise<void> => {
    const { status, text } = await patch('/datasets/CORE/TRADES', { dataset: { access } });
    assert.equal(status, 200, text);
  };
  const patch = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${server.secret}` };
    const sent = { method: 'PATCH', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.base}/v1${path}`, sent);
    return { status: answer.status, text: await answer.text() };
  };

  test('to accounts with a delay, but to the owner and to granted accounts', async () => {
    await change({ level: 'open', delayMinutes: 15 });
    const [other, granted] = [await account('grow'), await account('grow', ['TRADES'])];
    for (const path of ['/last?symbols=AAA', '/tops?symbols=AAA', '/stocksUS?symbols=AAA']) {
      const [status, text] = await ask(path, other);
      expect([status, text]).toEqual([451, 'The requested data requires permission to access.']);
      for (const publishable of [server.publishable, granted]) {
        const stream = await openStream({ base: server.base, publishable }, path);
        expect(stream.status, path).toBe(200);
        await stream.close();
      }
    }
    const plain = await fetch(`${server.base}/v1/last?symbols=AAA&token=${other}`);
    expect(plain.status).toBe(451);
    await change({ level: 'open' });
  });

  test('and an open stream ends when its account loses the right to read', async () => {
    const other = await account('grow');
    const base = { base: server.base, publishable: other };
    const stream = await openStream(base, '/last?symbols=AAA&events=true');
    await change({ level: 'restricted' });
    nowMs += 6_000;
    await until(() => stream.isEnded());
    expect(stream.text()).toMatch(/event: end\r\ndata: \{"reason":"token"\}\r\n\r\n$/);
    await change({ level: 'open' });
  });
});

test('a token that was disabled ends its streams', async () => {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('soon gone', 'grow');
  const { text: publishable, tokenId } = await accounts.createToken(accountId, 'publishable');
  const stream = await openStream({ base: server.base, publishable }, '/last?symbols=AAA');
  await accounts.changeToken(accountId, tokenId, { disabled: true });
  nowMs += 6_000;
  await until(() => stream.isEnded());
});

test('opt-in: heartbeats as comments, ids, and resuming from one', async () => {
  const beating = await openStream(server, '/last?symbols=CCC&heartbeat=1');
  nowMs += 2_000;
  await until(() => beating.text() === ':\r\n\r\n');
  await beating.close();
  const first = await openStream(server, '/last?symbols=CCC&ids=true');
  for (let price = 1; price <= 5; price += 1) tick('CCC', price);
  await until(() => first.text().split('\r\n\r\n').length === 6);
  const [id = ''] = /[0-9a-f]{8}-2\b/.exec(first.text()) ?? [];
  await first.close();
  tick('CCC', 6);
  const again = await openStream(server, '/last?symbols=CCC&ids=true&events=true', {
    'last-event-id': id,
  });
  tick('CCC', 7);
  await until(() => again.text().includes('"price":7'));
  await again.close();
  const prices = [...again.text().matchAll(/"price":(\d+)/g)].map(([, price]) => Number(price));
  expect(prices, 'earlier messages are neither sent nor charged again').toEqual([3, 4, 5, 6, 7]);
  const lost = await openStream(server, `/last?symbols=CCC&events=true&resumeFrom=00000000-1`);
  await until(() => lost.text() === 'event: gap\r\ndata: {"messages":null}\r\n\r\n');
  await lost.close();
});

test('states of REST: tops, last, deep and its channels', async () => {
  tick('DDD', 42);
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${server.base}/v1${path}&token=${server.publishable}`);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.equal(answer.headers.get('svccloud-messages-used'), '0');
    return JSON.parse(text);
  };
  expect(await get('/tops?symbols=DDD,NONE')).toMatchObject([{ symbol: 'DDD', lastSalePrice: 42 }]);
  expect(await get('/tops/last?symbols=ddd')).toMatchObject([{ symbol: 'DDD', price: 42 }]);
  expect(await get('/last?symbols=AAA')).toMatchObject([{ symbol: 'AAA', price: 10, size: 100 }]);
  expect(await get('/deep?symbols=DDD')).toMatchObject({ symbol: 'DDD', lastSalePrice: 42 });
  expect(await get('/deep/trades?symbols=DDD')).toMatchObject({ DDD: [{ price: 42, size: 100 }] });
  expect(await get('/deep/book?symbols=AAA')).toMatchObject({
    AAA: { bids: [{ price: 9, size: 1 }], asks: [{ price: 11, size: 1 }] },
  });
  expect(await get('/deep/system-event?symbols=AAA')).toEqual({});
});

test('the symbols of an open stream can be changed, by its own account only', async () => {
  const change = async (id: unknown, body: object, token: string) => {
    const url = `${server.base}/v1/stream/subscriptions/${String(id)}?token=${token}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    return [answer.status, await answer.text()] as const;
  };
  tick('FFF', 1);
  const stream = await openStream(server, '/last?symbols=EEE');
  const id = stream.headers['svccloud-stream-id'];
  const [status, text] = await change(id, { symbols: ['eee', 'FFF'] }, server.publishable);
  expect([status, JSON.parse(text)]).toMatchObject([200, { symbols: ['EEE', 'FFF'] }]);
  // First the latest message of the new symbol, and then those of both.
  await until(() => stream.messages().length === 1);
  tick('EEE', 2);
  tick('FFF', 3);
  await until(() => stream.messages().length === 3);
  expect(stream.messages().map(({ price }) => price)).toEqual([1, 2, 3]);
  expect((await change(id, { symbols: ['FFF'] }, await account('scale')))[0]).toBe(404);
  expect((await change(id, { symbols: many(51) }, server.publishable))[0]).toBe(400);
  expect((await change(id, { symbol: 'FFF' }, server.publishable))[0]).toBe(400);
  await change(id, { symbols: ['FFF'] }, server.publishable);
  tick('EEE', 4);
  tick('FFF', 5);
  await until(() => stream.messages().length === 4);
  expect(stream.messages().at(-1)).toMatchObject({ symbol: 'FFF', price: 5 });
  await stream.close();
  await until(() => server.tapedeck.services.streams.open.state().open === 0);
  expect((await change(id, { symbols: ['FFF'] }, server.publishable))[0]).toBe(404);
});

const many = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `S${at}`);
