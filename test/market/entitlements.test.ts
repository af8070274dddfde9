// Access to market data on every route, to the millisecond: the owner and granted accounts immediately,
// others when a feed's delay has passed; restricted and premium inputs only accounts with the right.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';

/** 14:00 in a session in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');
const DELAY_MS = 15 * 60_000;

/** The price of an event exactly that long ago; no other record has it. */
const SECRET = 777.77;

interface World {
  readonly server: TestServer;
  readonly owner: string;
  readonly granted: string;
  readonly other: string;
}

let world: World;
let nowMs = NOW_MS;

beforeAll(async () => {
  const server = await startServer({ seams: { clock: () => nowMs } });
  const { accounts } = server.tapedeck.services;
  const tokenOf = async (name: string, grants: readonly string[]): Promise<string> => {
    const accountId = await accounts.createAccount(name, 'scale');
    await accounts.changeAccount(accountId, { grants: [...grants] });
    return (await accounts.createToken(accountId, 'secret')).text;
  };
  world = {
    server,
    owner: server.secret,
    granted: await tokenOf('granted', ['TRADES', 'QUOTES', 'INTRADAY_PRICES']),
    other: await tokenOf('other', []),
  };
  await load(
    'HISTORICAL_PRICES',
    'symbol,date,open,high,low,close,volume\nAAA,2024-02-27,9,11,9,10,100\n' +
      'AAA,2024-02-28,10,12,10,11,200\n',
  );
  await load(
    'TRADES',
    'symbol,time,tradeId,price,size,venue\n' +
      `AAA,2024-02-29T15:00:00.000Z,1,11.5,100,XNYS\nAAA,2024-02-29T18:45:00.000Z,2,${SECRET},100,XNYS\n`,
  );
  await load(
    'QUOTES',
    'symbol,time,sequence,bidPrice,bidSize,askPrice,askSize\n' +
      `AAA,2024-02-29T18:45:00.000Z,1,${SECRET},100,${SECRET + 1},100\n`,
  );
  await load(
    'INTRADAY_PRICES',
    'symbol,date,minute,open,high,low,close,volume\n' +
      `AAA,2024-02-29,10:00,11,12,11,11.5,100\nAAA,2024-02-29,13:44,11.5,${SECRET},11.5,${SECRET},100\n`,
  );
  for (const dataset of ['TRADES', 'QUOTES', 'INTRADAY_PRICES']) {
    await change(dataset, { level: 'open', delayMinutes: 15 });
  }
});
afterAll(() => world.server.close());

/** Every route to data of the feed. `{}` and texts without data are valid answers too. */
const ROUTES: readonly string[] = [
  'quote',
  'price',
  'delayed-quote',
  'ohlc',
  'book',
  'stats',
  'largest-trades',
  'volume-by-venue',
  'effective-spread',
  'intraday-prices',
  'chart/1d',
  'chart/5dm',
  'chart/1mm',
  'chart/dynamic',
  'chart/5d?includeToday=true',
  'quote/latestPrice',
  'stats/marketcap',
  'quote?format=csv',
  'indicator/sma?range=1d&input1=1',
  'indicator/max?range=1d&input1=1&indicatorOnly=true',
  'indicator/medprice?range=5dm&lastIndicator=true',
  'batch?types=indicator&indicator=typprice&range=1d',
  'batch?types=quote,price,chart,largest-trades,book&range=1d',
  'quote?cache=false',
].map((path) => `/stock/AAA/${path}`);

const POINTS: readonly string[] = [
  'QUOTE-LATESTPRICE',
  'QUOTE-IEXBIDPRICE',
  'QUOTE-HIGH',
  'MARKETCAP',
  'QUOTE-LAST-UPDATED',
].map((key) => `/data-points/AAA/${key}`);

const WIDE: readonly string[] = [
  '/stock/market/list/mostactive',
  '/stock/market/volume',
  '/stats/intraday',
  '/stock/market/sector-performance',
  '/stock/market/collection/list?collectionName=mostactive',
  '/stock/market/batch?symbols=AAA&types=quote,intraday-prices',
  ...['TRADES', 'QUOTES', 'INTRADAY_PRICES'].flatMap((id) => [
    `/time-series/${id}/AAA?last=100`,
    `/data/CORE/${id}/AAA?from=2024-02-01`,
    `/data/CORE/${id}/AAA?last=100&format=csv`,
    `/data/CORE/${id}/AAA?last=100&cache=false`,
    `/sql-query/CORE?sqlQuery=${encodeURIComponent(`SELECT * FROM ${id} WHERE symbol = 'AAA'`)}`,
    `/sql-query/CORE?sqlQuery=${encodeURIComponent(`SELECT count(*) AS n FROM ${id} WHERE symbol = 'AAA'`)}`,
  ]),
];

