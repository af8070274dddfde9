// Files of vendors become inputs of the market without a declared mapping.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { recogniseVendor, VENDORS } from '../../../market/files/vendors.ts';
import { caseFile, coreFolder, type CoreFolder } from './coreFolder.ts';

let core: CoreFolder;
beforeAll(async () => {
  core = await coreFolder();
});
afterAll(async () => core[Symbol.asyncDispose]());

const PRICES = ['--as', 'HISTORICAL_PRICES'];

const rowsOf = async (path: string, ...names: readonly string[]): Promise<readonly unknown[]> => {
  const rows = (await core.get(path)) as readonly object[];
  return rows.map((row) => names.map((name) => Reflect.get(row, name) as unknown));
};

test('one column of times gives the day and the minute', async () => {
  const as = ['--as', 'INTRADAY_PRICES'];
  const ran = await core.loaded(caseFile('one-timestamp.csv'), ...as, '--symbol', 'INT');
  assert.match(ran.stdout, /^ timestamp +│ date\+minute/m);
  const path = (symbol: string): string => `/data/CORE/INTRADAY_PRICES/${symbol}?last=9&sort=asc`;
  const expected = [
    ['2024-03-08', '15:59', 170.2],
    ['2024-03-11', '09:30', 172.8],
  ];
  assert.deepEqual(await rowsOf(path('INT'), 'date', 'minute', 'close'), expected);
  const files: Readonly<Record<string, readonly string[]>> = {
    // yfinance: an offset defines the instant, on both sides of the clock change.
    YF: [
      'Datetime,Open,High,Low,Close,Volume',
      '2024-03-08 15:59:00-05:00,170.10,170.30,170.00,170.20,1000',
      '2024-03-11 09:30:00-04:00,172.94,173.10,172.50,172.80,2000',
    ],
    // Polygon: nanoseconds since 1970.
    PO: [
      'ticker,volume,open,close,high,low,window_start,transactions',
      'PO,1000,170.1,170.2,170.3,170,1709931540000000000,12',
      'PO,2000,172.94,172.8,173.1,172.5,1710163800000000000,15',
    ],
    ED: [
      'Timestamp,Gmtoffset,Datetime,Open,High,Low,Close,Volume',
      '1709931540,0,2024-03-08T20:59:00Z,170.1,170.3,170,170.2,1000',
      '1710163800,0,2024-03-11T13:30:00Z,172.94,173.1,172.5,172.8,2000',
    ],
    KR: ['time,close', '1709931540,170.2', '1710163800,172.8'],
    AM: ['date,close', '03/08/2024 15:59,170.2', '03/11/2024 09:30,172.8'],
  };
  for (const [symbol, lines] of Object.entries(files)) {
    const file = await core.write(`${symbol}.csv`, ...lines);
    await core.loaded(file, ...as, '--date-order', 'MDY');
    assert.deepEqual(await rowsOf(path(symbol), 'date', 'minute', 'close'), expected, symbol);
  }
  const oddFile = await core.write('odd.csv', 'When,close', '2024-03-08 15:59,170.2');
  await core.loaded(oddFile, ...as, '--symbol', 'ODD', '--map', 'When=date+minute');
  assert.deepEqual(await rowsOf(path('ODD'), 'date', 'minute'), [['2024-03-08', '15:59']]);
  const seconds = await core.write(
    's.csv',
    'time,close',
    '2024-03-08T15:59:30.5Z,1',
    '2024-03-08T16:00:00Z,2',
  );
  const cut = await core.loaded(seconds, ...as, '--symbol', 'SEC');
  assert.match(
    cut.stdout + cut.stderr,
    /1 times of column time are within a minute, such as 2024-03-08T15:59:30.5Z/,
  );
  const days = await core.write('days.csv', 'date,close', '2024-03-08,170.2');
  const refused = await core.load([days, ...as, '--symbol', 'DAY', '--yes']);
  assert.match(refused.stderr, /column date has no time of day/);
});

