// A dataset of CORE with an input's id has the definition of the table of inputs, unless its owner sets
// another one.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, beforeEach, test } from 'vitest';
import { read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  const { directory } = server.tapedeck.services.lake;
  for (const { dataset } of directory.datasets('CORE')) {
    await send(server, 'DELETE', `/datasets/CORE/${dataset}`);
  }
});

interface DatasetView {
  readonly title: string;
  readonly weight: number;
  readonly columnMapping: object;
  readonly uniqueIndex?: boolean;
  readonly schema: { readonly properties: Readonly<Record<string, object>> };
}

async function readDataset(place: string): Promise<DatasetView> {
  return JSON.parse((await send(server, 'GET', `/datasets/${place}`)).text) as DatasetView;
}

async function load(place: string, body: string, query = ''): Promise<readonly [number, string]> {
  const url = `${server.base}/v1/data/${place}?wait=true&token=${server.secret}${query}`;
  const answer = await fetch(url, { method: 'POST', body });
  return [answer.status, await answer.text()];
}

const PRICES = 'symbol,date,close,volume,note\nmsft,20260130,412,5,1\n Brk.B ,20260130,500.5,6,x\n';

test('a load without a mapping creates the input: index, weight, title and types', async () => {
  const [status, text] = await load('CORE/historical_prices', PRICES);
  assert.equal(status, 200, text);
  assert.match(text, /unique index: key symbol, date date, as its id declares/);
  const { columnMapping, schema, title, weight } = await readDataset('CORE/HISTORICAL_PRICES');
  assert.deepEqual(columnMapping, { key: 'symbol', date: 'date' });
  assert.equal(weight, 10);
  assert.match(title, /^Daily bars/);
  assert.deepEqual(schema.properties, {
    symbol: { type: 'string' },
    date: { type: 'string', format: 'date' },
    close: { type: 'number' },
    volume: { type: 'number' },
    note: { type: 'string' },
    open: { type: 'number' },
    high: { type: 'number' },
    low: { type: 'number' },
    isSplitAdjusted: { type: 'boolean' },
  });
  const rows = await read(server, '/data/CORE/HISTORICAL_PRICES?limit=9&filter=symbol,date,close');
  assert.deepEqual(JSON.parse(rows), [
    { symbol: 'BRK.B', date: '2026-01-30', close: 500.5 },
    { symbol: 'MSFT', date: '2026-01-30', close: 412 },
  ]);
});

test('in another workspace an id is only a name', async () => {
  const [status, text] = await load('WS/HISTORICAL_PRICES', PRICES);
  assert.equal(status, 200, text);
  const { title, weight } = await readDataset('WS/HISTORICAL_PRICES');
  assert.deepEqual([title, weight], ['', 1]);
  assert.match(await read(server, '/data/WS/HISTORICAL_PRICES?limit=9&filter=symbol'), /"msft"/);
});

test('settings of an owner have priority', async () => {
  const answer = await load(
    'CORE/DIVIDENDS',
    'symbol,exDate,amount\nA,2026-01-02,1\n',
    '&key=symbol',
  );
  assert.equal(answer[0], 200, answer[1]);
  assert.deepEqual((await readDataset('CORE/DIVIDENDS')).columnMapping, { key: 'symbol' });
  const numbered = await load('CORE/SPLITS', 'symbol,v\nA,1\nA,1\n', '&uniqueIndex=false');
  assert.equal(numbered[0], 200, numbered[1]);
  assert.equal((await readDataset('CORE/SPLITS')).uniqueIndex, false);
  const dataset = {
    datasetId: 'COMPANY',
    title: 'Mine',
    weight: 3,
    schema: {
      properties: {
        symbol: { type: 'string' },
        name: { type: 'string' },
      },
    },
    columnMapping: { key: 'name' },
  };
  assert.equal((await send(server, 'POST', '/datasets/CORE', { dataset })).status, 200);
  const { columnMapping, title, weight } = await readDataset('CORE/COMPANY');
  assert.deepEqual([columnMapping, title, weight], [{ key: 'name' }, 'Mine', 3]);
});

