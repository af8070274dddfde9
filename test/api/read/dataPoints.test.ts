// Every data point equals the field of its endpoint, at the listed price.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../../base/server.ts';

/** Thursday, 29 February 2024, noon in New York. */
const NOW_MS = Date.parse('2024-02-29T17:00:00Z');
const SYMBOLS = Array.from({ length: 12 }, (_, at) => `S${at}`);

let server: TestServer;

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(path: string, body?: string): Promise<Answered> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const sent = body === undefined ? {} : { method: 'POST', body };
  const answer = await fetch(`${server.base}/v1${path}`, { headers, ...sent });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS } });
  const rowsOf = (row: (symbol: string, at: number) => readonly string[]): string =>
    SYMBOLS.flatMap(row).join('\n');
  const core = (dataset: string, csv: string, query = ''): Promise<unknown> =>
    ask(`/data/CORE/${dataset}?wait=true${query}`, csv).then(({ status, text }) =>
      assert.equal(status, 200, text),
    );
  const days = ['26', '27', '28', '29'];
  await core(
    'HISTORICAL_PRICES',
    `symbol,date,open,high,low,close,volume\n${rowsOf((symbol, at) =>
      days.map(
        (day, n) => `${symbol},2024-02-${day},${10 + at},${12 + n},9,${10 + at + n},${100 + n}`,
      ),
    )}\n`,
  );
  await core(
    'COMPANY',
    `symbol,companyName,sector,tags,sharesOutstanding\n${rowsOf((symbol, at) => [
      `${symbol},"Company ""${at}""",${at % 2 === 0 ? 'Technology' : ''},,${1_000 + at}`,
    ])}\n`,
  );
  await core(
    'BALANCE_SHEET',
    `symbol,period,reportDate,totalAssets,netIncome\n${rowsOf((symbol, at) => [
      `${symbol},quarterly,2023-11-01,${at},1`,
      `${symbol},quarterly,2024-02-01,${at * 7},2`,
      `${symbol},annual,2024-02-02,${at * 9},3`,
    ])}\n`,
    '&key=symbol&subkey=period&date=reportDate',
  );
  await core(
    'CASH_FLOW',
    `symbol,reportDate,netIncome,cashFlow\n${rowsOf((symbol, at) => [
      `${symbol},2024-02-01,${at},${-at}`,
    ])}\n`,
    '&key=symbol&date=reportDate',
  );
  await core(
    'DIVIDENDS',
    'symbol,exDate,refid,amount\nS0,2024-02-01,1,0.5\nS0,2024-05-01,2,0.75\nS1,2023-01-05,3,0.1\n',
  );
  await core(
    'PRICE_TARGET',
    'symbol,updatedDate,priceTargetAverage,priceTargetHigh,priceTargetLow\nS0,2024-01-01,20,30,10\n',
    '&key=symbol&date=updatedDate',
  );
});
afterAll(() => server.close());

interface Listed {
  readonly key: string;
  readonly weight: number;
  readonly description: string;
  readonly lastUpdated: string;
}

type Record_ = Readonly<Record<string, unknown>>;

async function jsonAt(path: string): Promise<Record_> {
  const { status, text } = await ask(path);
  assert.equal(status, 200, `${path}: ${text}`);
  return JSON.parse(text) as Record_;
}