test('splits in words and ratios are two numbers of shares', async () => {
  const as = ['--as', 'SPLITS'];
  const ran = await core.loaded(caseFile('split-text.csv'), ...as, '--symbol', 'YB');
  assert.match(ran.stdout, /^ Stock Splits +│ fromFactor\+toFactor/m);
  const path = (symbol: string): string => `/data/CORE/SPLITS/${symbol}?last=9&sort=asc`;
  const names = ['exDate', 'fromFactor', 'toFactor'];
  assert.deepEqual(await rowsOf(path('YB'), ...names), [['2024-06-10', 30, 1]]);
  const eodhd = await core.write('ED.csv', 'Date,"Stock Splits"', '2020-08-31,4.000000/1.000000');
  await core.loaded(eodhd, ...as);
  assert.deepEqual(await rowsOf(path('ED'), ...names), [['2020-08-31', 1, 4]]);
  const short = await core.write('SH.csv', 'symbol,date,split', 'SH,2020-08-31,4:1');
  await core.loaded(short, ...as);
  assert.deepEqual(await rowsOf(path('SH'), ...names), [['2020-08-31', 1, 4]]);
  const rounded = await core.write('YF.csv', 'Date,Stock Splits', '2024-06-10,0.0333333');
  const noted = await core.loaded(rounded, ...as);
  assert.match(noted.stdout + noted.stderr, /rounded splits are read as 0\.0333333 as 1 for 30/);
  assert.deepEqual(await rowsOf(path('YF'), ...names), [['2024-06-10', 30, 1]]);
  const polygon = [
    { ticker: 'PG', execution_date: '2020-08-31', split_from: 1, split_to: 4 },
    { ticker: 'PG', execution_date: '2014-06-09', split_from: 1, split_to: 7 },
  ];
  await core.loaded(await core.write('polygon.json', JSON.stringify(polygon)), ...as);
  assert.deepEqual(await rowsOf(path('PG'), ...names), [
    ['2014-06-09', 1, 7],
    ['2020-08-31', 1, 4],
  ]);
  const odd = await core.write('odd.csv', 'Date,Split Ratio', '2020-08-31,4:1', '2021-08-31,many');
  const rejecting = await core.loaded(odd, ...as, '--symbol', 'OD');
  assert.match(rejecting.stdout, /'fromFactor' should be number, not "many"/);
  assert.deepEqual(await rowsOf(path('OD'), ...names), [['2020-08-31', 1, 4]]);
});

const YFINANCE = [
  'Date,Open,High,Low,Close,Volume,Dividends,Stock Splits',
  '2024-06-07,119.77,121.69,118.02,120.888,412385790,0.0,0.0',
  '2024-06-10,120.37,123.1,117.01,121.79,314162700,0.0,10.0',
  '2024-06-11,121.77,122.87,118.74,120.91,222551200,0.01,0.0',
];

test('dividends and splits of a daily file are reported, and loaded if declared', async () => {
  const file = await core.write('ACT.csv', ...YFINANCE);
  const ran = await core.loaded(file, ...PRICES, '--vendor', 'yahoo');
  for (const [column, input] of [
    ['Dividends', 'DIVIDENDS'],
    ['Stock Splits', 'SPLITS'],
  ]) {
    const command = `tapedeck core load ACT.csv --as ${input} --vendor yahoo --yes`;
    assert.ok(ran.stdout.includes(`${column}: ${command} loads it`), ran.stdout);
  }
  assert.match(ran.stdout, /│ isSplitAdjusted +│ true in each record/);
  await core.loaded('ACT.csv', '--as', 'DIVIDENDS');
  await core.loaded('ACT.csv', '--as', 'SPLITS');
  const readActions = async (symbol: string): Promise<readonly unknown[]> => [
    await rowsOf(`/data/CORE/DIVIDENDS/${symbol}?last=9`, 'exDate', 'amount'),
    await rowsOf(`/data/CORE/SPLITS/${symbol}?last=9`, 'exDate', 'fromFactor', 'toFactor'),
    await rowsOf(`/stock/${symbol}/chart/max?sort=asc`, 'close', 'volume'),
  ];
  const expected = [
    [['2024-06-11', 0.01]],
    [['2024-06-10', 1, 10]],
    [
      [120.888, 412385790],
      [121.79, 314162700],
      [120.91, 222551200],
    ],
  ];
  assert.deepEqual(await readActions('ACT'), expected);
  const tiingo = await core.write(
    'TII.csv',
    'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor',
    '2024-06-07T00:00:00.000Z,1208.88,1216.9,1180.2,1197.7,41238579,120.8,121,118,119,412385790,0,1',
    '2024-06-10T00:00:00.000Z,121.79,123.1,117.01,120.37,314162700,121.7,123,117,120,314162700,0,10',
    '2024-06-11T00:00:00.000Z,120.91,122.87,118.74,121.77,222551200,120.9,122,118,121,222551200,0.01,1',
  );
  const both = await core.loaded(tiingo, ...PRICES, '--with-actions');
  assert.match(both.stdout, /SPLITS: 1 records received, 1 stored/);
  assert.deepEqual(await readActions('TII'), expected);
});

