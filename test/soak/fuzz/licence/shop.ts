// A shop of licensed data: the operator's datasets in CORE, and a customer with its own tables, views and
// published queries over them. Every value is derived from the seed, so that two shops differ only in the
// given change.
import assert from 'node:assert/strict';
import { createWorkspace } from '../../../../store/lake/datasetEdits.ts';
import { seeded } from '../../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

const SYMBOLS = ['AA', 'BB', 'CC', 'DD', 'EE', 'FF', 'GG', 'HH'] as const;
const DAYS = Array.from({ length: 12 }, (_, at) => `2024-01-${String(at + 2).padStart(2, '0')}`);
/** Messages for a record, by dataset. */
export const WEIGHTS = { BARS: 3, RATINGS: 7, PREMIUM: 5, OPEN: 2, HISTORICAL_PRICES: 2 } as const;

/** The clock of all shops, so that two of them differ only in their values. */
const NOW_MS = Date.parse('2024-01-20T17:00:00Z');
/** Rows of the customer's table NUMS: n from 0. */
const NUMS = 300;

export interface Bar {
  readonly symbol: string;
  readonly date: string;
  readonly close: number;
  readonly volume: number;
  readonly note: string;
  readonly up: boolean;
}

export interface Shop extends AsyncDisposable {
  readonly server: TestServer;
  readonly bars: readonly Bar[];
  /** The customer's token. */
  readonly token: string;
  readonly secret: string;
}

interface Change {
  /** Index of the record of BARS that has other values. */
  readonly record: number;
  readonly values: Partial<Bar>;
}

/** Symbols and days. */
const WHOLE: readonly [symbols: number, days: number] = [SYMBOLS.length, DAYS.length];

/** Bars in order of symbol and date, with random closes. */
export function barsOf(seed: number, change?: Change, size = WHOLE): readonly Bar[] {
  const random = seeded(seed);
  const bars = SYMBOLS.slice(0, size[0]).flatMap((symbol) =>
    DAYS.slice(0, size[1]).map((date) => {
      // Quarters add up to the same sum in any order, so that the order of a sum reveals nothing.
      const cents = 25 * random.between(40, 3_600);
      const [volume, up] = [random.between(1, 9_999), random.chance(0.5)];
      return { symbol, date, close: cents / 100, volume, note: `note ${cents}`, up };
    }),
  );
  return bars.map((bar, at) => (at === change?.record ? { ...bar, ...change.values } : bar));
}

const NUMBER = { type: 'number' };
const INTEGER = { type: 'integer' };
const TEXT = { type: 'string' };
const DATE = { type: 'string', format: 'date' };
const BAR = {
  symbol: TEXT,
  date: DATE,
  close: NUMBER,
  volume: INTEGER,
  note: TEXT,
  up: { type: 'boolean' },
};

