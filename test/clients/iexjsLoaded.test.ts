// The official JavaScript client, unmodified, on data that owners load: it returns the record of each input
// that the page of inputs shows.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INPUTS } from '../../market/inputs/inputs.ts';
import type { Input } from '../../market/inputs/inputRow.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { type Client, iexjs } from './iexjs.ts';
import { recorded, type Recorder } from './recorder.ts';

/** Before the days of examples that are still to come. */
const NOW_MS = Date.parse('2026-02-02T22:00:00Z');

type Options = Readonly<Record<string, unknown>>;
type Methods = Readonly<Record<string, ((...options: Options[]) => Promise<unknown>) | undefined>>;
type Row = readonly [method: string, options: Options, path: string, input: string];

const SERIES = '?calendar=false&limit=1';
const S = { symbol: 'MSFT' };

const ROWS: readonly Row[] = [
  ['financials', S, '/stock/MSFT/financials?period=quarter&last=1', 'FINANCIALS'],
  ['fundamentals', S, '/stock/MSFT/fundamentals?period=quarter', 'FUNDAMENTALS'],
  [
    ...(['fundamentalValuations', { ...S, frequency: 'quarterly' }] as const),
    ...([
      `/time-series/fundamental_valuations/MSFT/quarterly${SERIES}`,
      'FUNDAMENTAL_VALUATIONS',
    ] as const),
  ],
  ['tenK', S, `/time-series/REPORTED_FINANCIALS/MSFT/10-K${SERIES}`, 'REPORTED_FINANCIALS'],
  ['ceoCompensation', S, '/stock/MSFT/ceo-compensation/', 'CEO_COMPENSATION'],
  ['shortInterest', S, '/stock/MSFT/short-interest', 'SHORT_INTEREST'],
  [
    ...(['shortInterest', { ...S, date: '20260130' }] as const),
    ...(['/stock/MSFT/short-interest/20260130', 'SHORT_INTEREST'] as const),
  ],
  ['marketShortInterest', {}, '/stock/market/short-interest', 'SHORT_INTEREST'],
  [
    ...(['marketShortInterest', { date: '20260130' }] as const),
    ...(['/stock/market/short-interest/20260130', 'SHORT_INTEREST'] as const),
  ],
  ['iexThreshold', {}, '/stock/market/threshold-securities', 'THRESHOLD_SECURITIES'],
  ['dividends', S, `/time-series/advanced_dividends/MSFT${SERIES}`, 'ADVANCED_DIVIDENDS'],
  ['splits', S, `/time-series/advanced_splits/MSFT${SERIES}`, 'ADVANCED_SPLITS'],
  ['bonusIssue', S, `/time-series/advanced_bonus/MSFT${SERIES}`, 'ADVANCED_BONUS'],
  ['distribution', S, `/time-series/advanced_distribution/MSFT${SERIES}`, 'ADVANCED_DISTRIBUTION'],
  [
    ...(['returnOfCapital', S, `/time-series/advanced_return_of_capital/MSFT${SERIES}`] as const),
    'ADVANCED_RETURN_OF_CAPITAL',
  ],
  ['rightsIssue', S, `/time-series/advanced_rights/MSFT${SERIES}`, 'ADVANCED_RIGHTS'],
  [
    ...(['rightToPurchase', S, `/time-series/advanced_right_to_purchase/MSFT${SERIES}`] as const),
    'ADVANCED_RIGHT_TO_PURCHASE',
  ],
  [
    ...(['securityReclassification', S] as const),
    `/time-series/advanced_security_reclassification/MSFT${SERIES}`,
    'ADVANCED_SECURITY_RECLASSIFICATION',
  ],
  [
    'securitySwap',
    S,
    `/time-series/advanced_security_swap/MSFT${SERIES}`,
    'ADVANCED_SECURITY_SWAP',
  ],
  ['spinoff', S, `/time-series/advanced_spinoff/MSFT${SERIES}`, 'ADVANCED_SPINOFF'],
  ['dividendsForecast', S, `/time-series/dividends_forecast/MSFT${SERIES}`, 'DIVIDENDS_FORECAST'],
  ['futuresSymbols', {}, '/ref-data/futures/symbols', 'FUTURES'],
  [
    ...(['futuresSymbols', { underlyingSymbol: 'NG', includeExpired: true }] as const),
    ...(['/ref-data/futures/symbols/NG?includeExpired=true', 'FUTURES'] as const),
  ],
  ['futures', { contract: 'NGH26' }, `/futures/NGH26/chart${SERIES}`, 'FUTURES_PRICES'],
  ['estimates', S, '/stock/MSFT/estimates?period=quarter&last=1', 'ESTIMATES'],
  ['news', S, '/stock/MSFT/news/last/10', 'NEWS'],
  ['marketNews', {}, '/stock/market/news/last/10', 'NEWS'],
  ['logo', S, '/stock/MSFT/logo', 'LOGO'],
  ['priceTarget', S, '/stock/MSFT/price-target', 'PRICE_TARGET'],
  ['analystRecommendations', S, '/stock/MSFT/recommendation-trends', 'RECOMMENDATION_TRENDS'],
  ['fundOwnership', S, '/stock/MSFT/fund-ownership', 'FUND_OWNERSHIP'],
  ['institutionalOwnership', S, '/stock/MSFT/institutional-ownership', 'INSTITUTIONAL_OWNERSHIP'],
  ['insiderRoster', S, '/stock/MSFT/insider-roster', 'INSIDER_ROSTER'],
  ['insiderSummary', S, '/stock/MSFT/insider-summary', 'INSIDER_SUMMARY'],
  ['insiderTransactions', S, '/stock/MSFT/insider-transactions', 'INSIDER_TRANSACTIONS'],
  ['upcomingEarnings', S, '/stock/market/upcoming-earnings?symbols=MSFT', 'EARNINGS_CALENDAR'],
  ['upcomingIPOs', S, '/stock/market/upcoming-ipos?symbols=MSFT', 'IPOS'],
];

