// The official JavaScript client, unmodified, with the synthetic exchange: every method of symbols, of the
// market, of reference data and of data points requests its usual path, gets an answer
// with the members that programs read, and returns it unchanged.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';
import { type Client, iexjs } from './iexjs.ts';
import { recorded, type Recorder } from './recorder.ts';

/** Friday evening in New York: the session is over. */
const NOW_MS = Date.parse('2026-01-30T22:00:00Z');
const SMALL = { symbols: 6, years: 4, minuteDays: 5 } as const;

type Options = Readonly<Record<string, unknown>>;
type Methods = Readonly<Record<string, ((options: Options) => Promise<unknown>) | undefined>>;

let server: TestServer;
let recorder: Recorder;
let client: Client & Methods;
let symbols: readonly string[] = [];

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS, exchange: SMALL } });
  await server.tapedeck.exchange?.filled();
  recorder = await recorded(server.base);
  iexjs.overrideUrl({ url: `${recorder.base}/v1/` });
  client = new iexjs.Client({ api_token: server.publishable, version: 'v1' }) as Client & Methods;
  symbols = (await client['symbolsList']?.({})) as readonly string[];
  expect(symbols.length).toBeGreaterThanOrEqual(SMALL.symbols);
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await recorder[Symbol.asyncDispose]();
  await server.close();
});

/** Members of the first record, `text` for a lone value, `none` for an empty answer. */
type Shows = readonly string[] | 'number' | 'texts' | 'lists' | 'none' | 'any';
type Row = readonly [method: string, options: Options, path: string, shows: Shows];

const CONTRACT = [
  'symbol',
  'id',
  'expirationDate',
  'strikePrice',
  'closingPrice',
  'side',
  'bid',
  'ask',
];
const OF_ALL = { symbol: undefined };