describe('a millisecond before its delay has passed', () => {
  for (const route of [...ROUTES, ...POINTS, ...WIDE]) {
    test(`${route}: no other account sees it`, async () => {
      nowMs = Date.parse('2024-02-29T18:45:00.000Z') + DELAY_MS - 1;
      // Cached or not, and after requests of any account.
      for (const token of [world.other, world.owner, world.other]) {
        const answer = await ask(route, token);
        assert.ok([200, 404].includes(answer.status), `${answer.status}: ${answer.text}`);
        if (token === world.other) assert.doesNotMatch(answer.text, /777|778/, route);
      }
    });
  }
});

test('others see it when the delay has passed, the owner and granted accounts before', async () => {
  const at = Date.parse('2024-02-29T18:45:00.000Z');
  for (const [token, ms] of [
    [world.owner, at],
    [world.granted, at],
    [world.other, at + DELAY_MS + 1],
  ] as const) {
    nowMs = ms;
    const { text } = await ask('/stock/AAA/price', token);
    assert.equal(text, String(SECRET));
  }
  nowMs = at;
  assert.match((await ask('/stock/AAA/quote', world.granted)).text, /"iexBidPrice":777.77/);
  nowMs = at + DELAY_MS + 1;
  const delayed = JSON.parse((await ask('/stock/AAA/quote', world.other)).text) as Record<
    string,
    unknown
  >;
  assert.equal(delayed['latestSource'], '15 minute delayed price');
  assert.equal(delayed['iexBidPrice'], null);
  assert.equal(delayed['iexRealtimePrice'], null);
});

test('delayed data have no ETag: the next answer differs although nothing was written', async () => {
  nowMs = NOW_MS;
  const { headers } = await ask('/data/CORE/TRADES/AAA?last=1', world.other);
  assert.equal(headers.get('etag'), null);
  assert.notEqual(
    (await ask('/data/CORE/TRADES/AAA?last=1', world.owner)).headers.get('etag'),
    null,
  );
});

test('days of a delayed feed are visible when they are over', async () => {
  await change('HISTORICAL_PRICES', { level: 'open', delayMinutes: 15 });
  await load(
    'HISTORICAL_PRICES',
    'symbol,date,open,high,low,close,volume\nAAA,2024-02-29,1,1,1,555,1\n',
  );
  const newest = async (token: string): Promise<string> =>
    (await ask('/data/CORE/HISTORICAL_PRICES/AAA?last=1&filter=date', token)).text;
  // A minute before midnight, and a quarter of an hour after it.
  nowMs = Date.parse('2024-03-01T04:59:00Z');
  assert.equal(await newest(world.owner), '[{"date":"2024-02-29"}]');
  assert.equal(await newest(world.other), '[{"date":"2024-02-28"}]');
  assert.doesNotMatch((await ask('/stock/AAA/chart/5d', world.other)).text, /555/);
  assert.doesNotMatch((await ask('/stock/market/ohlc', world.other)).text, /555/);
  nowMs = Date.parse('2024-03-01T05:15:00Z');
  assert.equal(await newest(world.other), '[{"date":"2024-02-29"}]');
  await change('HISTORICAL_PRICES', { level: 'open' });
});

