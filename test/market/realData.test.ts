// Real days and companies, loaded as published and requested as an old client does.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { parse } from 'csv-parse/sync';
import { startServer, type TestServer } from '../base/server.ts';

const DATA = join(import.meta.dirname, '../../../shared/data');
const isThere = existsSync(DATA);

/** The evening of the last day of the files and after. */
const NOW_MS = Date.parse('2026-10-30T22:00:00Z');

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ seams: { clock: () => NOW_MS } });
});
afterAll(() => server.close());

type Rows = readonly Readonly<Record<string, string>>[];

const rowsOf = (file: string): Rows =>
  parse(readFileSync(join(DATA, file), 'utf8'), { columns: true }) as Rows;

test.skipIf(!isThere)(
  'the VIX since 1990 has every day, high, low and change of the file',
  async () => {
    const rows = rowsOf('vix-daily.csv');
    const lines = rows.map((row) =>
      ['VIX', row['DATE'], row['OPEN'], row['HIGH'], row['LOW'], row['CLOSE']].join(),
    );
    await load('HISTORICAL_PRICES', `symbol,date,open,high,low,close\n${lines.join('\n')}\n`);
    const chart = (await ask('/stock/vix/chart/max')) as Record<string, unknown>[];
    assert.equal(chart.length, rows.length);
    const close = rows.map((row) => Number(row['CLOSE']));
    for (const [at, row] of chart.entries()) {
      const from = rows[at];
      assert.deepEqual(
        [row['open'], row['high'], row['low'], row['close'], row['uClose'], row['fClose']],
        ['OPEN', 'HIGH', 'LOW', 'CLOSE', 'CLOSE', 'CLOSE'].map((name) => Number(from?.[name])),
        String(row['date']),
      );
      const change = at === 0 ? 0 : (close[at] ?? 0) - (close[at - 1] ?? 0);
      assert.ok(Math.abs(Number(row['change']) - change) < 1e-6, String(row['date']));
    }
  },
);

test.skipIf(!isThere)('the members of the S&P 500 are found by symbol and by CIK', async () => {
  const rows = rowsOf('sp500-constituents.csv');
  const cell = (text = ''): string => `"${text.replaceAll('"', '""')}"`;
  const companies = rows.map((row) =>
    [row['Symbol'], cell(row['Security']), cell(row['GICS Sector'])].join(),
  );
  await load('COMPANY', `symbol,companyName,sector\n${companies.join('\n')}\n`);
  const symbols = rows.map((row) =>
    [row['Symbol'], row['CIK'], 'US', row['Security']?.replaceAll(',', '')].join(),
  );
  await load('SYMBOLS', `symbol,cik,exchange,name\n${symbols.join('\n')}\n`);
  for (const row of rows.filter((_, at) => at % 50 === 0)) {
    const company = (await ask(`/stock/${row['Symbol']}/company`)) as Record<string, unknown>;
    assert.deepEqual(
      [company['companyName'], company['sector']],
      [row['Security'], row['GICS Sector']],
    );
    const byNumber = (await ask(`/stock/${row['CIK']}/company`)) as Record<string, unknown>;
    // Several classes of shares have one number.
    const same = rows.filter((one) => one['CIK'] === row['CIK']).map((one) => one['Symbol']);
    assert.ok(same.includes(String(byNumber['symbol'])), row['CIK']);
  }
});

test.skipIf(!isThere)(
  'the directories of two exchanges are listed, searched and looked up',
  async () => {
    const cell = (value = ''): string => `"${value.trim().replaceAll('"', '""')}"`;
    const listed = [
      ...rowsOf('nasdaq-listed-symbols.csv').map((row) => ({
        symbol: row['Symbol'] ?? '',
        name: row['Security Name'] ?? '',
        exchange: 'NAS',
      })),
      ...rowsOf('nyse-listed.csv').map((row) => ({
        symbol: row['ACT Symbol'] ?? '',
        name: row['Company Name'] ?? '',
        exchange: 'NYS',
      })),
    ].filter(({ name, symbol }) => symbol !== '' && name !== '');
    const lines = listed.map(({ exchange, name, symbol }) => [symbol, exchange, cell(name)].join());
    await load('SYMBOLS', `symbol,exchange,name\n${lines.join('\n')}\n`, 'replace');
    const all = (await ask('/ref-data/symbols')) as { symbol: string; name: string }[];
    // Shares of another class are spelled in one way in all inputs; letters alone stay as they are.
    const plain = (symbol: string): boolean => /^[A-Z]+$/.test(symbol);
    const bySymbol = new Map(listed.map((one) => [one.symbol.toUpperCase(), one]));
    const nameBySymbol = new Map(all.map(({ name, symbol }) => [symbol, name]));
    for (const [symbol, { name }] of bySymbol) {
      if (plain(symbol)) assert.equal(nameBySymbol.get(symbol), name.trim(), symbol);
    }
    const nasdaq = (await ask('/ref-data/exchange/NAS/symbols')) as object[];
    const alone = [...bySymbol.values()].filter(({ exchange }) => exchange === 'NAS');
    assert.equal(nasdaq.length, alone.length);
    const wordsOf = (text: string): readonly string[] =>
      text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    // A naive scan: symbols that begin so, and names with a word for each that begins so.
    for (const fragment of ['micros', 'AAPL', 'alcoa corp', 'agilent', 'biotech', 'zion', 'z']) {
      const words = wordsOf(fragment);
      const naive = all.filter(
        ({ name, symbol }) =>
          symbol.startsWith(fragment.toUpperCase()) ||
          words.every((word) => wordsOf(name).some((own) => own.startsWith(word))),
      );
      const results = (await ask(`/search/${encodeURIComponent(fragment)}`)) as {
        symbol: string;
      }[];
      const symbols = results.map(({ symbol }) => symbol);
      assert.equal(symbols.length, Math.min(50, naive.length), fragment);
      const expected = new Set(naive.map(({ symbol }) => symbol));
      assert.ok(
        symbols.every((symbol) => expected.has(symbol)),
        fragment,
      );
      if (nameBySymbol.has(fragment.toUpperCase()))
        assert.equal(symbols[0], fragment.toUpperCase());
    }
  },
);

async function ask(path: string): Promise<unknown> {
  const answer = await fetch(`${server.base}/v1${path}?token=${server.publishable}`);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return JSON.parse(text);
}

async function load(dataset: string, csv: string, handling = 'ignore'): Promise<void> {
  const query = `wait=true&duplicateKeyHandling=${handling}&token=${server.secret}`;
  const url = `${server.base}/v1/data/CORE/${dataset}?${query}`;
  const answer = await fetch(url, { method: 'POST', body: csv });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
}