test('symbols lose the suffix of a declared vendor only', async () => {
  const header = '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>';
  const file = await core.write('bulk.txt', header, 'SFX.US,D,20240130,000000,1,2,0.5,1.5,100,0');
  const noted = await core.loaded(file, ...PRICES);
  assert.match(noted.stdout, /note: the columns are those of Stooq; with vendor=stooq .*\.US/);
  await core.loaded(file, ...PRICES, '--vendor', 'stooq');
  const names = ['symbol', 'close', 'isSplitAdjusted'];
  assert.deepEqual(await rowsOf('/data/CORE/HISTORICAL_PRICES/SFX?last=1', ...names), [
    ['SFX', 1.5, true],
  ]);
});

test('headers in German, French and Spanish are read', async () => {
  const files: Readonly<Record<string, readonly string[]>> = {
    DEU: ['Datum;Eröffn.;Hoch;Tief;Zuletzt;Vol.', '30.01.2024;190,94;191,80;187,47;188,04;55859'],
    ARI: [
      'Datum;Erster;Hoch;Tief;Schlusskurs;Stuecke;Volumen',
      '2024-01-30;190,94;191,80;187,47;188,04;55859;10503726',
    ],
    FRA: [
      'Date;Ouverture;Plus haut;Plus bas;Dernier;Volume',
      '30/01/2024;190,94;191,80;187,47;188,04;55859',
    ],
    ESP: [
      'Fecha;Apertura;Máximo;Mínimo;Último;Volumen',
      '30/01/2024;190,94;191,80;187,47;188,04;55859',
    ],
    NDQ: [
      'Date,Close/Last,Volume,Open,High,Low',
      '01/30/2024,$188.04,55859,$190.94,$191.80,$187.47',
    ],
    IBK: [
      'date,open,high,low,close,volume,average,barCount',
      '20240130,190.94,191.80,187.47,188.04,55859,189,12',
    ],
  };
  for (const [symbol, lines] of Object.entries(files)) {
    await core.loaded(await core.write(`${symbol}.csv`, ...lines), ...PRICES);
    const path = `/data/CORE/HISTORICAL_PRICES/${symbol}?last=9`;
    assert.deepEqual(
      await rowsOf(path, 'date', 'open', 'high', 'low', 'close', 'volume'),
      [['2024-01-30', 190.94, 191.8, 187.47, 188.04, 55859]],
      symbol,
    );
  }
});

test('a header is of one vendor, or of none', () => {
  for (const { headers, id } of VENDORS) {
    for (const header of headers) {
      assert.equal(recogniseVendor(header.split(' '))?.id, id, header);
    }
  }
  assert.equal(recogniseVendor(['Date', 'Open', 'High', 'Low', 'Close', 'Volume']), undefined);
});

test('volumes in thousands and millions, and a dash for none', async () => {
  await core.loaded(caseFile('volume-suffix.csv'), ...PRICES, '--symbol', 'GGG');
  assert.deepEqual(
    await rowsOf('/data/CORE/HISTORICAL_PRICES/GGG?last=9&sort=asc', 'date', 'close', 'volume'),
    [
      ['2018-01-16', 1600, 912],
      ['2018-01-17', 1600, null],
      ['2018-01-18', 1617.9, 1_250_000],
      ['2018-01-19', 1608, 68_180],
    ],
  );
});

test('three header rows are named with the option that reads them', async () => {
  const file = [caseFile('three-header-rows.csv'), ...PRICES, '--symbol', 'MSFT', '--yes'];
  const refused = await core.load(file);
  assert.match(refused.stderr, /--header-lines 3/);
  const ran = await core.load([...file, '--header-lines', '3']);
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(
    await rowsOf('/data/CORE/HISTORICAL_PRICES/MSFT?last=9&sort=asc', 'date', 'close', 'volume'),
    [
      ['2023-02-17', 254.5292510986328, 30_000_100],
      ['2023-02-21', 249.08, 28_397_400],
      ['2023-02-22', 247.94, 22_491_100],
    ],
  );
});
