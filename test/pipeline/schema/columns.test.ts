// Parameters about the columns of a file, and the usual names of vendors: every format is read alike.
import assert from 'node:assert/strict';
import { DateDay, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { watch: false } });
});
afterAll(() => server.close());

const toParameters = (reading: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(reading).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  );

const CSV = 'Day,Close,Vol,Notes\n2024-01-30,188.5,100,a\n2024-01-31,184.4,250,b\n';
const RECORDS = [
  { Day: '2024-01-30', Close: 188.5, Vol: 100, Notes: 'a' },
  { Day: '2024-01-31', Close: 184.4, Vol: 250, Notes: 'b' },
];
const READING = {
  columns: { Day: 'date', close: 'price', Vol: 'volume', Notes: null },
  constants: { symbol: 'TRUE', live: true, lot: 100, seen: '2024-02-01' },
};

const arrow = (): Uint8Array =>
  tableToIPC(
    new Table({
      Day: vectorFromArray(
        RECORDS.map(({ Day }) => new Date(Day)),
        new DateDay(),
      ),
      Close: vectorFromArray(RECORDS.map(({ Close }) => Close)),
      Vol: vectorFromArray(Int32Array.from(RECORDS.map(({ Vol }) => Vol))),
      Notes: vectorFromArray(RECORDS.map(({ Notes }) => Notes)),
    }),
  );

test('columns and constants are read alike in every format', async () => {
  const parquet = await exported('SOURCE', CSV);
  const bodies: Readonly<Record<string, string | Uint8Array>> = {
    CSV,
    PSV: CSV.replaceAll(',', '|'),
    PADDED: CSV.replaceAll(',', ' , '),
    LINES: RECORDS.map((record) => JSON.stringify(record)).join('\n'),
    ARRAY: JSON.stringify(RECORDS),
    ARROW: arrow(),
    PARQUET: parquet,
  };
  const want = RECORDS.map(({ Close, Day, Vol }) => ({
    date: Day,
    price: Close,
    volume: Vol,
    symbol: 'TRUE',
    live: true,
    lot: 100,
    seen: '2024-02-01',
  }));
  for (const [name, body] of Object.entries(bodies)) {
    const index = { key: 'symbol', date: 'date' };
    const job = await loaded(server, name, body, { ...index, ...toParameters(READING) });
    assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 0], name);
    const storedRecords = JSON.parse(
      await read(server, `/data/WS/${name}?last=9&sort=ASC`),
    ) as readonly object[];
    assert.deepEqual(storedRecords, want, name);
    const properties = server.tapedeck.services.lake.directory.dataset('WS', name)?.schema
      .properties;
    assert.deepEqual(properties?.['seen'], { type: 'string', format: 'date' }, name);
  }
});

/** Records as Parquet, from an answer in that format. */
async function exported(dataset: string, body: string): Promise<Uint8Array> {
  await loaded(server, dataset, body, { date: 'Day' });
  const answer = await fetch(
    `${server.base}/v1/data/WS/${dataset}?format=parquet&last=9&sort=ASC&token=${server.publishable}`,
  );
  assert.equal(answer.status, 200);
  return new Uint8Array(await answer.arrayBuffer());
}

test('a value that does not fit is reported with its line, under the name of its property', async () => {
  const lines = [
    'Day,Close,Vol,Notes',
    '2024-01-30,1.5,1,a',
    '2024-01-31,much,2,b',
    '2024-02-01,3,3',
  ];
  await loaded(server, 'FIT', CSV, { key: 'symbol', date: 'date', ...toParameters(READING) });
  const job = await loaded(server, 'FIT', lines.join('\n'), toParameters(READING));
  assert.equal(job.recordsInvalid, 2);
  const url = `${server.base}/v1/jobs/WS/ingest/${job.jobId}/invalid-records-log`;
  const log = await (await fetch(`${url}?token=${server.secret}`)).text();
  assert.match(log, /,3,.*property 'price' should be number, not ""much""/);
  assert.match(log, /,4,/);
});

