// With a real server: every batch equals its single answers, late corporate actions apply from their load on,
// and the price methods of the unmodified official client work.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { type Client, iexjs } from '../clients/iexjs.ts';
import { seeded } from '../soak/crash/rounds/seeded.ts';
import { seedsOf } from '../base/seeds.ts';
import { startServer, type TestServer } from '../base/server.ts';

/** 14:00 in a session in New York. */
const NOW_MS = Date.parse('2024-02-29T19:00:00Z');

let server: TestServer;
let nowMs = NOW_MS;

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => nowMs } });
  await load(
    'HISTORICAL_PRICES',
    [
      'symbol,date,open,high,low,close,volume',
      ...['AAA', 'BBB', 'CCC'].flatMap((symbol, at) =>
        ['2023-02-27', '2024-02-26', '2024-02-27', '2024-02-28'].map(
          (day, place) =>
            `${symbol},${day},${10 + at + place},${12 + at + place},9,${11 + at + place},${100 * place}`,
        ),
      ),
    ].join('\n'),
  );
  await load('DIVIDENDS', 'symbol,exDate,refid,amount\nAAA,2024-02-27,1,0.5\n');
  await load('COMPANY', 'symbol,companyName,sharesOutstanding,ttmEPS\nAAA,Aaa Corp,1000,2\n');
  await load(
    'INTRADAY_PRICES',
    'symbol,date,minute,open,high,low,close,volume\nAAA,2024-02-29,09:30,14,15,14,14.5,10\n' +
      'BBB,2024-02-29,10:00,15,16,15,15.5,20\n',
  );
  await load(
    'TRADES',
    'symbol,time,tradeId,price,size,venue\nAAA,2024-02-29T18:59:00.000Z,1,14.75,100,XNYS\n',
  );
});
afterAll(() => server.close());

const TYPES: readonly [string, ...string[]] = [
  ...(['quote', 'price', 'delayed-quote', 'ohlc', 'book', 'previous', 'chart', 'stats'] as const),
  'historical-prices',
  'intraday-prices',
  'largest-trades',
  'volume-by-venue',
  'company',
];

const QUERIES: readonly [string, ...string[]] = [
  '',
  'range=5d',
  'range=1y&chartCloseOnly=true',
  'chartLast=2&displayPercent=true',
  'range=1d',
];

test('every batch equals its single answers', async (context) => {
  for (const seed of seedsOf(context)) {
    const random = seeded(seed);
    for (let at = 0; at < 15; at += 1) {
      const types = [
        ...new Set(Array.from({ length: random.between(1, 6) }, () => random.pick(TYPES))),
      ];
      const symbols = [
        ...new Set(Array.from({ length: 3 }, () => random.pick(['AAA', 'BBB', 'CCC']))),
      ];
      const query = random.pick(QUERIES);
      // A little later than before: some answers are still in memory, others no more.
      nowMs = NOW_MS + at * random.between(0, 120_000);
      const parameters = `types=${types.join()}&symbols=${symbols.join()}&${query}`;
      const batch = await json(`/stock/market/batch?${parameters}`);
      for (const symbol of symbols) {
        for (const type of types) {
          const single = await answered(`/stock/${symbol}/${type}?${own(type, query)}`);
          const expected: unknown = JSON.parse(single.text);
          assert.deepEqual(
            (batch as Record<string, Record<string, unknown>>)[symbol]?.[type],
            expected,
            `seed ${seed}: ${symbol} ${type} ${query}`,
          );
        }
      }
    }
  }
});

/** The parameters of a single type, which refuses those that it does not use. */
function own(type: string, query: string): string {
  const isChart = type === 'chart' || type === 'historical-prices';
  if (isChart) return query;
  const percent = query.includes('displayPercent') ? 'displayPercent=true' : '';
  if (['quote', 'stats', 'book'].includes(type)) return percent;
  const chartParts = query.split('&').filter((part) => /^(?:range|chartLast)=/.test(part));
  return type === 'intraday-prices' ? chartParts.join('&') : '';
}

test('late corporate actions apply from their load on, and not before', async () => {
  nowMs = NOW_MS;
  const path = '/stock/CCC/chart?from=2024-02-26&to=2024-02-26&filter=close,uClose,fClose';
  const before = await answered(path);
  assert.equal(before.text, '[{"close":14,"uClose":14,"fClose":14}]');
  await load('SPLITS', 'symbol,exDate,fromFactor,toFactor\nCCC,2024-02-27,1,2\n');
  await load('DIVIDENDS', 'symbol,exDate,refid,amount\nCCC,2024-02-28,1,1.5\n');
  assert.equal((await answered(path)).text, '[{"close":7,"uClose":14,"fClose":6.3}]');
  const past = await answered(`${path}&asOf=${before.headers.get('svccloud-as-of') ?? ''}`);
  assert.equal(past.text, before.text);
  assert.equal((await answered('/stock/CCC/stats/exDividendDate')).text, '"2024-02-28"');
});

test('concurrent cold requests of one account wait for each other, and are answered', async () => {
  nowMs = NOW_MS;
  const paths = Array.from({ length: 60 }, (_, at) => `/stock/AAA/stats?cache=false&_=${at}`);
  const answers = await Promise.all(paths.map(answered));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
});

