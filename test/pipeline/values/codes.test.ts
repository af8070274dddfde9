// Codes stay texts and digits stay as they are: of the file, far down in it, and in a later file.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { typeOf } from './written.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const inputOf = (name: string): Promise<string> =>
  readFile(new URL(`inputs/${name}`, import.meta.url), 'utf8');

type Record_ = Readonly<Record<string, unknown>>;
const recordsOf = async (id: string): Promise<readonly Record_[]> =>
  JSON.parse(await read(server, `/data/WS/${id}?limit=1000`)) as readonly Record_[];

test('a symbol of digits is a text from the first file on', async () => {
  await loaded(server, 'HK', await inputOf('leading-zero-code.1.csv'));
  assert.equal(typeOf(server, 'HK', 'symbol'), 'string');
  await loaded(server, 'HK', await inputOf('leading-zero-code.2.csv'));
  const records = await recordsOf('HK');
  const symbols = records.map(({ symbol }) => symbol);
  assert.deepEqual(symbols.toSorted(), ['0005', '130A', '700', '9988', '9988']);
});

test('a CUSIP with an E among its digits is a text', async () => {
  await loaded(server, 'CUSIPS', await inputOf('cusip-exponent.csv'));
  assert.match(await read(server, '/data/WS/CUSIPS/12345E107'), /"cusip":"12345E107"/);
});

test('TRUE is a ticker', async () => {
  await loaded(server, 'TICKERS', await inputOf('ticker-true.csv'));
  const records = JSON.parse(await read(server, '/data/WS/TICKERS/TRUE?limit=9')) as unknown[];
  assert.equal(records.length, 2);
});

test('digits that no number holds stay', async () => {
  await loaded(server, 'WEI', await inputOf('digits-rounded.csv'));
  const records = (await recordsOf('WEI')).toSorted((a, b) =>
    String(a['date']) < String(b['date']) ? -1 : 1,
  );
  assert.deepEqual(
    records.map(({ big, eth, wei }) => [wei, eth, big]),
    [
      ['9007199254740993', '0.123456789012345678', '12345678901234567.89'],
      ['1.5', '1.000000000000000001', '0.1'],
    ],
  );
});

test('volumes with K and M are numbers of an input of the market', async () => {
  const body = await inputOf('volume-suffix.csv');
  const { notes } = await loaded(server, 'VOLUMES', body);
  const records = (await recordsOf('VOLUMES')).toSorted((a, b) =>
    String(a['Date']) < String(b['Date']) ? 1 : -1,
  );
  assert.deepEqual(
    records.map((record) => record['Vol.']),
    [68_180, 1_250_000, null, 912],
  );
  assert.ok(
    notes.includes('Vol.: 2 texts are read as a number, the first is "68.18K" in line 2: 68180'),
    notes.join('\n'),
  );
});

/** Names, values, the type, and the stored values where they differ. */
const COLUMNS: readonly (readonly [string, readonly string[], string])[] = [
  ['code', ['12', '7'], 'integer'],
  ['code', ['0012', '7'], 'string'],
  ['code', ['130A', '0005', '700'], 'string'],
  ['v', ['9876E5', '12'], 'string'],
  ['v', ['12345E107', '98765E101'], 'string'],
  ['v', ['1e5', '2e6'], 'string'],
  ['v', ['1e5', '1.5E10'], 'number'],
  ['v', ['1e5', '1e-7'], 'number'],
  ['v', ['1e400', '1.5'], 'string'],
  ['v', ['1e-400', '1.5'], 'string'],
  ['v', ['1_000', '2_000'], 'string'],
  ['v', ['0x1F', '31'], 'string'],
  ['v', ['9007199254740993', '1'], 'integer'],
  ['v', ['9007199254740993', '1.5'], 'string'],
  ['v', ['9007199254740992', '1.5'], 'number'],
  ['v', ['0.1', '128.10', '0.30000000000000004'], 'number'],
  ['v', ['0.1234567890123456789'], 'string'],
  ['v', ['1.00000000000000000001'], 'string'],
  ['v', ['170141183460469231731687303715884105728'], 'string'],
  ...['Symbol', 'ticker', 'CUSIP', 'isin', 'FIGI', 'sedol', 'cik', 'LEI', 'Account ID'].map(
    (name) => [name, ['12', '700'], 'string'] as const,
  ),
  ...['order_id', 'tradeId', 'clientId', 'Zip Code', 'postalCode', 'phone', 'sic', 'naicsCode'].map(
    (name) => [name, ['12', '700'], 'string'] as const,
  ),
  ['permno', ['10001', '10002'], 'integer'],
  ['country', ['NA', 'ZA'], 'string'],
  ['ticker', ['TRUE', 'FALSE'], 'string'],
  ['ticker', ['NAN', '12'], 'string'],
  ...['open', 'Adj Close', 'bid', 'VWAP', 'nav', 'rate', 'Amount'].map(
    (name) => [name, ['12', '700'], 'number'] as const,
  ),
];