test('an input without the right to read is treated as missing', async () => {
  nowMs = Date.parse('2024-03-01T05:15:00Z');
  await change('TRADES', { level: 'restricted' });
  await change('QUOTES', { level: 'enterprise' });
  await change('INTRADAY_PRICES', { level: 'premium' });
  const { text } = await ask('/stock/AAA/quote', world.other);
  const quote = JSON.parse(text) as Record<string, unknown>;
  assert.equal(quote['latestPrice'], 555);
  assert.equal(quote['iexBidPrice'], null);
  assert.equal((await ask('/stock/AAA/largest-trades', world.other)).status, 401);
  assert.equal((await ask('/stock/AAA/intraday-prices', world.other)).status, 401);
  assert.equal((await ask('/stock/market/volume', world.other)).status, 401);
  const batch = await ask('/stock/AAA/batch?types=price,largest-trades', world.other);
  assert.equal(batch.text, '{"price":555}');
  assert.equal(batch.headers.get('svccloud-left-out'), 'largest-trades');
  assert.match((await ask('/stock/AAA/largest-trades', world.granted)).text, /777/);
  await change('HISTORICAL_PRICES', { level: 'restricted' });
  assert.equal((await ask('/stock/AAA/quote', world.other)).status, 401);
  assert.equal((await ask('/stock/AAA/chart', world.other)).status, 401);
  assert.equal((await ask('/data-points/AAA/QUOTE-LATESTPRICE', world.other)).status, 401);
  assert.equal((await ask('/data-points/AAA/QUOTE-LAST-UPDATED', world.other)).status, 401);
  await load('SYMBOLS', 'symbol,name,isin\nAAA,Hidden Corp,US0378331005\n');
  await change('SYMBOLS', { level: 'restricted' });
  for (const path of [
    '/ref-data/symbols',
    '/ref-data/exchanges',
    '/search/aaa',
    '/ref-data/iex/symbols',
  ]) {
    assert.match(
      (await ask(path, world.owner)).text,
      path.includes('exchanges') ? /\[/ : /AAA/,
      path,
    );
    assert.equal((await ask(path, world.other)).status, 401, path);
  }
  assert.equal((await ask('/ref-data/isin?isin=US0378331005', world.other)).status, 401);
  const points = await ask('/data-points/AAA', world.other);
  assert.equal(points.status, 404, points.text);
});

test('options, moods and figures of the exchange follow the access of their inputs', async () => {
  nowMs = NOW_MS;
  await load(
    'OPTIONS',
    'symbol,id,lastUpdated,expirationDate,strikePrice,side,closingPrice\n' +
      'AAA,AAA20240315C00010000,2024-02-28,2024-03-15,10,call,1.5\n',
  );
  await load('EXCHANGE_STATS', 'date,volume\n2024-02-28,4242\n');
  await load(
    'SENTIMENT_MINUTES',
    'symbol,date,minute,sentiment\nAAA,2024-02-29,1345,0.1\nAAA,2024-02-29,1344,0.2\n',
  );
  const routes: readonly (readonly [path: string, pattern: RegExp])[] = [
    ['/stock/AAA/options', /20240315/],
    ['/stock/AAA/options/202403/call', /1\.5/],
    ['/ref-data/options/symbols', /AAA/],
    ['/ref-data/options/symbols/AAA', /AAA20240315C00010000/],
    ['/options/AAA20240315C00010000/chart', /1\.5/],
    ['/stats/recent', /4242/],
    ['/stats/records', /4242/],
    ['/stats/historical?date=202402', /4242/],
    ['/stats/historical/daily', /4242/],
    ['/stock/AAA/sentiment/minute', /0\.1/],
  ];
  for (const [path, pattern] of routes)
    assert.match((await ask(path, world.other)).text, pattern, path);
  // The minute that ended less than 15 minutes ago is not shown.
  await change('SENTIMENT_MINUTES', { level: 'open', delayMinutes: 15 });
  const moods = async (token: string): Promise<readonly unknown[]> =>
    JSON.parse((await ask('/stock/AAA/sentiment/minute', token)).text) as readonly unknown[];
  assert.deepEqual([(await moods(world.owner)).length, (await moods(world.other)).length], [2, 1]);
  for (const dataset of ['OPTIONS', 'EXCHANGE_STATS', 'SENTIMENT_MINUTES']) {
    await change(dataset, { level: 'restricted' });
  }
  for (const [path, pattern] of routes) {
    assert.equal((await ask(path, world.other)).status, 401, path);
    assert.match((await ask(path, world.owner)).text, pattern, path);
  }
  await change('TRADES', { level: 'restricted' });
  assert.equal((await ask('/stats/intraday', world.other)).status, 401);
});

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(path: string, token: string): Promise<Answered> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${world.server.base}/v1${path}`, { headers });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

const load = (dataset: string, csv: string): Promise<void> =>
  sent('POST', `/data/CORE/${dataset}?wait=true`, csv);

const change = (dataset: string, access: object): Promise<void> =>
  sent('PATCH', `/datasets/CORE/${dataset}`, JSON.stringify({ access }));

async function sent(method: string, path: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${world.owner}` };
  const answer = await fetch(`${world.server.base}/v1${path}`, { method, body, headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
}
