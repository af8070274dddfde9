// `tapedeck core load`: files of vendors become charts, with and without a running server.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, test } from 'vitest';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { read } from '../../base/client.ts';
import { companyDocument, companyFactsOf, GROWING } from '../../pipeline/recipes/companyFacts.ts';
import { served, type TestServer } from '../../base/server.ts';
import type { Ran } from '../command.ts';
import { runHere } from '../commandHere.ts';

let folder = '';
let data = '';
let folderCount = 0;
let tokens = { publishable: '', secret: '' };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-core-load-'));
  await served(join(folder, 'first'), async ({ publishable, secret }) => {
    tokens = { publishable, secret };
  });
});
beforeEach(() => {
  data = join(folder, `data${(folderCount += 1)}`);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], more: { input?: string; isTTY?: true } = {}): Promise<Ran> =>
  runHere(args, {
    env: {
      TAPEDECK_DATA: data,
      TAPEDECK_DEMO: 'off',
      TAPEDECK_SOURCE_FOLDER: folder,
      TAPEDECK_LOG: 'silent',
      TAPEDECK_CHILDREN: '1',
      TAPEDECK_PUBLISHABLE_TOKEN: tokens.publishable,
      TAPEDECK_SECRET_TOKEN: tokens.secret,
    },
    cwd: folder,
    ...more,
  });

const load = (args: readonly string[], more: { input?: string; isTTY?: true } = {}): Promise<Ran> =>
  run(['core', 'load', ...args], more);

const withServer = <T>(work: (server: TestServer) => Promise<T>): Promise<T> =>
  served(data, async (server) => {
    await writeServerFile(data, { base: server.base });
    return work(server);
  });

const write = (name: string, ...lines: readonly string[]): Promise<void> =>
  writeFile(join(folder, name), `${lines.join('\n')}\n`);

const chart = async (server: TestServer, symbol: string, filter: string): Promise<unknown> =>
  JSON.parse(await read(server, `/stock/${symbol}/chart/max?filter=${filter}`));

const YAHOO = [
  'Date,Open,High,Low,Close,Adj Close,Volume',
  '2024-01-30,190.94,191.8,187.47,188.04,187.21,55859400',
  '2024-01-31,187.04,187.1,184.35,184.4,183.58,55467800',
];

test('a file of one symbol is previewed with its mapping, and is served as a chart', async () => {
  await write('AAPL.csv', ...YAHOO);
  await withServer(async (server) => {
    const ran = await load(['AAPL.csv', '--as', 'historical_prices', '--adjusted', '--yes']);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, /^AAPL\.csv as HISTORICAL_PRICES:$/m);
    assert.match(ran.stdout, /^ Adj Close +│ fClose/m);
    assert.match(ran.stdout, /│ symbol +│ AAPL in each record, from the name of the file$/m);
    assert.match(ran.stdout, /│ isSplitAdjusted +│ true in each record$/m);
    assert.match(ran.stdout, / 2024-01-30 .*188\.04.*187\.21.*AAPL/);
    assert.match(ran.stdout, /^2 new records, 0 stored already or repeated, 0 invalid$/m);
    assert.match(ran.stdout, /HISTORICAL_PRICES: 2 records received, 2 stored/);
    assert.deepEqual(await chart(server, 'AAPL', 'date,close,fClose,volume'), [
      { close: 188.04, date: '2024-01-30', fClose: 187.21, volume: 55859400 },
      { close: 184.4, date: '2024-01-31', fClose: 183.58, volume: 55467800 },
    ]);
  });
});

test('it prompts on a terminal, needs --yes elsewhere, and loads nothing without a yes', async () => {
  await write('MSFT.csv', ...YAHOO);
  const args = ['MSFT.csv', '--as', 'HISTORICAL_PRICES'];
  const alone = await load(args);
  assert.equal(alone.code, 1);
  assert.match(alone.stderr, /nothing is loaded: add --yes to load without confirmation/);
  assert.match(alone.stdout, /split-adjusted: then pass --adjusted/);
  const refused = await load(args, { input: 'n\n', isTTY: true });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Load it\? \[y\/N\] .*nothing is loaded/s);
  const closed = await load(args, { input: '', isTTY: true });
  assert.equal(closed.code, 1, closed.stdout);
  const result = await load(args, { input: 'yes\n', isTTY: true });
  assert.equal(result.code, 0, result.stderr);
  const again = await load([...args, '--yes']);
  assert.match(again.stdout, /0 new records, 2 stored already/);
});

