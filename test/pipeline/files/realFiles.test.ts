// Real market files, as their publishers write them: each ingests with the schema that a person
// reading its first lines would write down, and no record is rejected.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const DATA = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data');

interface Expected {
  readonly file: string;
  /** Property to type, in the order of the header; d is a date. */
  readonly types: string;
  readonly mapping: object;
  readonly records: number;
  readonly invalid?: number;
}

const FILES: readonly Expected[] = [
  {
    file: 'stocks.csv',
    types: 'symbol:string date:d price:number',
    mapping: { key: 'symbol', date: 'date' },
    records: 560,
  },
  {
    file: 'cpi-us.csv',
    types: 'Date:d Index:number Inflation:number',
    mapping: { date: 'Date' },
    records: 1360,
  },
  {
    file: 'fx-monthly.csv',
    types: 'Date:d Country:string Exchange_rate:number',
    mapping: { key: 'Country', date: 'Date' },
    records: 17_237,
  },
  {
    file: 'nasdaq-listed-symbols.csv',
    types:
      'Symbol:string Company_Name:string Security_Name:string Market_Category:string ' +
      'Test_Issue:string Financial_Status:string Round_Lot_Size:integer ETF:string NextShares:string',
    mapping: { key: 'Symbol' },
    records: 5570,
    // Its last line is nothing but commas.
    invalid: 1,
  },
  {
    file: 'nyse-listed.csv',
    types: 'ACT_Symbol:string Company_Name:string',
    mapping: { key: 'ACT Symbol' },
    records: 2918,
  },
  {
    file: 'sp500-constituents.csv',
    types:
      'Symbol:string Security:string GICS_Sector:string GICS_Sub-Industry:string ' +
      'Headquarters_Location:string Date_added:d CIK:string Founded:string',
    mapping: { key: 'Symbol', date: 'Date added' },
    records: 503,
  },
  {
    file: 'sp500-financials.csv',
    types:
      'Symbol:string Name:string Sector:string Price:number Price/Earnings:number ' +
      'Dividend_Yield:number Earnings/Share:number 52_Week_Low:number 52_Week_High:number ' +
      'Market_Cap:integer EBITDA:integer Price/Sales:number Price/Book:number SEC_Filings:string',
    mapping: { key: 'Symbol' },
    records: 503,
  },
  {
    file: 'us10y-monthly.csv',
    types: 'Date:d Rate:number',
    mapping: { date: 'Date' },
    records: 879,
  },
  {
    file: 'vix-daily.csv',
    types: 'DATE:d OPEN:number HIGH:number LOW:number CLOSE:number',
    mapping: { date: 'DATE' },
    records: 9235,
  },
  {
    file: 'wti-daily.csv',
    types: 'Date:d Price:number',
    mapping: { date: 'Date' },
    records: 10_226,
  },
];

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

for (const { file, types, mapping, records, invalid = 0 } of FILES) {
  test(`${file}`, async (t) => {
    if (!existsSync(join(DATA, file))) {
      if (process.env['CI'] === 'true') assert.fail(`${file} is missing`);
      t.skip(`${file} is not on this machine`);
      return;
    }
    const name = file.replace('.csv', '').replaceAll('-', '_').toUpperCase();
    const job = await loaded(server, name, await readFile(join(DATA, file)));
    const dataset = server.tapedeck.services.lake.directory.dataset('WS', name);
    const propertyTypes = Object.entries(dataset?.schema.properties ?? {}).map(
      ([property, { type, format }]) =>
        `${property.replaceAll(' ', '_')}:${format === 'date' ? 'd' : type}`,
    );
    assert.equal(propertyTypes.join(' '), types);
    assert.deepEqual(dataset?.mapping, mapping);
    assert.deepEqual([job.recordsInvalid, job.recordsIngested], [invalid, records]);
  });
}

test('two files become one dataset', async (t) => {
  if (!existsSync(join(DATA, 'stocks.csv'))) {
    if (process.env['CI'] === 'true') assert.fail('stocks.csv is missing');
    t.skip('stocks.csv is not on this machine');
    return;
  }
  const [header = '', ...lines] = (await readFile(join(DATA, 'stocks.csv'), 'utf8'))
    .trim()
    .split('\n');
  const half = Math.floor(lines.length / 2);
  const index = { key: 'symbol', date: 'date' };
  await loaded(server, 'HALVES', [header, ...lines.slice(0, half + 20)].join('\n'), index);
  const second = await loaded(server, 'HALVES', [header, ...lines.slice(half)].join('\n'));
  assert.equal(second.recordsDuplicate, 20);
  const whole = await read(server, '/data/WS/STOCKS?from=1990-01-01&format=csv');
  assert.equal(await read(server, '/data/WS/HALVES?from=1990-01-01&format=csv'), whole);
});
