// The market types of the typed client against the answers of the synthetic exchange: each attribute has its
// type, and no other attribute exists.
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import { TapedeckClient } from '../../../client/client.ts';
import type { Dividend, MarketTypes, Quote, StockAnswer } from '../../../client/market.ts';
import type {
  AdvancedStats,
  CloseBar,
  DayBar,
  DynamicDays,
  DynamicMinutes,
  EarningsRecord,
  FxRate,
  MinuteBar,
  MinuteIndicator,
  Nothing,
  OptionContract,
  Tops,
} from '../../../client/operations.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { CLIENT, compiled } from './compiled.ts';

/** Friday evening in New York: the session is over. */
const NOW_MS = Date.parse('2026-01-30T22:00:00Z');
const SMALL = { symbols: 2, years: 1, minuteDays: 2 } as const;

let server: TestServer;
let client: TapedeckClient;
let symbol = '';

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS, exchange: SMALL } });
  await server.tapedeck.exchange?.filled();
  client = new TapedeckClient({ base: server.base, token: server.publishable });
  const [first] = (await client.call('getRefDataSymbols', {})).value;
  symbol = first?.symbol ?? '';
});
afterAll(() => server.close());

test('an attribute of a quote has its type, and a wrong one is refused', async () => {
  const quote = await client.stock(symbol, 'quote');
  expectTypeOf(quote).toEqualTypeOf<Quote | Nothing>();
  expectTypeOf<Quote['latestPrice']>().toEqualTypeOf<number | null>();
  expectTypeOf<Quote['latestSource']>().toEqualTypeOf<string | null>();
  expectTypeOf<Quote['isUSMarketOpen']>().toEqualTypeOf<boolean | null>();
  expectTypeOf(quote.latestPrice).toEqualTypeOf<number | null | undefined>();
  expectTypeOf<Quote>().not.toHaveProperty('lastPrice');
  expect(quote.latestPrice).toBeGreaterThan(0);
  const { value } = await client.call('getQuote', { path: { symbol } });
  expectTypeOf(value).toEqualTypeOf<Quote | Nothing>();
  expect(value).toEqual(quote);
});

/** A program beside the package: its first lines are right, and each of these is wrong. */
const RIGHT = `
import { TapedeckClient } from '${CLIENT}';
const client = new TapedeckClient({ base: '', token: '' });
const quote = await client.stock('AAPL', 'quote');
const batch = await client.batch(['AAPL'], ['quote', 'company'], {});
const price: number | null | undefined = quote.latestPrice ?? batch['AAPL']?.quote?.close;
`;
const WRONG: readonly (readonly [string, string])[] = [
  ['quote.lastPrice', "Property 'lastPrice' does not exist"],
  ['const text: string = quote.symbol ?? 0', "not assignable to type 'string'"],
  ["batch['AAPL']?.news", "Property 'news' does not exist"],
  ["batch['AAPL']?.company?.ceo", "Property 'ceo' does not exist"],
  ["await client.call('getQuote', { path: { ticker: 'AAPL' } })", "'ticker' does not exist"],
];

test('a wrong attribute is an error of the compiler', async () => {
  await compiled(RIGHT);
  const lines = WRONG.map(([line]) => `${line};`).join('\n');
  const errors = await compiled(`${RIGHT}${lines}\n`).then(
    () => [],
    (error: unknown) => (error as { readonly stdout: string }).stdout.trim().split('\n'),
  );
  const programErrors = errors.filter((line) => line.startsWith('program.ts'));
  expect(programErrors).toEqual(WRONG.map(([, error]) => expect.stringContaining(error)));
});

test('one attribute alone has the type of the attribute', async () => {
  const price = await client.stock(symbol, 'quote', { part: 'latestPrice' });
  expectTypeOf(price).toEqualTypeOf<number | null>();
  expect(price).toBeGreaterThan(0);
  const path = { symbol, attribute: 'latestPrice' } as const;
  expect((await client.call('getQuoteAttribute', { path })).value).toBe(price);
  type CallParameters = Parameters<typeof client.call<'getQuoteAttribute'>>[1]['path'];
  expectTypeOf<{ symbol: string; attribute: 'lastPrice' }>().not.toExtend<CallParameters>();
});