test('invalid parameters are refused in a sentence that names the parameter and its rule', async () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ columns: { Close: 'x', Vol: 'X' } }, /the column mapping names column X twice/],
    [{ columns: { Close: '_system_x' } }, /reserved prefix _system/],
    [
      { columns: { Nothing: 'x' } },
      /there is no column Nothing; the file has Day, Close, Vol, Notes/,
    ],
    [
      { columns: { Close: 'vol' } },
      /property Vol is given twice: by column Close and by column Vol/,
    ],
    [{ constants: { Day: '1' } }, /property Day is given twice: by column Day and by a constant/],
    [{ columns: { Day: null, Close: null, Vol: null, Notes: null } }, /all columns stay out/],
    [{ columns: '{"Close":1}' }, /"columns" must be a JSON object of columns/],
    [{ columns: '[' }, /"columns" must be a JSON object of columns/],
    [{ columns: '["a"]' }, /"columns" must be a JSON object of columns/],
    [{ constants: '{"a":{}}' }, /"constants" must be a JSON object of at most 100 properties/],
    [{ guess: true }, /only inputs of the market in CORE have usual columns/],
  ];
  for (const [reading, sentence] of cases) {
    const answer = await load(server, 'REFUSED', CSV, toParameters(reading));
    const { message } = (await answer.json()) as { readonly message: string };
    assert.equal(answer.status, 400, message);
    assert.match(message, sentence);
  }
  const body = {
    dataSource: { type: 'HTTP', name: 'u', url: 'https://example.com/a.csv' },
    every: 'day',
  };
  const reading = { columns: { a: 'x', b: 'x' } };
  const response = await send(server, 'POST', '/ingestion-schedules/WS', {
    ...body,
    datasetId: 'D',
    reading,
  });
  assert.equal(response.status, 400, response.text);
  assert.match(response.text, /names column x twice/);
});

test('usual names are recognised, the surest first; two that may be one property are refused', async () => {
  const cases: readonly (readonly [string, string, object])[] = [
    [
      'HISTORICAL_PRICES',
      [
        '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>',
        'AAPL.US,D,20240130,000000,1,2,1,2,5,0',
      ].join('\n'),
      {
        '<TICKER>': 'symbol',
        '<PER>': '<PER>',
        '<DATE>': 'date',
        '<TIME>': '<TIME>',
        '<OPEN>': 'open',
        '<HIGH>': 'high',
        '<LOW>': 'low',
        '<CLOSE>': 'close',
        '<VOL>': 'volume',
        '<OPENINT>': '<OPENINT>',
      },
    ],
    [
      'HISTORICAL_PRICES',
      'Date,Open,High,Low,Close,Adj Close,Volume,Name\n2024-01-30,1,2,1,2,1.9,5,MSFT\n',
      {
        Date: 'date',
        Open: 'open',
        High: 'high',
        Low: 'low',
        Close: 'close',
        'Adj Close': 'fClose',
        Volume: 'volume',
        Name: 'symbol',
      },
    ],
    [
      'SPLITS',
      'act_symbol,ex_date,to_factor,for_factor\nAAPL,2020-08-31,4,1\n',
      { act_symbol: 'symbol', ex_date: 'exDate', to_factor: 'toFactor', for_factor: 'fromFactor' },
    ],
    [
      'DIVIDENDS',
      'ticker,ex_dividend_date,pay_date,cash_amount\nAAPL,2024-02-09,2024-02-15,0.24\n',
      {
        ticker: 'symbol',
        ex_dividend_date: 'exDate',
        pay_date: 'paymentDate',
        cash_amount: 'amount',
      },
    ],
  ];
  for (const [input, body, columns] of cases) {
    const preview = await tried(input, body, { guess: true });
    assert.equal(preview.error, null);
    assert.deepEqual(preview.columns, columns);
    assert.equal(preview.recordsIngested, 1);
    if (input === 'DIVIDENDS') assert.deepEqual(preview.constants, { refid: '1' });
  }
  const both = 'ticker,sym,date,close\nA,A,2024-01-30,1\n';
  const query = new URLSearchParams({ guess: 'true', dryRun: 'true', token: server.secret });
  const answer = await fetch(`${server.base}/v1/data/CORE/HISTORICAL_PRICES?${query}`, {
    method: 'POST',
    body: both,
  });
  assert.equal(answer.status, 400);
  assert.match(
    await answer.text(),
    /columns ticker and sym may both be symbol: specify which one is/,
  );
  // A given mapping takes precedence over a guessed one.
  const preview = await tried('HISTORICAL_PRICES', both, { guess: true, columns: { sym: null } });
  assert.deepEqual(preview.columns, { ticker: 'symbol', sym: null, date: 'date', close: 'close' });
  const others = { open: null, high: null, low: null, volume: null, isSplitAdjusted: null };
  assert.deepEqual(preview.sample, [{ symbol: 'A', date: '2024-01-30', close: 1, ...others }]);
});