const ROWS: readonly Row[] = [
  ['quote', {}, '/stock/{s}/quote', ['symbol', 'latestPrice', 'week52High', 'isUSMarketOpen']],
  ['price', {}, '/stock/{s}/price', 'number'],
  ['stats', {}, '/stock/{s}/advanced-stats', ['companyName', 'EBITDA', 'priceToBook']],
  ['technicals', { indicator: 'sma' }, '/stock/{s}/indicator/sma?range=1m', ['indicator', 'chart']],
  ['statsBasic', {}, '/stock/{s}/stats', ['companyName', 'marketcap', 'week52high']],
  ['book', {}, '/stock/{s}/book', ['quote', 'bids', 'asks', 'trades']],
  ['delayedQuote', {}, '/stock/{s}/delayed-quote', ['symbol', 'delayedPrice', 'delayedPriceTime']],
  ['ohlc', {}, '/stock/{s}/ohlc', ['open', 'close', 'high', 'low', 'symbol']],
  ['marketOhlc', {}, '/stock/market/ohlc', ['{s}']],
  ['previous', {}, '/stock/{s}/previous', ['symbol', 'date', 'close', 'volume']],
  ['yesterday', {}, '/stock/{s}/previous', ['symbol', 'date', 'close', 'volume']],
  ['marketPrevious', {}, '/stock/market/previous', ['{s}']],
  ['chart', { range: '5d' }, '/stock/{s}/chart/5d', ['date', 'open', 'close', 'volume']],
  ['intraday', {}, '/stock/{s}/intraday-prices', ['date', 'minute', 'close', 'average']],
  ['largestTrades', {}, '/stock/{s}/largest-trades', ['price', 'size', 'time', 'venue']],
  ['volumeByVenue', {}, '/stock/{s}/volume-by-venue', ['volume', 'venue', 'venueName']],
  ['spread', {}, '/stock/{s}/effective-spread', ['volume', 'venue', 'effectiveSpread']],
  ['company', {}, '/stock/{s}/company', ['symbol', 'companyName', 'exchange', 'sector']],
  ['logo', {}, '/stock/{s}/logo', ['url']],
  ['peers', {}, '/stock/{s}/peers', 'texts'],
  ['news', {}, '/stock/{s}/news/last/10', ['headline', 'source', 'url', 'summary']],
  ['priceTarget', {}, '/stock/{s}/price-target', ['priceTargetAverage', 'numberOfAnalysts']],
  ['analystRecommendations', {}, '/stock/{s}/recommendation-trends', ['ratingBuy']],
  ['fundOwnership', {}, '/stock/{s}/fund-ownership', ['adjHolding', 'adjMv']],
  ['institutionalOwnership', {}, '/stock/{s}/institutional-ownership', ['adjHolding']],
  ['insiderRoster', {}, '/stock/{s}/insider-roster', ['entityName', 'position']],
  ['insiderSummary', {}, '/stock/{s}/insider-summary', ['fullName', 'netTransacted']],
  ['insiderTransactions', {}, '/stock/{s}/insider-transactions', ['fullName', 'tranPrice']],
  ['earnings', { last: 2 }, '/stock/{s}/earnings?period=quarter&last=2', ['actualEPS']],
  ['incomeStatement', {}, '/stock/{s}/income?period=quarter&last=1', ['totalRevenue', 'netIncome']],
  ['balanceSheet', {}, '/stock/{s}/balance-sheet?period=quarter&last=1', ['totalAssets']],
  ['cashFlow', {}, '/stock/{s}/cash-flow?period=quarter&last=1', ['cashFlow']],
  ['dividendsBasic', {}, '/stock/{s}/dividends/ytd', 'any'],
  ['splitsBasic', {}, '/stock/{s}/splits/ytd', 'any'],
  ['upcomingEarnings', {}, '/stock/market/upcoming-earnings?symbols={s}', ['reportDate']],
  ['upcomingEvents', {}, '/stock/market/upcoming-events?symbols={s}', ['earnings', 'splits']],
  ['ipoToday', {}, '/stock/market/today-ipos', 'none'],
  ['ipoUpcoming', {}, '/stock/market/upcoming-ipos', ['rawData', 'viewData']],
  ['upcomingIPOs', {}, '/stock/market/upcoming-ipos?symbols={s}', 'none'],
  ['list', {}, '/stock/market/list/mostactive', ['symbol', 'latestPrice']],
  ['sectorPerformance', {}, '/stock/market/sector-performance', ['name', 'performance']],
  ['earningsToday', {}, '/stock/market/today-earnings', ['bto', 'amc', 'other']],
  ['iexTops', {}, '/tops?symbols={s}+', ['symbol', 'bidPrice', 'lastSalePrice']],
  ['iexLast', {}, '/last?symbols={s}+', ['symbol', 'price', 'size', 'time']],
  ['iexDeep', {}, '/deep?symbols={s}', ['symbol', 'bids', 'asks', 'trades', 'tradingStatus']],
  ['iexBook', {}, '/deep/book?symbols={s}', ['{s}']],
  ['iexTrades', {}, '/deep/trades?symbols={s}', ['{s}']],
  ['iexTradingStatus', {}, '/deep/trading-status?symbols={s}', ['{s}']],
  ['points', { key: 'QUOTE-LATESTPRICE' }, '/data-points/{s}/QUOTE-LATESTPRICE', 'number'],
  ['exchanges', {}, '/ref-data/market/us/exchanges', ['mic', 'tapeId']],
  ['internationalExchanges', {}, '/ref-data/exchanges', ['exchange', 'description']],
  ['holidays', {}, '/ref-data/us/dates/holiday/next/1', ['date']],
  ['sectors', {}, '/ref-data/sectors', ['name']],
  ['tags', {}, '/ref-data/tags', ['name']],
  ['search', { fragment: 'cor' }, '/search/cor', ['symbol', 'securityName']],
  ['symbols', {}, '/ref-data/symbols', ['symbol', 'name', 'figi']],
  ['symbolsList', {}, '/ref-data/symbols?filter=symbol', 'texts'],
  ['iexSymbols', {}, '/ref-data/iex/symbols', ['symbol', 'isEnabled']],
  ['otcSymbols', {}, '/ref-data/otc/symbols', 'none'],
  ['mutualFundSymbols', {}, '/ref-data/mutual-funds/symbols', 'none'],
  ['cryptoSymbols', {}, '/ref-data/crypto/symbols', ['symbol', 'name']],
  ['cryptoSymbolsList', {}, '/ref-data/crypto/symbols?filter=symbol', 'texts'],
  ['fxSymbols', {}, '/ref-data/fx/symbols', ['currencies', 'pairs']],
  ['cryptoQuote', { symbol: 'BTCUSD' }, '/crypto/BTCUSD/quote', ['symbol', 'latestPrice']],
  ['cryptoPrice', { symbol: 'BTCUSD' }, '/crypto/BTCUSD/price', ['price', 'symbol']],
  ['cryptoBook', { symbol: 'BTCUSD' }, '/crypto/BTCUSD/book', ['bids', 'asks']],
  ['latestFX', { symbols: 'USDCAD' }, '//fx/latest?symbols=USDCAD', ['symbol', 'rate']],
  [
    'convertFX',
    { symbols: 'USDCAD', amount: 7 },
    '//fx/convert?symbols=USDCAD&amount=7',
    ['amount'],
  ],
  [
    ...(['historicalFX', { symbols: 'USDCAD', from: '2026-01-05', to: '2026-01-30' }] as const),
    ...(['//fx/historical?symbols=USDCAD&from=2026-01-05&to=2026-01-30', 'lists'] as const),
  ],
  ['wti', {}, '/time-series/ENERGY/DCOILWTICO?calendar=false&limit=1', ['key', 'value']],
  ['tenYear', {}, '/time-series/TREASURY/DGS10?calendar=false&limit=1', ['key', 'value']],
  ['fedfunds', {}, '/time-series/ECONOMIC/FEDFUNDS?calendar=false&limit=1', ['key', 'value']],
  ['cpi', {}, '/time-series/ECONOMIC/CPIAUCSL?calendar=false&limit=1', ['key', 'value']],
  ['brent', {}, '/time-series/ENERGY/DCOILBRENTEU?calendar=false&limit=1', ['key', 'value']],
  ['gdp', {}, '/time-series/ECONOMIC/A191RL1Q225SBEA?calendar=false&limit=1', ['value']],
  ['creditcard', {}, '/time-series/RATES/TERMCBCCALLNS?calendar=false&limit=1', ['value']],
  ['us30', {}, '/time-series/MORTGAGE/MORTGAGE30US?calendar=false&limit=1', ['key', 'value']],
  ['optionExpirations', {}, '//stock/{s}/options', 'texts'],
  ['stockOptions', { expiration: '20260220' }, '/stock/{s}/options/20260220', CONTRACT],
  [
    ...(['stockOptions', { expiration: '202603', side: 'put' }] as const),
    ...(['/stock/{s}/options/202603/put', CONTRACT] as const),
  ],
  ['optionsSymbols', {}, '/ref-data/options/symbols', ['{s}']],
  ['optionsSymbolsList', {}, '/ref-data/options/symbols?filter=symbol', 'texts'],
  ['sentiment', { type: 'daily' }, '/stock/{s}/sentiment/daily/', ['sentiment', 'totalScores']],
  ['sentiment', { type: 'minute' }, '/stock/{s}/sentiment/minute/', ['sentiment', 'minute']],
  [
    ...(['sentiment', { type: 'minute', date: '20260129' }] as const),
    ...(['/stock/{s}/sentiment/minute/20260129', ['positive', 'negative', 'minute']] as const),
  ],
  ['systemStats', {}, '/stats/intraday', ['volume', 'symbolsTraded', 'notional', 'marketShare']],
  ['recent', {}, '/stats/recent', ['date', 'volume', 'routedVolume', 'litVolume', 'isHalfday']],
  ['records', {}, '/stats/records', ['volume', 'symbolsTraded', 'routedVolume', 'notional']],
  ['summary', {}, '/stats/historical', ['averageDailyVolume', 'uniqueSymbolsTraded']],
  ['summary', { date: '202511' }, '/stats/historical?date=202511', ['averageMarketShare']],
  ['daily', {}, '/stats/historical/daily', ['date', 'volume', 'marketShare']],
  ['daily', { last: 3 }, '/stats/historical/daily?last=3', ['date', 'volume']],
  ['daily', { date: '20260129' }, '/stats/historical/daily?date=20260129', ['date', 'volume']],
  ['iexHist', {}, '/hist', 'none'],
  ['iexHist', { date: '20260129' }, '/hist?date=20260129', 'none'],
  ['upcomingEvents', OF_ALL, '/stock/market/upcoming-events', ['ipos', 'dividends', 'splits']],
  ['upcomingEarnings', OF_ALL, '/stock/market/upcoming-earnings', 'any'],
  ['upcomingDividends', OF_ALL, '/stock/market/upcoming-dividends', 'any'],
  ['upcomingSplits', OF_ALL, '/stock/market/upcoming-splits', 'any'],
  [
    ...(['upcomingEvents', { exactDate: '20260210' }] as const),
    ...(['/stock/market/upcoming-events?symbols={s}?exactDate=20260210', ['dividends']] as const),
  ],
];