export async function openShop(
  seed: number,
  change?: Change,
  settings: Readonly<Record<string, string>> = {},
  size = WHOLE,
): Promise<Shop> {
  const seams = { watch: false, clock: () => NOW_MS };
  const server = await startServer({ seams, settings });
  const { accounts, lake } = server.tapedeck.services;
  const bars = barsOf(seed, change, size);
  await send(server, server.secret, 'POST', '/workspaces', { name: 'CORE' });
  const createDataset = (name: keyof typeof WEIGHTS, access: object): Promise<void> =>
    fill(server, server.secret, 'CORE', name, BAR, bars, {
      weight: WEIGHTS[name],
      access,
      columnMapping: {
        key: 'symbol',
        date: 'date',
      },
    });
  await createDataset('BARS', { level: 'open' });
  await createDataset('PREMIUM', { level: 'premium' });
  await createDataset('HISTORICAL_PRICES', { level: 'open' });
  await createDataset('OPEN', { level: 'open', sqlPrice: 'answer' });
  const ratings = SYMBOLS.map((symbol, at) => ({
    symbol,
    stars: (bars[at * size[1]]?.volume ?? 0) % 5,
  }));
  const keyed = { weight: WEIGHTS.RATINGS, columnMapping: { key: 'symbol' } };
  await fill(
    server,
    server.secret,
    'CORE',
    'RATINGS',
    { symbol: TEXT, stars: INTEGER },
    ratings,
    keyed,
  );
  const plain = 'SELECT symbol, date, close, note FROM BARS';
  await send(server, server.secret, 'POST', '/views/CORE/PLAIN', { view: { query: plain } });
  const customer = await accounts.createAccount('customer', 'scale');
  await accounts.changeAccount(customer, { premiumMessages: 1_000_000_000 });
  await createWorkspace(lake, 'SHOP', customer, 0);
  const secret = (await accounts.createToken(customer, 'secret')).text;
  await fillCustomer(server, secret);
  return {
    server,
    bars,
    secret,
    token: secret,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function fillCustomer(server: TestServer, secret: string): Promise<void> {
  const createDataset = (
    name: string,
    properties: object,
    rows: readonly object[],
  ): Promise<void> => fill(server, secret, 'SHOP', name, properties, rows, { weight: 0 });
  await createDataset(
    'NUMS',
    { n: INTEGER },
    Array.from({ length: NUMS }, (_, n) => ({ n })),
  );
  await createDataset(
    'KEYS',
    { symbol: TEXT, date: DATE },
    SYMBOLS.slice(0, 3).flatMap((symbol) => DAYS.slice(0, 4).map((date) => ({ symbol, date }))),
  );
  const view = (name: string, query: string): Promise<string> =>
    send(server, secret, 'POST', `/views/SHOP/${name}`, { view: { query } });
  await view('MINE', 'SELECT symbol, date, close, note, volume FROM CORE.BARS');
  await view('NESTED', 'SELECT symbol, date, close * 2 AS twice, note FROM MINE');
  await view(
    'MEANS',
    'SELECT symbol, avg(close) AS mean, count(*) AS n FROM CORE.BARS GROUP BY symbol',
  );
  await view(
    'PACKED',
    "SELECT symbol, string_agg(note, '|') AS notes FROM CORE.BARS GROUP BY symbol",
  );
  const endpoint = {
    query: 'SELECT date, close FROM CORE.BARS WHERE symbol = :symbol AND close > :least',
    parameters: [
      { name: 'symbol', type: 'string' },
      { name: 'least', type: 'number', default: 0 },
    ],
    weight: 0,
  };
  await send(server, secret, 'POST', '/endpoints/SHOP/ABOVE', { endpoint });
}

async function fill(
  server: TestServer,
  token: string,
  workspace: string,
  datasetId: string,
  properties: object,
  rows: readonly object[],
  more: object,
): Promise<void> {
  const dataset = { datasetId, schema: { properties }, ...more };
  await send(server, token, 'POST', `/datasets/${workspace}`, { dataset });
  await send(server, token, 'POST', `/data/${workspace}/${datasetId}?wait=true`, rows);
}

async function send(
  { base }: TestServer,
  token: string,
  method: string,
  path: string,
  value: object,
): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  const init = { method, headers, body: JSON.stringify(value) };
  const answer = await fetch(`${base}/v1${path}`, init);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${method} ${path}: ${text}`);
  return text;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
  /** Messages of both kinds. */
  readonly used: number;
}

/** Sends a request as the customer, below /v1. */
export async function ask(
  { server, token }: Shop,
  path: string,
  init: RequestInit = {},
): Promise<Answer> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.base}/v1${path}`, { ...init, headers });
  const body = await answer.text();
  const count = (name: string): number => Number(answer.headers.get(`svccloud-${name}-used`) ?? 0);
  const used = count('messages') + count('premium-messages');
  return { status: answer.status, body, headers: answer.headers, used };
}

/** Sends an SQL query as the customer, in workspace SHOP. */
export const askSql = (shop: Shop, sql: string, query = ''): Promise<Answer> =>
  ask(shop, `/sql-query/SHOP${query}`, { method: 'POST', body: sql });