test('each file is a load: symbols come from file names, a faulty file is reported and skipped', async () => {
  await write('aapl.us.txt', '<DATE>,<OPEN>,<CLOSE>,<VOL>', '20240130,1,2,3', '20240131,2,x,4');
  await write('MSFT.txt', '<DATE>,<OPEN>,<CLOSE>,<VOL>', '20240130,5,6,7');
  await write('odd.csv', 'Day,Price', '2024-01-30,5');
  await write('my prices.csv', '<DATE>,<OPEN>,<CLOSE>,<VOL>', '20240130,5,6,7');
  const files = ['aapl.us.txt', 'odd.csv', 'my prices.csv', 'MSFT.txt'];
  await withServer(async (server) => {
    const ran = await load([...files, '--as', 'HISTORICAL_PRICES', '--yes']);
    assert.equal(ran.code, 1);
    assert.match(ran.stdout, /rejected line 3: .*'close' should be number, not "x"/);
    assert.match(ran.stdout, /there is no column <DATE>; the file has Day, Price/);
    assert.match(
      ran.stderr,
      /my prices\.csv: its name is no symbol: load it separately with --symbol/,
    );
    assert.deepEqual(await chart(server, 'AAPL', 'date,close'), [{ close: 2, date: '2024-01-30' }]);
    assert.deepEqual(await chart(server, 'MSFT', 'date,close'), [{ close: 6, date: '2024-01-30' }]);
  });
});

test('options override guesses, and missing properties are reported', async () => {
  await write('prices.csv', 'Ticker,Day,Last,Mid', 'msft,2024-01-30,1,2', 'brk.b,2024-01-30,3,4');
  const as = ['prices.csv', '--as', 'HISTORICAL_PRICES', '--yes'];
  await write('nothing.csv', 'Day,Mid', '2024-01-30,2');
  const lacking = await load(['nothing.csv', ...as.slice(1)]);
  assert.equal(lacking.code, 1);
  assert.match(lacking.stderr, /no column or value for symbol, close \(columns are Day, Mid\)/);
  assert.match(lacking.stderr, /--symbol AAPL sets the symbol/);
  assert.match(lacking.stderr, /--map COLUMN=close maps a column, --set close=VALUE/);
  await withServer(async (server) => {
    const ran = await load([...as, '--map', 'Mid=close', '--map', 'Last=']);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /^ Last +│ ignored/m);
    assert.deepEqual(await chart(server, 'MSFT', 'date,close'), [{ close: 2, date: '2024-01-30' }]);
    assert.deepEqual(await chart(server, 'BRK.B', 'close'), [{ close: 4 }]);
  });
  for (const [args, sentence] of [
    [['prices.csv', '--as', 'PRICES'], /--as must be one of COMPANY, SYMBOLS, HISTORICAL_PRICES/],
    [['prices.csv', '--as', 'VENUES', '--symbol', 'A'], /records of VENUES have no symbol/],
    [['prices.csv', '--as', 'SPLITS', '--wide', 'close'], /--wide: SPLITS has no symbol and close/],
    [['prices.csv', '--as', 'SPLITS', '--adjusted'], /--adjusted is for HISTORICAL_PRICES/],
    [[...as, '--map', 'Close'], /write column=property/],
    [
      [...as, '--map', 'Close=close'],
      /there is no column Close; the file has Ticker, Day, Last, Mid/,
    ],
    [['-', ...as.slice(1)], /save the standard input as a file/],
    [['absent.csv', ...as.slice(1)], /there is no file absent.csv, and no data source of CORE/],
  ] as const) {
    const ran = await load(args);
    assert.equal(ran.code, 1, sentence.source);
    assert.match(ran.stderr, sentence);
  }
});