/** Series with names of their own: those of the synthetic exchange, and those without data. */
const SERIES: Readonly<Record<string, string>> = {
  natgas: 'ENERGY/DHHNGSP',
  heatoil: 'ENERGY/DHOILNYH',
  jet: 'ENERGY/DJFUELUSGULF',
  gasreg: 'ENERGY/GASREGCOVW',
  indpro: 'ECONOMIC/INDPRO',
  payroll: 'ECONOMIC/PAYEMS',
  unemployment: 'ECONOMIC/UNRATE',
  us15: 'MORTGAGE/MORTGAGE15US',
  us5: 'MORTGAGE/MORTGAGE5US',
  cdnj: 'RATES/MMNRNJ',
  cdj: 'RATES/MMNRJD',
  thirtyYear: 'TREASURY/DGS30',
  twentyYear: 'TREASURY/DGS20',
  sevenYear: 'TREASURY/DGS7',
  fiveYear: 'TREASURY/DGS5',
  threeYear: 'TREASURY/DGS3',
  twoYear: 'TREASURY/DGS2',
  oneYear: 'TREASURY/DGS1',
  sixMonth: 'TREASURY/DGS6MO',
  threeMonth: 'TREASURY/DGS3MO',
  oneMonth: 'TREASURY/DGS1MO',
};
const SERIES_OF_NOBODY: Readonly<Record<string, string>> = {
  diesel: 'ENERGY/GASDESW',
  gasmid: 'ENERGY/GASMIDCOVW',
  gasprm: 'ENERGY/GASPRMCOVW',
  propane: 'ENERGY/DPROPANEMBTX',
  housing: 'ECONOMIC/HOUST',
  vehicles: 'ECONOMIC/TOTALSA',
  recessionProb: 'ECONOMIC/RECPROUSM156N',
  initialClaims: 'ECONOMIC/IC4WSA',
  institutionalMoney: 'ECONOMIC/WRMFSL',
  retailMoney: 'ECONOMIC/WIMFSL',
};
const seriesRows = (series: Readonly<Record<string, string>>, shows: Shows): readonly Row[] =>
  Object.entries(series).map(([method, id]) => [
    ...([method, {}, `/time-series/${id}?calendar=false&limit=1`] as const),
    shows,
  ]);