test('a write is visible immediately, despite cached answers', async () => {
  nowMs = NOW_MS;
  assert.equal((await answered('/stock/BBB/price')).text, '15.5');
  const record = '[{"symbol":"BBB","date":"2024-02-29","minute":"13:50","close":17.25}]';
  await sent('POST', '/record/CORE/INTRADAY_PRICES', record);
  assert.equal((await answered('/stock/BBB/price')).text, '17.25');
  await sent('DELETE', '/data/CORE/INTRADAY_PRICES/BBB', '');
  assert.equal((await answered('/stock/BBB/price')).text, '15');
});

type Ask = (method: string, options: object) => Promise<unknown>;

/** Methods of the official client, whose base is this server. */
async function byClient(work: (request: Ask) => Promise<void>): Promise<void> {
  nowMs = NOW_MS;
  iexjs.overrideUrl({ url: `${server.base}/v1/` });
  const client = new iexjs.Client({ api_token: server.publishable, version: 'v1' }) as Client &
    Readonly<Record<string, ((options: object) => Promise<unknown>) | undefined>>;
  try {
    await work((method, options) => {
      const call = client[method];
      assert.ok(call !== undefined, `the client has no ${method}`);
      return call.call(client, options);
    });
  } finally {
    iexjs.overrideUrl({});
  }
}

const symbol = 'AAA';

test('the official client: prices of a symbol', () =>
  byClient(async (request) => {
    assert.equal(await request('price', { symbol }), 14.75);
    const quote = (await request('quote', { symbol })) as Record<string, unknown>;
    assert.deepEqual(
      [quote['latestPrice'], quote['previousClose'], quote['change'], quote['marketCap']],
      [14.75, 14, 0.75, 14_750],
    );
    const chart = (await request('chart', { symbol, range: '5d' })) as Record<string, unknown>[];
    assert.deepEqual(
      chart.map((row) => [row['date'], row['close'], row['uClose']]),
      [
        ['2024-02-26', 12, 12],
        ['2024-02-27', 13, 13],
        ['2024-02-28', 14, 14],
      ],
    );
    const minutes = (await request('intraday', { symbol })) as Record<string, unknown>[];
    assert.deepEqual(
      minutes.map((row) => [row['minute'], row['marketClose']]),
      [['09:30', 14.5]],
    );
    const previous = (await request('previous', { symbol })) as Record<string, unknown>;
    assert.deepEqual([previous['date'], previous['change']], ['2024-02-28', 1]);
    const ohlc = (await request('ohlc', { symbol })) as Record<string, unknown>;
    assert.equal(ohlc['high'], 15);
    const delayed = (await request('delayedQuote', { symbol })) as Record<string, unknown>;
    assert.equal(delayed['delayedPrice'], 14.5);
    const book = (await request('book', { symbol })) as { readonly trades: readonly object[] };
    assert.equal(book.trades.length, 1);
    const trades = (await request('largestTrades', { symbol })) as readonly object[];
    assert.equal(trades.length, 1);
  }));

test('the official client: figures, the market and a batch', () =>
  byClient(async (request) => {
    const list = (await request('list', { list: 'gainers' })) as readonly object[];
    assert.deepEqual(list.length, 3);
    const venues = (await request('volumeByVenue', { symbol })) as readonly Record<
      string,
      unknown
    >[];
    assert.deepEqual(
      venues.map((row) => [row['venue'], row['volume']]),
      [['XNYS', 100]],
    );
    const days = (await request('marketOhlc', {})) as Record<string, unknown>;
    assert.deepEqual(Object.keys(days).toSorted(), ['AAA', 'BBB', 'CCC']);
    const volume = (await request('marketVolume', {})) as readonly Record<string, unknown>[];
    assert.deepEqual(
      volume.map((row) => row['mic']),
      ['XNYS'],
    );
    const trading = { type: 'trade', direction: 'next', last: 1, startDate: '20240329' };
    assert.deepEqual(await request('calendar', trading), [
      { date: '2024-04-01', settlementDate: '2024-04-03' },
    ]);
    const stats = (await request('statsBasic', { symbol })) as Record<string, unknown>;
    assert.equal(stats['week52highSplitAdjustOnly'], 15);
    const batch = (await request('batch', {
      symbols: ['AAA', 'BBB'],
      fields: ['price', 'quote'],
    })) as Record<string, Record<string, unknown>>;
    assert.deepEqual([batch['AAA']?.['price'], batch['BBB']?.['price']], [14.75, 15]);
  }));

interface Answered {
  readonly text: string;
  readonly headers: Headers;
}

async function answered(path: string): Promise<Answered> {
  const headers = { authorization: `Bearer ${server.publishable}` };
  const answer = await fetch(`${server.base}/v1${path}`, { headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return { text, headers: answer.headers };
}

const json = async (path: string): Promise<unknown> => JSON.parse((await answered(path)).text);

const load = (dataset: string, csv: string): Promise<void> =>
  sent('POST', `/data/CORE/${dataset}?wait=true`, csv);

async function sent(method: string, path: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const init = body === '' ? { method, headers } : { method, headers, body };
  const answer = await fetch(`${server.base}/v1${path}`, init);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
}