test('each cell of a wide file is a record, except cells without a value', async () => {
  const wide = [
    'Day,T,"BRK,B",Note',
    '2024-01-30,17.5,,x',
    '2024-01-31,"1,017.5",402,',
    '2024-02-01,NaN,-,y',
  ];
  const reading = { columns: { Day: 'date', Note: null }, wide: 'symbol,close' };
  const want = [
    { date: '2024-01-30', symbol: 'T', close: 17.5 },
    { date: '2024-01-31', symbol: 'BRK,B', close: 402 },
    { date: '2024-01-31', symbol: 'T', close: 1017.5 },
  ];
  const index = { key: 'symbol', date: 'date' };
  const job = await loaded(server, 'CELLS', wide.join('\n'), {
    ...index,
    ...toParameters(reading),
  });
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [3, 0]);
  const recordsText = await read(server, '/data/WS/CELLS?last=9&sort=ASC');
  assert.deepEqual(JSON.parse(recordsText), want);
  const parquet = await exported('CELLS_SOURCE', 'Day,A,B\n2024-01-30,1.5,2\n2024-01-31,,3\n');
  const first = await loaded(server, 'CELLS_OF_PARQUET', parquet, { wide: 'symbol,close' });
  assert.equal(first.recordsIngested, 3);
  for (const [body, asks, sentence] of [
    ['Day,A,B\n2024-01-30,1,2\n2024-01-31,1\n2024-02-01,1,2\n', {}, /wide: line 3 cannot be split/],
    ['[{"Day":"2024-01-30","A":1}]', {}, /wide: only CSV and Parquet/],
    ['Day,A\n2024-01-30,1\n', { wide: 'symbol' }, /"wide" must be two properties/],
    ['symbol,A\n2024-01-30,1\n', {}, /wide: column symbol has the name of what cells become/],
    ['Day\n2024-01-30\n', {}, /wide: no column is left for records/],
  ] as const) {
    const answer = await load(server, 'REFUSED', body, {
      wide: 'symbol,close',
      header: 'true',
      ...asks,
    });
    const { message } = (await answer.json()) as { readonly message: string };
    assert.equal(answer.status, 400, message);
    assert.match(message, sentence);
  }
});

interface Tried {
  readonly error: string | null;
  readonly columns: object;
  readonly constants: object;
  readonly sample: readonly object[];
  readonly recordsIngested: number;
}

async function tried(input: string, body: string, reading: object): Promise<Tried> {
  const query = new URLSearchParams({
    dryRun: 'true',
    token: server.secret,
    ...toParameters(reading),
  });
  const url = `${server.base}/v1/data/CORE/${input}?${query}`;
  const answer = await fetch(url, { method: 'POST', body });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Tried;
}