for (const [at, [name, values, type]] of COLUMNS.entries()) {
  test(`${name}: ${values.join(' ')} is ${type}, and stays`, async () => {
    const id = `C_${at}`;
    await loaded(server, id, `n,${name}\n${values.map((value, n) => `${n},${value}\n`).join('')}`);
    assert.equal(typeOf(server, id, name), type);
    const records = (await recordsOf(id)).toSorted((a, b) => Number(a['n']) - Number(b['n']));
    for (const [n, value] of values.entries()) {
      const stored = String(records[n]?.[name]);
      assert.ok(
        stored === value || (type !== 'string' && Number(stored) === Number(value)),
        stored,
      );
    }
  });
}

/** The sample has 10,000 rows. */
const LATE = 24_999;
const FAR_DOWN: readonly (readonly [string, string, string])[] = [
  ['12', '0005', 'string'],
  ['12', '9876E5', 'string'],
  ['12', '130A', 'string'],
  ['12', '1_000', 'string'],
  ['12', '0x1F', 'string'],
  ['12', '9223372036854775808', 'string'],
  ['12', '12.5', 'number'],
  ['1.5', '0005', 'string'],
  ['1.5', '9007199254740993', 'string'],
  ['1.5', '1.00000000000000000001', 'string'],
  ['1.5', '1e400', 'string'],
  ['1.5', '1e-400', 'string'],
  ['1.5', '1_000', 'string'],
  ['1.5', '+-5', 'string'],
  ['1.5', '1e5', 'number'],
  ['true', '1', 'string'],
  ['true', 't', 'string'],
  ['2024-01-02', 'infinity', 'string'],
  ['2024-01-02', 'epoch', 'string'],
];

test('a code or a long number at line 25,000 makes its column a text', async () => {
  for (const [at, [usual, value, type]] of FAR_DOWN.entries()) {
    const lines = Array.from(
      { length: LATE + 5 },
      (_, n) => `r${n},${n === LATE ? value : usual}\n`,
    );
    await loaded(server, `LATE_${at}`, `k,v\n${lines.join('')}`, { key: 'k' });
    const caseName = `${usual} and ${value}`;
    const [first, late] = await Promise.all(
      [0, LATE].map(
        async (n) => JSON.parse(await read(server, `/data/WS/LATE_${at}/r${n}`)) as Record_[],
      ),
    );
    if (value === 'infinity') {
      // It marks a missing value, as in columns of numbers.
      assert.deepEqual([typeOf(server, `LATE_${at}`), late?.[0]?.['v']], ['string:date', null]);
      continue;
    }
    assert.equal(typeOf(server, `LATE_${at}`), type, caseName);
    assert.equal(String(first?.[0]?.['v']), usual, caseName);
    const stored = String(late?.[0]?.['v']);
    assert.ok(type === 'string' ? stored === value : Number(stored) === Number(value), caseName);
  }
});

test('an integer becomes a number, or a text where it is a code, for a later file', async () => {
  await loaded(server, 'LATER', 'symbol,size,id\nA,244,5\nB,1,6\n', { key: 'symbol' });
  assert.equal(typeOf(server, 'LATER', 'size'), 'integer');
  const { notes, ...counts } = await loaded(
    server,
    'LATER',
    'symbol,size,id\nC,244.5,0007\nD,many,8\n',
  );
  assert.deepEqual([counts.recordsIngested, counts.recordsInvalid], [1, 1]);
  assert.deepEqual(
    [typeOf(server, 'LATER', 'size'), typeOf(server, 'LATER', 'id')],
    ['number', 'string'],
  );
  assert.ok(
    notes.includes('size becomes number: line 2 has "244.5", no integer'),
    notes.join('\n'),
  );
  assert.ok(notes.includes('id becomes string: line 2 has "0007", no integer'), notes.join('\n'));
  const records = (await recordsOf('LATER')).toSorted((a, b) =>
    String(a['symbol']) < String(b['symbol']) ? -1 : 1,
  );
  assert.deepEqual(records, [
    { symbol: 'A', size: 244, id: '5' },
    { symbol: 'B', size: 1, id: '6' },
    { symbol: 'C', size: 244.5, id: '0007' },
  ]);
});

test('a declared integer stays one, and a code is rejected by line', async () => {
  const dataset = {
    datasetId: 'DECLARED',
    schema: { properties: { symbol: { type: 'string' }, n: { type: 'integer' } } },
    columnMapping: { key: 'symbol' },
  };
  const response = await fetch(`${server.base}/v1/datasets/WS?token=${server.secret}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dataset }),
  });
  assert.equal(response.status, 200, await response.clone().text());
  const counts = await loaded(server, 'DECLARED', 'symbol,n\nA,1\nB,2.5\nC,0005\n');
  assert.deepEqual([counts.recordsIngested, counts.recordsInvalid], [1, 2]);
  assert.equal(typeOf(server, 'DECLARED', 'n'), 'integer');
});

test('an integer beyond 2^53 never becomes a number', async () => {
  await loaded(server, 'LARGE', 'symbol,n\nA,9007199254740993\n', { key: 'symbol' });
  const stored = await loaded(server, 'LARGE', 'symbol,n\nB,1.5\n').catch(
    (error: unknown) => error,
  );
  assert.match(String(stored), /should be integer, not \\?"1.5/);
  await loaded(server, 'LARGE_LATER', 'symbol,n\nA,1\n', { key: 'symbol' });
  const later = await loaded(server, 'LARGE_LATER', 'symbol,n\nB,1.5\nC,9007199254740993\n');
  assert.deepEqual([later.recordsIngested, later.recordsInvalid], [1, 1]);
});