/** States of a book, by the end of the method's name. */
const STATES: Readonly<Record<string, string>> = {
  Auction: 'auction',
  OpHaltStatus: 'op-halt-status',
  OfficialPrice: 'official-price',
  SecurityEvent: 'security-event',
  SsrStatus: 'ssr-status',
  SystemEvent: 'system-event',
  TradeBreak: 'trade-breaks',
};

const MORE_ROWS: readonly Row[] = [
  ...seriesRows(SERIES, ['id', 'key', 'value', 'date', 'updated']),
  ...seriesRows(SERIES_OF_NOBODY, 'none'),
  ...Object.entries(STATES).map(([name, path]): Row => [
    `iex${name}`,
    {},
    `/deep/${path}?symbols={s}`,
    'any',
  ]),
  ['financials', { last: 2 }, '/stock/{s}/financials?period=quarter&last=2', ['totalAssets']],
  ['estimates', {}, '/stock/{s}/estimates?period=quarter&last=1', ['symbol', 'estimates']],
  ['marketVolume', {}, '/market/', ['mic', 'volume', 'marketPercent']],
  ['marketYesterday', {}, '/stock/market/previous', ['{s}']],
  [
    ...(['collections', { tag: 'sector', collectionName: 'Technology' }] as const),
    ...(['/stock/market/collection/sector?collectionName=Technology', 'any'] as const),
  ],
  ['isinLookup', { isin: 'NONE' }, '/ref-data/isin?isin=NONE', 'none'],
  ['ricLookup', { ric: 'NONE' }, '/ref-data/ric?ric=NONE', 'none'],
  ['internationalSymbols', {}, '/ref-data/region/us/symbols', ['symbol', 'exchange', 'name']],
  ['internationalSymbolsList', {}, '/ref-data/region/us/symbols?filter=symbol', 'texts'],
  ['otcSymbolsList', {}, '/ref-data/otc/symbols?filter=symbol', 'none'],
  ['mutualFundSymbolsList', {}, '/ref-data/mutual-funds/symbols?filter=symbol', 'none'],
  ['fxSymbolsList', {}, '/ref-data/fx/symbols', 'lists'],
  ['iexSymbolsList', {}, '/ref-data/iex/symbols?filter=symbol', 'texts'],
];