test('a chart has days or minutes, by its range', async () => {
  const days = await client.stock(symbol, 'chart', { range: '3m' });
  expectTypeOf(days).toEqualTypeOf<readonly DayBar[]>();
  const minutes = await client.stock(symbol, 'chart', { range: '1d', chartLast: 5 });
  expectTypeOf(minutes).toEqualTypeOf<readonly MinuteBar[]>();
  const closes = await client.stock(symbol, 'chart', { chartCloseOnly: true });
  expectTypeOf(closes).toEqualTypeOf<readonly CloseBar[]>();
  const dynamic = await client.stock(symbol, 'chart', { part: 'dynamic' });
  expectTypeOf(dynamic).toEqualTypeOf<DynamicDays | DynamicMinutes>();
  expect([days[0]?.uClose, minutes[0]?.minute, closes[0]?.change, dynamic.range]).toEqual([
    expect.any(Number),
    '15:55',
    expect.any(Number),
    '1m',
  ]);
  expectTypeOf<(typeof days)[number]>().not.toHaveProperty('minute');
});

test('a value that is not a literal may have any of the shapes', () => {
  type Chart<Q> = StockAnswer<'chart', Q>;
  expectTypeOf<Chart<{ range: string }>>().toEqualTypeOf<MarketTypes['chart']>();
  expectTypeOf<Chart<{ part: 'date' }>>().toEqualTypeOf<MarketTypes['chart']>();
  expectTypeOf<Chart<{ exactDate: string }>>().toEqualTypeOf<MarketTypes['chart']>();
  expectTypeOf<Chart<{ chartCloseOnly: boolean }>>().toEqualTypeOf<
    readonly CloseBar[] | readonly DayBar[]
  >();
  expectTypeOf<StockAnswer<'quote', { part: string }>>().toEqualTypeOf<Quote[keyof Quote]>();
  expectTypeOf<StockAnswer<'quote', { part: 'lastPrice' }>>().toBeNever();
  expectTypeOf<StockAnswer<'dividends', { part: 'next' }>>().toEqualTypeOf<Dividend | Nothing>();
  expectTypeOf<StockAnswer<'dividends', { part: '1y' }>>().toEqualTypeOf<readonly Dividend[]>();
  expectTypeOf<StockAnswer<'indicator', { part: 'sma'; range: '1d' }>>().toEqualTypeOf<
    MinuteIndicator | Nothing
  >();
  expectTypeOf<StockAnswer<'of another server', object>>().toBeUnknown();
});

test('a batch is a map by symbol of the requested types', async () => {
  const answers = await client.batch([symbol], ['advanced-stats', 'earnings', 'chart'], {
    range: '1m',
  });
  const own = answers[symbol];
  expectTypeOf(own?.['advanced-stats']).toEqualTypeOf<AdvancedStats | Nothing | undefined>();
  expectTypeOf(own?.chart).toEqualTypeOf<readonly DayBar[] | undefined>();
  expectTypeOf(own?.earnings?.earnings).toEqualTypeOf<readonly EarningsRecord[] | undefined>();
  expectTypeOf<NonNullable<typeof own>>().not.toHaveProperty('quote');
  expect(Object.keys(own ?? {})).toEqual(['advanced-stats', 'earnings', 'chart']);
  expect(own?.earnings?.earnings?.[0]?.fiscalPeriod).toBe('Q4 2025');
});

test('a filter leaves attributes out, in the type as in the answer', async () => {
  const some = await client.stock(symbol, 'company', { filter: ['symbol', 'sector'] });
  expectTypeOf(some.symbol).toEqualTypeOf<string | undefined>();
  expect(Object.keys(some)).toEqual(['symbol', 'sector']);
});

test('contracts, rates and states are typed like the rest', async () => {
  const days = await client.stock(symbol, 'options');
  expectTypeOf(days).toEqualTypeOf<readonly string[]>();
  const contracts = await client.stock(symbol, 'options', { part: days[0] ?? '' });
  expectTypeOf(contracts).toEqualTypeOf<readonly OptionContract[]>();
  expect(contracts[0]?.strikePrice).toBeGreaterThan(0);
  const rates = await client.call('getFxLatest', { query: { symbols: ['USDCAD'] } });
  expectTypeOf(rates.value).toEqualTypeOf<readonly FxRate[]>();
  expect(rates.value[0]?.symbol).toBe('USDCAD');
  const tops = await client.call('streamTops', { query: { symbols: [symbol] } });
  expectTypeOf(tops.value).toEqualTypeOf<readonly Tops[]>();
  const other: unknown = await client.stock(symbol, 'ceo-compensation');
  expect(other).toEqual({});
  // No records were loaded, for any symbol.
  const next = await client.stock(symbol, 'splits', { part: 'next' });
  expect([next, await client.stock(symbol, 'splits')]).toEqual([{}, []]);
});