const inputs: ReadonlyMap<string, Input> = new Map(INPUTS.map((input) => [input.id, input]));
let server: TestServer;
let recorder: Recorder;
let client: Client & Methods;

/** One record, as the page of inputs shows it. */
const exampleOf = ({ properties }: Input): Options =>
  Object.fromEntries(properties.map(({ example, name }) => [name, example]));

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS } });
  const headers = { authorization: `Bearer ${server.secret}` };
  for (const id of new Set(ROWS.map(([, , , input]) => input))) {
    const input = inputs.get(id);
    assert.ok(input !== undefined, id);
    const body = JSON.stringify([exampleOf(input)]);
    const path = `/data/CORE/${id}?wait=true`;
    const answer = await fetch(`${server.base}/v1${path}`, { method: 'POST', body, headers });
    assert.equal(answer.status, 200, `${id}: ${await answer.text()}`);
  }
  recorder = await recorded(server.base);
  iexjs.overrideUrl({ url: `${recorder.base}/v1/` });
  client = new iexjs.Client({ api_token: server.publishable, version: 'v1' }) as Client & Methods;
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await recorder[Symbol.asyncDispose]();
  await server.close();
});

/** A record, with the members beside its array. */
const toRecord = (answer: unknown): Options => {
  const { estimates, ...beside } = answer as Options;
  const list = estimates ?? answer;
  const record = (Array.isArray(list) ? (list as readonly unknown[])[0] : list) as Options;
  if (estimates === undefined) return record;
  assert.ok(!Object.keys(beside).some((name) => Object.hasOwn(record, name)), 'a duplicate name');
  return { ...beside, ...record };
};

for (const [method, options, path, id] of ROWS) {
  test(`${method} of ${JSON.stringify(options)} equals the record of ${id}`, async () => {
    const clientMethod = client[method];
    assert.ok(clientMethod !== undefined, method);
    const answer = toRecord(await clientMethod.call(client, options, {}));
    const { path: was, status } = recorder.last();
    expect([status, decodeURIComponent(was)]).toEqual([200, `/v1${path}`]);
    const input = inputs.get(id);
    assert.ok(input !== undefined);
    const isSeries = path.includes('calendar=');
    for (const { example, name, type } of input.properties) {
      // A time series has its own names for the date, and returns empty values as null.
      if ((isSeries && type === 'date') || example === '') continue;
      const expected = type === 'instant' ? Date.parse(String(example)) : example;
      expect([name, answer[name]]).toEqual([name, expected]);
    }
  });
}

test('an input without data is empty, and an unknown one is not found', async () => {
  const ask = (path: string) =>
    fetch(`${server.base}/v1${path}?token=${server.publishable}`).then(async (answer) => ({
      status: answer.status,
      used: answer.headers.get('svccloud-messages-used'),
      text: await answer.text(),
    }));
  for (const id of ['HISTORICAL_PRICES', 'core.income', 'trades']) {
    const { status, text, used } = await ask(`/time-series/${id}/MSFT`);
    expect([status, text, used]).toEqual([200, '[]', '0']);
  }
  expect((await ask('/time-series/NOTHING/MSFT')).status).toBe(404);
  expect((await ask('/futures/NGH27/chart')).text).toBe('[]');
  expect((await ask('/stock/MSFT/short-interest/20260129')).text).toBe('[]');
  expect((await ask('/stock/MSFT/short-interest/someday')).status).toBe(400);
  expect((await ask('/stock/NOBODY/short-interest')).status).toBe(404);
});

test('queryMetadata lists the series, and those with a key', async () => {
  const ids = async (options: Options) =>
    ((await client['queryMetadata']?.(options, {})) as readonly { readonly id: string }[]).map(
      ({ id }) => id,
    );
  const all = await ids({});
  expect(all.length).toBe(new Set(ROWS.map(([, , , input]) => input)).size);
  expect(await ids({ id: 'LOGO' })).toEqual(['LOGO']);
  expect(await ids({ id: 'NOTHING' })).toEqual([]);
  expect(await ids({ key: 'NGH26' })).toEqual(['FUTURES', 'FUTURES_PRICES']);
  expect(await ids({ id: 'REPORTED_FINANCIALS', key: 'MSFT', subkey: '10-K' })).toHaveLength(1);
  expect(await ids({ id: 'REPORTED_FINANCIALS', key: 'MSFT', subkey: '10-Q' })).toEqual([]);
});