const textOf = (value: unknown): string => {
  const isEmpty =
    value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  if (isEmpty) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The expected points of a symbol, by the endpoints that they derive from. */
async function expectedOf(symbol: string): Promise<ReadonlyMap<string, string>> {
  const points = new Map<string, string>();
  const all = (prefix: string, record: Record_): void => {
    for (const [name, value] of Object.entries(record)) {
      const bare = `${prefix}${name.toUpperCase()}`;
      if (!points.has(bare)) points.set(bare, textOf(value));
    }
  };
  all('QUOTE-', await jsonAt(`/stock/${symbol}/quote`));
  all('', await jsonAt(`/stock/${symbol}/stats`));
  const { symbol: _, ...company } = await jsonAt(`/stock/${symbol}/company`);
  all('COMPANY-', company);
  const statement = async (type: string, within: string): Promise<Record_> => {
    const answer = await jsonAt(`/stock/${symbol}/${type}`);
    const [{ symbol: _own, period: _period, ...rest } = {}] = answer[within] as readonly Record_[];
    return rest;
  };
  all('', await statement('balance-sheet', 'balancesheet'));
  const cash = await statement('cash-flow', 'cashflow');
  for (const [name, value] of Object.entries(cash)) {
    const bare = name.toUpperCase();
    points.set(points.has(bare) ? `CASH-FLOW-${bare}` : bare, textOf(value));
  }
  return points;
}

test('the points of each symbol are the attributes of its endpoints, at the listed price', async () => {
  let compared = 0;
  for (const symbol of SYMBOLS) {
    const expected = await expectedOf(symbol);
    const listed = (await jsonAt(`/data-points/${symbol}`)) as unknown as readonly Listed[];
    const keys = listed.filter(({ weight }) => weight > 0).map(({ key }) => key);
    const others = keys.filter((key) => !expected.has(key));
    assert.ok(
      others.every((key) => /^(LAST-DIVIDEND|PRICE-TARGET|PERIOD$)/.test(key)),
      others.join(),
    );
    assert.deepEqual(
      [...expected.keys()].filter((key) => !keys.includes(key)),
      [],
    );
    for (const { key, lastUpdated, weight } of listed) {
      assert.match(lastUpdated, /^2024-02-29T17:00:0\d\+00:00$/);
      const { headers, status, text } = await ask(`/data-points/${symbol}/${key}`);
      assert.equal(status, 200, text);
      assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
      if (expected.has(key)) assert.equal(text, expected.get(key), `${symbol} ${key}`);
      // An attribute without a value still belongs to a record.
      assert.equal(Number(headers.get('svccloud-messages-used')), weight, `${symbol} ${key}`);
      compared += 1;
    }
  }
  assert.ok(compared > 1_000, String(compared));
});

test('the last past value of data with future days; and the names for old clients', async () => {
  const valueOf = async (path: string): Promise<string> => (await ask(`/data-points/${path}`)).text;
  assert.equal(await valueOf('S0/LAST-DIVIDEND-AMOUNT'), '0.5');
  assert.equal(await valueOf('S0/LAST-DIVIDEND-DATE'), '2024-02-01');
  assert.equal(await valueOf('s0/price-target'), '20');
  assert.equal(await valueOf('S0/PRICE-TARGET-LOW'), '10');
  assert.equal(await valueOf('S1/PRICE-TARGET'), '');
  assert.equal(await valueOf('S3/LATEST-BALANCE-SHEET-REPORT-DATE'), '2024-02-02');
});

test('a point changes when its record is written, and the list includes the time', async () => {
  const before = (await jsonAt('/data-points/S2')) as unknown as readonly Listed[];
  const { status, text } = await ask(
    '/data/CORE/COMPANY?wait=true&duplicateKeyHandling=replace',
    'symbol,companyName,sector\nS2,Renamed,Energy\n',
  );
  assert.equal(status, 200, text);
  assert.equal((await ask('/data-points/S2/COMPANY-COMPANYNAME')).text, 'Renamed');
  const after = (await jsonAt('/data-points/S2')) as unknown as readonly Listed[];
  assert.deepEqual(
    after.map(({ key }) => key),
    before.map(({ key }) => key),
  );
});

for (const [path, status] of [
  ['S0/NO-SUCH-POINT', 404],
  ['NOBODY/COMPANY-SECTOR', 404],
  ['NOBODY', 404],
  [`S0/${'A'.repeat(1_000)}`, 404],
  ['S0/%00', 404],
  ['..%2F/COMPANY-SECTOR', 404],
] as const) {
  test(`${path.slice(0, 30)} is ${status}`, async () => {
    assert.equal((await ask(`/data-points/${path}`)).status, status);
  });
}