for (const [method, options, path, shows] of [...ROWS, ...MORE_ROWS]) {
  test(`${method} requests ${path}`, async () => {
    const [symbol = ''] = symbols;
    const clientMethod = client[method];
    assert.ok(clientMethod !== undefined, method);
    const answer = await clientMethod.call(client, { symbol, symbols: symbol, ...options });
    const { path: was, status, text } = recorder.last();
    const named = (name: string): string => name.replace('{s}', symbol);
    expect([status, decodeURIComponent(was)]).toEqual([200, `/v1${named(path)}`]);
    const first: unknown = Array.isArray(answer) ? (answer as readonly unknown[])[0] : answer;
    if (shows === 'none') expect(text).toMatch(/^(\{.*:\[\]\}|\{\}|\[\]|\{"rawData.*)$/);
    else if (shows === 'number') expect(Number(answer)).toBeGreaterThan(0);
    else if (shows === 'texts') expect(typeof first).toBe('string');
    else if (shows === 'lists') expect(Array.isArray(first)).toBe(true);
    else if (shows !== 'any') {
      for (const member of shows) expect(first).toHaveProperty([named(member)]);
    }
  });
}

type Members = Readonly<Record<string, number> & { id: string; side: string; symbol: string }>;

async function callClient<T = readonly Members[]>(
  method: string,
  ...options: Options[]
): Promise<T> {
  const call: unknown = client[method];
  assert.ok(typeof call === 'function', method);
  return (await Reflect.apply(call, client, options)) as T;
}

test('an option chain agrees with its share, its names and its days', async () => {
  const [symbol = ''] = symbols;
  const chain = await callClient('stockOptions', { symbol, expiration: '20260417' });
  const [calls, puts] = ['call', 'put'].map((side) => chain.filter((one) => one.side === side));
  expect([calls?.length, puts?.length]).toEqual([11, 11]);
  const price = await callClient<number>('price', { symbol });
  // 77 days at 3 % a year.
  const worth = Math.exp((-0.03 * 77) / 365);
  for (const [at, call] of (calls ?? []).entries()) {
    const strike = call['strikePrice'] ?? 0;
    const parity = (call['closingPrice'] ?? 0) - (puts?.[at]?.['closingPrice'] ?? 0);
    expect(Math.abs(parity - (price - strike * worth))).toBeLessThan(0.011);
  }
  const named = { underlyingSymbol: symbol, expiration: '20260417' };
  expect(await callClient<unknown>('optionsSymbolsList', named)).toEqual(chain.map(({ id }) => id));
  const [{ id: contract } = { id: '' }] = chain;
  const [day] = await callClient('options', { contract }, {});
  expect(day?.['closingPrice']).toBe(chain[0]?.['closingPrice']);
  const expired = { underlyingSymbol: symbol, includeExpired: true };
  expect((await callClient('optionsSymbols', expired)).length).toBe(4 * 22);
});

test('sentiment by minute agrees with that of the day', async () => {
  const [symbol = ''] = symbols;
  const minutes = await callClient('sentiment', { symbol, type: 'minute', date: '20260129' });
  const day = await callClient<Members>('sentiment', { symbol, type: 'daily', date: '20260129' });
  const sum = minutes.reduce((all, one) => all + (one['totalScores'] ?? 0), 0);
  expect([sum, sum > 0]).toEqual([day['totalScores'], true]);
});

test('the statistics of the exchange are the sums of its symbols', async () => {
  const [newest, before] = await callClient('daily', { last: 2 });
  const previous = await callClient<Readonly<Record<string, Members>>>('marketPrevious', {});
  const sum = Object.values(previous).reduce((all, one) => all + (one['volume'] ?? 0), 0);
  expect(before?.['volume']).toBe(sum);
  // The session is over: its trades are those of the day.
  const intraday = await callClient<Readonly<Record<string, Members>>>('systemStats', {});
  expect(intraday['volume']?.['value']).toBe(newest?.['volume']);
  const records = await callClient<Readonly<Record<string, Members>>>('records', {});
  expect(records['volume']?.['previousDayValue']).toBe(newest?.['volume']);
  const [recent] = await callClient('recent', {});
  expect({ ...recent, isHalfday: 0 }).toEqual(newest);
});

test('upcoming events equal the upcoming events of each kind', async () => {
  const events = await callClient<Readonly<Record<string, readonly Members[]>>>(
    'upcomingEvents',
    {},
  );
  expect(events['dividends']).toEqual(await callClient('upcomingDividends', {}));
  expect(events['splits']).toEqual(await callClient('upcomingSplits', {}));
});