test('a file without a column of the index is refused by its name, and creates nothing', async () => {
  const [status, text] = await load('CORE/DIVIDENDS', 'symbol,exDate,amount\nA,2026-01-02,1\n');
  assert.equal(status, 400, text);
  assert.match(text, /should have required property 'refid'/);
  assert.equal((await send(server, 'GET', '/datasets/CORE/DIVIDENDS')).status, 404);
});

test('values that do not fit a declared type are rejected; a guessed type is widened', async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `S${at},2026-01-30,${at},${at}`);
  // The line that is rejected for its close also widens the other property.
  const body = `${['symbol,date,close,other', ...lines, 'BAD,2026-01-30,so so,text'].join('\n')}\n`;
  const [status, text] = await load('CORE/HISTORICAL_PRICES', body);
  assert.equal(status, 200, text);
  const { recordsIngested, recordsInvalid } = await job(text);
  assert.deepEqual([recordsIngested, recordsInvalid], [30, 1]);
  const { properties } = (await readDataset('CORE/HISTORICAL_PRICES')).schema;
  assert.deepEqual(
    [properties['close'], properties['other']],
    [{ type: 'number' }, { type: 'string' }],
  );
});

async function job(text: string): Promise<Readonly<Record<string, unknown>>> {
  const { jobUrl } = JSON.parse(text) as { readonly jobUrl: string };
  const answer = await fetch(`${server.base}${jobUrl}?token=${server.secret}`);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

test("people's dates and numbers are read into declared types", async () => {
  const body = 'symbol;date;close\nA;31.12.2025;1.234,50\nB;30.12.2025;7,25\n';
  const [status, text] = await load('CORE/HISTORICAL_PRICES', body);
  assert.equal(status, 200, text);
  assert.equal(
    await read(server, '/data/CORE/HISTORICAL_PRICES/A?filter=date,close'),
    '[{"date":"2025-12-31","close":1234.5}]',
  );
});

test('pushed records create an input too, and their symbols are stored as those of loads', async () => {
  const push = async (symbol: string, exDate: string): Promise<void> => {
    const record = { symbol, exDate, fromFactor: 1, toFactor: 4 };
    const { status, text } = await send(server, 'POST', '/record/CORE/SPLITS', record);
    assert.equal(status, 200, text);
  };
  await push('aapl', '2020-08-31');
  await push(' Nvda', '2021-07-20');
  await push('nvdä', '2021-07-20');
  const { columnMapping, weight } = await readDataset('CORE/SPLITS');
  assert.deepEqual([columnMapping, weight], [{ key: 'symbol', date: 'exDate' }, 10]);
  const rows = await read(server, '/data/CORE/SPLITS?limit=9&format=csv&filter=symbol,exDate');
  assert.deepEqual(rows.trim().split('\n').slice(1).sort(), [
    'AAPL,2020-08-31',
    'NVDA,2021-07-20',
    'NVDÄ,2021-07-20',
  ]);
});

test('a dataset created with a schema takes index and weight of the input', async () => {
  const { status, text } = await send(server, 'POST', '/datasets/CORE/VENUES', {
    dataset: { schema: { properties: { mic: { type: 'string' }, name: { type: 'string' } } } },
  });
  assert.equal(status, 200, text);
  const { columnMapping, title, uniqueIndex, weight } = await readDataset('CORE/VENUES');
  assert.deepEqual(columnMapping, { key: 'mic' });
  assert.deepEqual([title, uniqueIndex, weight], ['Venues', undefined, 1]);
  const lacking = await send(server, 'POST', '/datasets/CORE/COMPANY', {
    dataset: { schema: { properties: { name: { type: 'string' } } } },
  });
  assert.equal(lacking.status, 400);
  assert.match(lacking.text, /columnMapping\.key is not a property/);
});
