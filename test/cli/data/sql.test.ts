// `tapedeck sql` on a folder with a small dataset, with and without a running server. An interrupted command
// is a process of its own.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, test } from 'vitest';
import { type Ran, type Started, startCommand } from '../command.ts';
import { runHere } from '../commandHere.ts';

let folder = '';
let env: Record<string, string> = {};
const children: ChildProcess[] = [];

const NOTES = [
  'AAPL,2024-02-27,182.5,9007199254740993,',
  'AAPL,2024-02-28,181.5,48,日本語 🎉 ok',
  'MSFT,2024-02-28,407.5,,"two\nlines\tand an \u001b[31mescape"',
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-cli-sql-'));
  env = {
    TAPEDECK_DATA: join(folder, 'data'),
    TAPEDECK_PORT: '0',
    TAPEDECK_CHILDREN: '1',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_DEMO: 'off',
  };
  await ingest('P', `symbol,date,close,volume,note\n${NOTES.join('\n')}\n`);
  const many = Array.from({ length: 1_200 }, (_, at) => `S${at},2024-01-01,${at}`);
  await ingest('MANY', `symbol,date,v\n${many.join('\n')}\n`);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function ingest(dataset: string, csv: string): Promise<void> {
  const path = join(folder, `${dataset}.csv`);
  await writeFile(path, csv);
  await run(['workspace', 'create', 'W']);
  const loaded = await run(['ingest', path, '--dataset', dataset]);
  assert.equal(loaded.code, 0, loaded.stderr);
}

const start = (args: readonly string[], more: Record<string, string> = {}): Started =>
  startCommand(args, { env: { ...env, ...more } }, children);

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const run = (args: readonly string[], input = ''): Promise<Ran> => runHere(args, { env, input });

const sql = (...args: readonly string[]): Promise<Ran> => run(['sql', ...args]);

/** A table with its time as `T`. */
const timeless = ({ stdout }: Ran): string => stdout.replace(/ \d+\.\d{3} s/, ' T');

const ALL = 'SELECT * EXCLUDE (date) FROM P ORDER BY date, symbol';
const TABLE = [
  ' symbol │ close │           volume │ note',
  '────────┼───────┼──────────────────┼─────────────────────────────────────',
  ' AAPL   │ 182.5 │ 9007199254740993 │',
  ' AAPL   │ 181.5 │               48 │ 日本語 🎉 ok',
  ' MSFT   │ 407.5 │             NULL │ two\\nlines\\tand an \\u001b[31mescape',
  '3 rows · T · 0 messages',
  '',
].join('\n');

test('a table: numbers to the right, wide characters, NULL and empty, control characters', async () => {
  const ran = await sql(ALL);
  assert.equal(ran.stderr, '');
  assert.equal(timeless(ran), TABLE);
  assert.equal(ran.code, 0);
});

test('duplicate and numeric names, long values, JSON, and no rows', async () => {
  const odd = await sql(
    `SELECT 2 AS "2", 'x' AS "1", 3 AS "2", lpad('', 80, 'ab') AS long, '{"a":[1,"}"]}'::JSON AS j`,
  );
  const long = `${'ab'.repeat(29)}a…`;
  const lines = timeless(odd).split('\n');
  assert.match(lines[0] ?? '', /^ 2 │ 1 │ 2_1 │ long +│ j/, odd.stderr);
  assert.equal(lines[2], ` 2 │ x │   3 │ ${long} │ {"a":[1,"}"]}`);
  assert.equal(lines[3], '1 row · T · 0 messages');
  const wide = await sql(`SELECT lpad('', 80, 'ab') AS long`, '--wide');
  assert.match(wide.stdout, new RegExp(`^ long\n─{82}\n (ab){40}\n`));
  const none = await sql('SELECT symbol, volume FROM P WHERE close < 0');
  assert.equal(timeless(none), ' symbol │ volume\n────────┼────────\n0 rows · T · 0 messages\n');
});

test('a table ends at a thousand rows, a result at the row limit of its tier', async () => {
  const { id = '' } = /^(?<id>\S+)/.exec((await run(['account'])).stdout)?.groups ?? {};
  assert.equal((await run(['account', 'set', id, '--tier', 'free'])).code, 0);
  const most = await sql('SELECT v FROM MANY ORDER BY v');
  assert.match(most.stdout, / 999\n1,000 rows · \S+ s · 0 messages · cut at 1,000 rows by/);
  const csv = await sql('SELECT v FROM MANY ORDER BY v', '--format', 'csv');
  assert.equal(csv.stdout.split('\n').length, 1_002);
  assert.equal(csv.stderr, 'tapedeck: cut at 1,000 rows by the tier\n');
  assert.equal((await run(['account', 'set', id, '--tier', 'scale'])).code, 0);
  const all = await sql('SELECT v FROM MANY ORDER BY v');
  const end = / 999\n… 200 more: --format csv has all of them\n1,200 rows · \S+ s · 0 messages\n/;
  assert.match(all.stdout, end);
});

test('a format is written to stdout or to a file', async () => {
  const csv = await sql(
    'SELECT symbol, note FROM P ORDER BY date, symbol LIMIT 1',
    '--format',
    'csv',
  );
  assert.deepEqual(csv, { code: 0, stdout: 'symbol,note\nAAPL,""\n', stderr: '' });
  const json = await sql('SELECT close FROM P WHERE symbol = "MSFT"', '--format', 'json');
  assert.equal(json.stdout, '[{"close":407.5}]');
  const file = join(folder, 'out.parquet');
  const parquet = await sql(ALL, '--output', file);
  assert.match(parquet.stdout, /out\.parquet: [\d,]+ bytes · \d+\.\d{3} s · 0 messages\n$/);
  const connection = await (await DuckDBInstance.create()).connect();
  const read = await connection.runAndReadAll(`SELECT sum(close) AS n FROM '${file}'`);
  assert.deepEqual(read.getRowObjects(), [{ n: 771.5 }]);
  const table = join(folder, 'table.txt');
  assert.equal((await sql(ALL, '--output', table)).stdout, '');
  assert.equal((await readFile(table, 'utf8')).replace(/\d+\.\d{3} s/, 'T'), TABLE);
  const failed = await sql('SELECT nothing FROM P', '--output', file);
  assert.equal(failed.code, 1);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.endsWith('.part')),
    [],
  );
});

