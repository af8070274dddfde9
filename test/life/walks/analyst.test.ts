// An analyst with her own files, who never read a page of the documentation: the files load as they are,
// errors include their place, and earlier queries are answered again.
import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { Walk } from './walk.ts';

const PRICES = [
  'Symbol;Datum;Schluss;Stück',
  'BMW;28.12.2023;100,78;1.204',
  'BMW;29.12.2023;100,78;998',
  'BMW;02.01.2024;101,44;1.011',
  'SAP;28.12.2023;139,48;2.310',
  'SAP;29.12.2023;n/a;1.877',
  'SAP;02.01.2024;138,00;2.040',
].join('\r\n');
const CORRECTED = 'Symbol;Datum;Schluss;Stück\r\nSAP;29.12.2023;139,00;1.877\r\n';

test('her own files, without a server', async () => {
  await using walk = await Walk.open();
  await walk.write('prices.csv', PRICES);
  await walk.write('corrected.csv', CORRECTED);
  await walk.write('page.csv', '<!doctype html><html><title>Log in</title></html>');
  await walk.write('empty.csv', '');
  await walk.write('my trades.jsonl', '{"id":1,"px":4.5}\n{"id":2,"px":null}\n{"id":2,"px":5}\n');

  expect(await walk.refuses('sql', 'SELECT 1')).toMatch(/no data folder|workspace create/);
  await walk.runCommand('workspace', 'create', 'MINE');
  const first = await walk.runCommand('ingest', 'prices.csv', '--dataset', 'PRICES');
  expect(first).toContain('inferred index: key Symbol, date Datum');
  expect(first).toContain(
    'PRICES: 6 records received, 6 stored, 0 replaced, 0 duplicates, 0 rejected',
  );
  expect(first).toMatch(/Schluss number.*Stück (integer|number)/);
  expect(await walk.refuses('ingest', 'page.csv', '--dataset', 'PAGE')).toMatch(/web page.*Log in/);
  expect(await walk.refuses('ingest', 'empty.csv', '--dataset', 'EMPTY')).toMatch(/empty/);
  expect(await walk.refuses('ingest', 'nothing.csv', '--dataset', 'X')).toContain('nothing.csv');
  const trades = await walk.runCommand('ingest', 'my trades.jsonl', '--dataset', 'TRADES');
  expect(trades).toMatch(/no index: every record is kept/);
  expect(trades).toContain('TRADES: 3 records received, 3 stored');

  expect(await walk.runCommand('sql', 'DESCRIBE PRICES')).toMatch(/Datum +│ DATE/);
  const summary = await walk.runCommand('sql', 'SUMMARIZE PRICES', '--format', 'csv');
  expect(summary).toMatch(/^Datum,DATE,2023-12-28,2024-01-02,/m);
  expect(summary).toMatch(/^Schluss,DOUBLE,100.78,139.48,/m);
  const mean = "SELECT Symbol, avg(COLUMNS('Sch|St')) FROM PRICES GROUP BY ALL ORDER BY ALL";
  expect(await walk.runCommand('sql', mean, '--format', 'csv')).toMatch(/^BMW,101,1071$/m);
});

test('an error of hers is reported with its place', async () => {
  await using walk = await Walk.open();
  await walk.write('prices.csv', PRICES);
  await walk.runCommand('workspace', 'create', 'MINE');
  await walk.runCommand('ingest', 'prices.csv', '--dataset', 'PRICES');
  const wrong = async (sql: string): Promise<string> => walk.refuses('sql', sql);
  expect(await wrong('SELECT Close FROM PRICES')).toMatch(/Close.*\n.*\^/s);
  expect(await wrong('SELECT count(*) FROM PRIZES')).toMatch(/PRIZES/);
  expect(await wrong('SELECT count(*) FROM PRICES WHERE "Symbol" = \'BMW\'')).toMatch(/`Symbol`/);
  expect(await wrong("SELECT * FROM PRICES WHERE Datum = '2023-13-01'")).toMatch(/2023-13-01/);
  expect(await wrong('DROP TABLE PRICES')).toMatch(/only SELECT/);
  expect(await wrong("SELECT * FROM read_csv('/etc/passwd')")).toMatch(
    /not part of the subset|FROM/,
  );
  const elsewhere = await walk.run(['sql', 'SELECT 1'], { TAPEDECK_DATA: walk.path('dta') });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('dta')]);
  expect(await readdir(walk.folder)).not.toContain('dta');
});

test('a correction, the data before it, and a file for others', async () => {
  await using walk = await Walk.open();
  await walk.write('prices.csv', PRICES);
  await walk.write('corrected.csv', CORRECTED);
  await walk.runCommand('workspace', 'create', 'MINE');
  const index = ['--key', 'Symbol', '--date', 'Datum'];
  await walk.runCommand('ingest', 'prices.csv', '--dataset', 'PRICES', ...index);
  const sum = ['sql', 'SELECT count(Schluss) AS n FROM PRICES', '--format', 'csv'];
  expect(await walk.runCommand(...sum)).toBe('n\n5\n');
  const before = new Date().toISOString();
  const again = ['ingest', 'corrected.csv', '--dataset', 'PRICES', '--duplicates', 'replace'];
  expect(await walk.runCommand(...again)).toContain('1 replaced');
  expect(await walk.runCommand(...sum)).toBe('n\n6\n');
  expect(await walk.runCommand(...sum, '--as-of', before)).toBe('n\n5\n');

  await walk.runCommand('export', 'MINE.PRICES', '--format', 'parquet', '--to', 'out');
  const parts = (await readdir(walk.path('out'), { recursive: true })).filter((name) =>
    name.endsWith('.parquet'),
  );
  expect(parts).toHaveLength(1);
  const back = await walk.runCommand('ingest', walk.path(`out/${parts[0]}`), '--dataset', 'BACK');
  expect(back).toContain('BACK: 6 records received, 6 stored');
  const differ = 'SELECT * FROM PRICES EXCEPT SELECT * FROM BACK';
  expect(await walk.runCommand('sql', differ, '--format', 'jsonl')).toBe('');
  await walk.runCommand('dataset', 'rename', 'BACK', 'COPY');
  expect(await walk.refuses('dataset', 'delete', 'COPY')).toContain('--yes');
  await walk.runCommand('dataset', 'delete', 'COPY', '--yes');
  expect(await walk.runCommand('dataset')).not.toContain('COPY');
});