test('JSON, splits and dividends are inputs too, and --json prints lines of JSON', async () => {
  const bars = [
    { t: '2020-08-28', o: 504, c: 499.23, v: 46907479 },
    { t: '2020-08-31', o: 127.58, c: 129.04, v: 225702688 },
  ];
  await write('bars.json', JSON.stringify(bars));
  await write('bars.jsonl', ...bars.map((bar) => JSON.stringify(bar)));
  await write('splits.csv', 'ticker,execution_date,split_from,split_to', 'AAPL,2020-08-31,1,4');
  await write('div.csv', 'symbol,Ex-Date,Cash Amount,Pay Date', 'AAPL,2020-08-07,0.82,2020-08-13');
  for (const [file, symbol] of [
    ['bars.json', 'AAPL'],
    ['bars.jsonl', 'GOOD'],
  ] as const) {
    const ran = await load([
      file,
      '--as',
      'HISTORICAL_PRICES',
      '--symbol',
      symbol,
      '--yes',
      '--json',
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    const [preview, job] = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    assert.ok(preview !== undefined && 'columns' in preview);
    assert.deepEqual(preview.columns, { t: 'date', o: 'open', c: 'close', v: 'volume' });
    assert.ok(job !== undefined && 'recordsIngested' in job);
    assert.equal(job.recordsIngested, 2);
  }
  assert.equal((await load(['splits.csv', '--as', 'SPLITS', '--yes'])).code, 0);
  assert.equal((await load(['div.csv', '--as', 'DIVIDENDS', '--yes'])).code, 0);
  await withServer(async (server) => {
    const prices = await chart(server, 'AAPL', 'date,close,uClose');
    assert.deepEqual(prices, [
      { close: 124.8075, date: '2020-08-28', uClose: 499.23 },
      { close: 129.04, date: '2020-08-31', uClose: 129.04 },
    ]);
    const members = 'symbol,exDate,amount,paymentDate,refid';
    const paid = await read(server, `/data/CORE/DIVIDENDS?last=1&filter=${members}`);
    assert.deepEqual(JSON.parse(paid), [
      {
        symbol: 'AAPL',
        exDate: '2020-08-07',
        amount: 0.82,
        paymentDate: '2020-08-13',
        refid: '1',
      },
    ]);
  });
});

/** A day as different vendors write it: 30 January 2024, closed at 188.04. */
const VENDORS: Readonly<Record<string, readonly string[]>> = {
  'alpha.csv': [
    'timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient',
    '2024-01-31,187.04,187.095,184.35,184.4,183.6,55467803,0.0000,1.0',
    '2024-01-30,190.94,191.8,187.47,188.04,187.2,55859370,0.0000,1.0',
  ],
  'nasdaq.csv': [
    'Date,Close/Last,Volume,Open,High,Low',
    '01/31/2024,$184.40,55467800,$187.04,$187.095,$184.35',
    '01/30/2024,$188.04,55859370,$190.94,$191.80,$187.47',
  ],
  'python.csv': [
    'Date,Open,High,Low,Close,Volume,Dividends,Stock Splits',
    '2024-01-30 00:00:00-05:00,190.94,191.8,187.47,188.04,55859370,0.0,0.0',
    '2024-01-31 00:00:00-05:00,187.04,187.095,184.35,184.4,55467800,0.0,0.0',
  ],
  'index.csv': [',Open,Close', '2024-01-30,190.94,188.04', '2024-01-31,187.04,184.4'],
  'german.csv': ['Datum;Close', '30.01.2024;188,04', '31.01.2024;184,40'],
  'epoch.csv': [
    't,o,h,l,c,v',
    '1706590800000,190,191,187,188.04,5',
    '1706677200000,187,187,184,184.4,5',
  ],
  'investing.csv': [
    '"Date","Price","Open","High","Low","Vol.","Change %"',
    '"01/31/2024","184.40","187.04","187.10","184.35","55.47M","-1.94%"',
    '"01/30/2024","188.04","190.94","191.80","187.47","55.86M","-1.92%"',
  ],
  'tiingo.csv': [
    'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor',
    '2024-01-30T00:00:00.000Z,188.04,191.8,187.47,190.94,55859370,187.2,190.9,186.6,190,55859370,0,1',
    '2024-01-31T00:00:00.000Z,184.4,187.1,184.35,187.04,55467803,183.6,186,183,186,55467803,0,1',
  ],
};

/** Options that these files need, since no guess can find them. */
const OPTIONS_BY_FILE: Readonly<Record<string, readonly string[]>> = {
  'index.csv': ['--map', 'column1=date'],
  'german.csv': ['--map', 'Datum=date'],
  // Values with an M are not numbers.
  'investing.csv': ['--map', 'Vol.='],
};

test('days in the formats of all vendors are the same days', async () => {
  await withServer(async (server) => {
    for (const [at, [file, lines]] of Object.entries(VENDORS).entries()) {
      await write(file, ...lines);
      const symbol = `V${at}`;
      const options = [
        '--as',
        'HISTORICAL_PRICES',
        '--symbol',
        symbol,
        ...(OPTIONS_BY_FILE[file] ?? []),
      ];
      const ran = await load([file, ...options, '--yes']);
      assert.equal(ran.code, 0, `${file}: ${ran.stderr}`);
      const days = [
        { close: 188.04, date: '2024-01-30' },
        { close: 184.4, date: '2024-01-31' },
      ];
      assert.deepEqual(await chart(server, symbol, 'date,close'), days, file);
      // A percentage is not a change of a price.
      assert.doesNotMatch(ran.stdout, /│ change/);
    }
  });
});

test('a file with a column for each symbol is detected, or declared with --wide', async () => {
  await write(
    'wide.csv',
    'Date,AAPL,MSFT,T',
    '2024-01-30,188.04,408.59,',
    '2024-01-31,184.4,397.58,17.69',
  );
  await write('small letters.csv', 'Date,aapl,msft,Note', '2024-02-01,186.86,403.78,x');
  const as = ['--as', 'HISTORICAL_PRICES', '--yes'];
  await withServer(async (server) => {
    const ran = await load(['wide.csv', ...as]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /^a column for each symbol: its cells are close$/m);
    assert.match(ran.stdout, /^5 new records/m);
    const lower = await load(['small letters.csv', ...as]);
    assert.match(
      lower.stderr,
      /no column or value for symbol, close \(columns are Date, aapl, msft, Note\).*--wide close/,
    );
    const result = await load(['small letters.csv', ...as, '--wide', 'close', '--map', 'Note=']);
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, /^2 new records/m);
    assert.match(result.stdout, / 2 stored/);
    assert.deepEqual(await chart(server, 'AAPL', 'date,close'), [
      { close: 188.04, date: '2024-01-30' },
      { close: 184.4, date: '2024-01-31' },
      { close: 186.86, date: '2024-02-01' },
    ]);
    assert.deepEqual(await chart(server, 'T', 'date,close'), [
      { close: 17.69, date: '2024-01-31' },
    ]);
  });
});

test('a data source is read with the previewed mapping each time', async () => {
  await write('AAPL.csv', ...YAHOO);
  await write('feed.csv', 'Ticker,Day,Last,Mid', 'msft,2024-01-30,1,2');
  const place = ['--workspace', 'CORE'];
  const added = await run(['source', 'add', 'feed.csv', '--name', 'feed', ...place]);
  assert.equal(added.code, 0, added.stderr);
  const as = ['--as', 'HISTORICAL_PRICES', '--map', 'Mid=close', '--map', 'Last=', '--yes'];
  const file = await load(['AAPL.csv', ...as.slice(0, 2), '--every', 'day', '--yes']);
  assert.match(file.stderr, /--every and --cron are for a data source: a file is not read again/);
  const once = await load(['feed', ...as]);
  assert.equal(once.code, 0, once.stderr);
  assert.match(once.stdout, /^ Mid +│ close/m);
  assert.match(once.stdout, /1 records received, 1 stored/);
  const result = await load(['feed', ...as, '--every', 'day', '--duplicates', 'replace']);
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stdout, /HISTORICAL_PRICES: feed is loaded every day with this mapping/);
  await write('feed.csv', 'Mid,Last,Day,Ticker', '3,9,2024-01-31,msft', '4,9,2024-01-31,brk-b');
  const name = 'HISTORICAL_PRICES from feed';
  const ran = await run(['schedule', 'run', name, ...place]);
  assert.equal(ran.code, 0, ran.stderr + ran.stdout);
  await write('feed.csv', 'Ticker,Day,Price', 'msft,2024-02-01,5');
  const other = await run(['schedule', 'run', name, ...place]);
  assert.equal(other.code, 1, other.stdout);
  assert.match(other.stdout, /there is no column Mid; the file has Ticker, Day, Price/);
  await withServer(async (server) => {
    assert.deepEqual(await chart(server, 'MSFT', 'date,close'), [
      { close: 2, date: '2024-01-30' },
      { close: 3, date: '2024-01-31' },
    ]);
    assert.deepEqual(await chart(server, 'BRK.B', 'close'), [{ close: 4 }]);
  });
});

test('all facts of a company become its statements, from the file that the SEC publishes', async () => {
  await write('CIK0000320193.json', companyDocument(companyFactsOf(GROWING)));
  await withServer(async (server) => {
    const args = ['CIK0000320193.json', '--as', 'BALANCE_SHEET', '--facts', '--symbol', 'aapl'];
    const ran = await load([...args, '--yes']);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, /15 new records, 0 stored already or repeated, 0 invalid/);
    const sheet = await read(server, '/stock/AAPL/balance-sheet/1/totalLiabilities');
    assert.equal(sheet, '300000000');
    const prices = await load(['CIK0000320193.json', '--as', 'COMPANY', '--facts', '--yes']);
    assert.match(
      prices.stderr,
      /only statements in CORE, such as INCOME or FINANCIALS, are made of them/,
    );
  });
});