test('a query comes from stdin or a file, with parameters', async () => {
  const query = 'SELECT count(*) AS n FROM P WHERE symbol = :s AND close > :least OR :off';
  const parameters = ['--param', 's=AAPL', '--param', 'least=182', '--param', 'off=false'];
  const piped = await run(['sql', '--format', 'csv', ...parameters], query);
  assert.deepEqual([piped.stdout, piped.stderr], ['n\n1\n', '']);
  const file = join(folder, 'query.sql');
  await writeFile(file, `-- how many\n${query}\n`);
  const filed = await sql('--file', file, '--format', 'csv', ...parameters);
  assert.equal(filed.stdout, 'n\n1\n');
  const kinds = await sql(
    'SELECT :a || 1 AS a, :b + 1 AS b, :c IS NULL AS c, :d AS d',
    '--format',
    'csv',
    '--param',
    'a:=7',
    '--param',
    'b=7',
    '--param',
    'c=null',
    '--param',
    'd=007=x',
  );
  assert.equal(kinds.stdout, 'a,b,c,d\n71,8,true,007=x\n', kinds.stderr);
  for (const args of [
    ['--param', 'x'],
    ['--file', file, 'SELECT 1'],
  ]) {
    const wrong = await sql('SELECT 1', ...args);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /--param x: write name=value|pass one of them|too many arguments/);
  }
});

test('an error shows its place in the query, and stdout stays empty', async () => {
  const query = 'SELECT symbol,\n\t日本 + foo(close) AS x\nFROM P';
  const wrong = await sql(query);
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  const [message = '', line, caret] = wrong.stderr.split('\n');
  assert.match(message, /^tapedeck: line 2, column 7: .*foo/);
  assert.deepEqual([line, caret], ['   日本 + foo(close) AS x', '          ^']);
  const far = await sql(`SELECT ${'1 + '.repeat(60)}foo(1) FROM P`);
  const [, excerpt = '', mark = ''] = far.stderr.split('\n');
  assert.ok(excerpt.startsWith('  …') && excerpt.slice(mark.length - 1).startsWith('foo(1)'));
  const dear = await sql('SELECT * FROM P', '--max-messages', '2');
  assert.match(dear.stderr, /^tapedeck: "maxMessages" is 2, and the call costs 3 messages/);
  const nowhere = await sql('SELECT 1', '--workspace', 'X');
  assert.equal(nowhere.stderr, 'tapedeck: there is no workspace X\n');
});

test('the plan of a query, its columns, and data as of a snapshot', async () => {
  const query = 'SELECT symbol, date FROM P WHERE date > "2024-02-27" ORDER BY date LIMIT 5';
  const steps = (await sql(query, '--explain')).stdout.split('\n');
  assert.deepEqual(steps.slice(0, 4), ['read W.P: 1 of 1 files', 'filter', 'order', 'limit 5']);
  assert.match(steps.at(-2) ?? '', /^at most 3 rows, [\d,]+ bytes, [\d,]+ messages of weight 1$/);
  const schema = await sql(query, '--schema');
  assert.equal(
    schema.stdout,
    ' column │ type\n────────┼─────────\n symbol │ VARCHAR\n date   │ DATE\n',
  );
  const before = await sql('SELECT count(*) FROM P', '--as-of', '1');
  assert.equal(before.code, 1);
  const books = await run(['verify-ledger']);
  assert.match(books.stdout, /\neverything agrees\n$/);
});

test('a query is cancelled, with and without a server', async () => {
  const slow =
    'SELECT sum(a.v * b.v % 7) FROM MANY a, MANY b, MANY c WHERE (a.v + b.v + c.v) % 5 = 1';
  const cancelled = { code: 130, stdout: '', stderr: 'tapedeck: cancelled\n' };
  const spill = join(folder, 'data', 'tmp', 'sql-0');
  await rm(spill, { recursive: true, force: true });
  const alone = start(['sql', slow]);
  await until(() => existsSync(spill));
  alone.child.kill('SIGINT');
  assert.deepEqual(await alone.ended, cancelled);

  const server = start(['serve'], { TAPEDECK_LOG: 'info' });
  await until(() => server.output.stdout.includes('listens on'));
  assert.equal(timeless(await sql(ALL)), TABLE);
  const wrong = await sql('SELECT * FROM P WHERE x = 1');
  const errorPattern = /line 1, column 23: [^\n]*\n {2}SELECT \* FROM P WHERE x = 1\n {24}\^\n$/;
  assert.match(wrong.stderr, errorPattern);
  const countRequests = (): number => server.output.stderr.split('/v1/sql-query/W').length;
  const before = countRequests();
  const beside = start(['sql', slow]);
  // Its columns were requested; the query itself is requested next.
  await until(() => countRequests() > before);
  await new Promise((resolve) => setTimeout(resolve, 300));
  beside.child.kill('SIGINT');
  assert.deepEqual(await beside.ended, cancelled);
  server.child.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
});
