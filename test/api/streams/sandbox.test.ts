// Streams of the test environment: the same messages with other values, free of charge; nothing of it is in
// production, and nothing of production in it.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loaded, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { openStream, until } from './listening.ts';

const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const TIME_MS = NOW_MS - 60_000;

let server: TestServer;
let sandbox: { readonly base: string; readonly publishable: string };
beforeAll(async () => {
  server = await startServer({
    settings: { TAPEDECK_SANDBOX_PORT: '0' },
    seams: { clock: () => NOW_MS },
  });
  const { accountId, services, sandbox: base = '' } = server.tapedeck;
  const all = await services.accounts.tokens(accountId);
  const token = all.find((one) => one.test && one.kind === 'publishable')?.text ?? '';
  sandbox = { base, publishable: token };
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const csv = 'symbol,date,open,high,low,close,volume\nAAA,2024-02-28,10,12,10,11,200\n';
  assert.equal((await fetch(url, { method: 'POST', body: csv })).status, 200);
});
afterAll(() => server.close());

const trade = (price: number, at: number): void =>
  server.tapedeck.services.streams.board.apply({
    kind: 'trade',
    symbol: 'AAA',
    price,
    size: 1e3,
    tradeId: String(at),
    timeMs: TIME_MS + at,
  });

const usage = async (): Promise<string> => {
  await server.tapedeck.services.ledger.flush();
  return (await send(server, 'GET', '/account/usage')).text;
};

test('a test token receives the same messages with other values, and nothing is charged', async () => {
  trade(123.45, 0);
  const before = await usage();
  const tested = await openStream(sandbox, '/last?symbols=aaa');
  trade(123.55, 1);
  trade(123.55, 2);
  await until(() => tested.messages().length === 3);
  expect(await usage()).toBe(before);
  const heard = tested.messages() as readonly Readonly<Record<string, number>>[];
  expect(heard.map(({ symbol }) => symbol)).toEqual(['AAA', 'AAA', 'AAA']);
  const prices = heard.map(({ price }) => Number(price));
  expect(prices[1]).toBe(prices[2]);
  for (const price of prices) {
    assert.ok(Math.abs(price / 123.5 - 1) < 0.052, String(price));
    assert.ok(![123.45, 123.55].includes(price), String(price));
  }
  const times = heard.map(({ time }) => Number(time));
  expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 1, 2]);
  const days = ((times[0] ?? 0) - TIME_MS) / 86_400_000;
  assert.ok(Number.isInteger(days) && days !== 0, String(days));
  await tested.close();
});

test('production receives real values, independent of the order of the clients', async () => {
  const tested = await openStream(sandbox, '/stocksUS1Second?symbols=AAA');
  const real = await openStream(server, '/stocksUS1Second?symbols=AAA');
  const books = await Promise.all([
    openStream(sandbox, '/tops?symbols=AAA'),
    openStream(server, '/tops?symbols=AAA'),
  ]);
  trade(222.25, 10);
  await until(() => [tested, real, ...books].every((one) => one.messages().length > 0));
  expect(real.messages()[0]).toMatchObject({ symbol: 'AAA', previousClose: 11 });
  const [quote] = tested.messages();
  assert.ok(
    quote?.['symbol'] === 'AAA' &&
      Number(quote['previousClose']) > 0 &&
      quote['previousClose'] !== 11,
  );
  await until(() => books[1]?.messages().at(-1)?.['lastSalePrice'] === 222.25);
  for (const one of [tested, books[0]])
    assert.ok(one && !one.text().includes('222.25'), one?.text());
  for (const one of [tested, real, ...books]) await one.close();
});

test('the REST endpoints of the states have scrambled values too', async () => {
  for (const path of [
    '/tops?symbols=AAA',
    '/last?symbols=AAA',
    '/deep?symbols=AAA',
    '/deep/trades?symbols=AAA',
  ]) {
    const [real, tested] = await Promise.all(
      [server, sandbox].map(async ({ base, publishable }) => {
        const answer = await fetch(`${base}/v1${path}&token=${publishable}`);
        return [answer.status, await answer.text()] as const;
      }),
    );
    expect([path, real?.[0], tested?.[0]]).toEqual([path, 200, 200]);
    assert.ok(real?.[1].includes('222.25'), real?.[1]);
    assert.ok(tested?.[1].includes('AAA') && !tested[1].includes('222.25'), tested?.[1]);
  }
});

test('records of a dataset: as the test environment returns them, separate from production', async () => {
  const csv = 'symbol,date,v\nA,2024-01-01,1000.5\n';
  await loaded(server, 'P', csv, { key: 'symbol', date: 'date' });
  const tested = await openStream(sandbox, '/stream/WS/P?keys=A');
  const real = await openStream(server, '/stream/WS/P?keys=A');
  const record = { symbol: 'A', date: '2024-01-02', v: 2000.5 };
  const pushed = await send(server, 'POST', '/record/WS/P', record);
  assert.equal(pushed.status, 200, pushed.text);
  await until(() => tested.messages().length === 2 && real.messages().length === 2);
  expect(real.messages().map(({ v }) => v)).toEqual([1000.5, 2000.5]);
  const url = `${sandbox.base}/v1/data/WS/P/A?from=2024-01-01&sort=asc&token=${sandbox.publishable}`;
  expect(tested.messages()).toEqual(await (await fetch(url)).json());
  expect(tested.messages().map(({ v }) => v)).not.toEqual([1000.5, 2000.5]);
  await tested.close();
  await real.close();
});

test('a test token is for the test environment, and changes no subscription', async () => {
  const refused = await openStream(
    { base: server.base, publishable: sandbox.publishable },
    '/last',
  );
  expect([refused.status, refused.text()]).toEqual([403, expect.stringContaining('sandbox')]);
  const url = `${sandbox.base}/v1/stream/subscriptions/x?token=${sandbox.publishable}`;
  expect((await fetch(url, { method: 'POST', body: '{"symbols":["B"]}' })).status).toBe(403);
});
