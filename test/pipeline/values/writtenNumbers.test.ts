// Numbers as people write them in tables, through real loads.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { fileOf, loadColumn, typeOf, valuesOf } from './written.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

interface Case {
  readonly texts: readonly string[];
  readonly type: string;
  /** Left out: the texts as they are. */
  readonly values?: readonly unknown[];
  readonly delimiter?: string;
}

const NBSP = '\u00A0';
const CASES: readonly Case[] = [
  { texts: ['1,234,567.89', '12'], type: 'number', values: [1_234_567.89, 12] },
  { texts: ['1,234,567', '1,000'], type: 'integer', values: [1_234_567, 1_000] },
  { texts: ['1 234,5', '2,25'], type: 'number', values: [1_234.5, 2.25] },
  { texts: [`1${NBSP}234${NBSP}567,5`, '7'], type: 'number', values: [1_234_567.5, 7] },
  { texts: ["1'234.50", '0.5'], type: 'number', values: [1_234.5, 0.5] },
  { texts: ['1.234.567,89', '1.234'], type: 'number', values: [1_234_567.89, 1_234] },
  { texts: ['12,5', '7'], type: 'number', values: [12.5, 7], delimiter: ';' },
  { texts: ['$1,234.50', '-$2.00', '$-3'], type: 'number', values: [1_234.5, -2, -3] },
  { texts: ['€ 12,00', '7,5 €'], type: 'number', values: [12, 7.5] },
  { texts: ['(1,234)', '1,000,000', '(5)'], type: 'integer', values: [-1_234, 1_000_000, -5] },
  { texts: ['12.5%', '-3 %'], type: 'number', values: [12.5, -3] },
  { texts: ['\u2212 5', 'x'], type: 'string' },
  { texts: ['\u22125', '3'], type: 'integer', values: [-5, 3] },
  { texts: ['1', 'NA', '3'], type: 'integer', values: [1, null, 3] },
  { texts: ['1.5', 'n/a', '-'], type: 'number', values: [1.5, null, null] },
  { texts: ['1.5', 'NaN', '.', 'null'], type: 'number', values: [1.5, null, null, null] },
  { texts: ['1,234.5', 'N/A', '($2)'], type: 'number', values: [1_234.5, null, -2] },
  { texts: ['2024-01-05', 'NA'], type: 'string:date', values: ['2024-01-05', null] },
  { texts: ['NA', '-'], type: 'string' },
  { texts: ['NA', 'BRK.A', '-'], type: 'string' },
  { texts: ['true', 'NA'], type: 'string' },
  // The delimiter decides between two readings, or the text stays.
  { texts: ['1,234', '5,678'], type: 'integer', values: [1_234, 5_678] },
  { texts: ['1,234', '5,678'], type: 'number', values: [1.234, 5.678], delimiter: ';' },
  { texts: ['1,234', '5,678'], type: 'string', delimiter: '\t' },
  { texts: ['€1.234', '€5.678'], type: 'string' },
  { texts: ['1,5', '1.5'], type: 'string' },
  // Texts that only resemble numbers.
  { texts: ['5%', '5'], type: 'string' },
  { texts: ['$5', '€5'], type: 'string' },
  { texts: ['1,234,567,890,123,456.5'], type: 'string' },
  { texts: ['1,23,456'], type: 'string' },
  { texts: ['0,123.5', '007,000'], type: 'string' },
  { texts: ['12 USD', '13 USD'], type: 'integer', values: [12, 13] },
  { texts: ['12 USD', '13 EUR'], type: 'string' },
  { texts: ['12 USDT', '13 USDT'], type: 'string' },
  { texts: ['(5', '6)'], type: 'string' },
];

for (const [at, { delimiter = ',', texts, type, values }] of CASES.entries()) {
  test(`${JSON.stringify(texts)} between ${JSON.stringify(delimiter)} is ${type}`, async () => {
    const file = await fileOf('csv', texts, delimiter);
    assert.deepEqual(await loadColumn(server, `N_${at}`, file), [type, values ?? texts]);
  });
}

/** The sample has 10,000, DuckDB's own 20,480. */
const LATE = 24_999;
const MANY = LATE + 11;
const late = (usual: string, value: string): readonly string[] =>
  Array.from({ length: MANY }, (_, at) => (at === LATE ? value : usual));

test('a value at line 25,000 decides how the whole column is read', async () => {
  const cases: readonly (readonly [string, string, string, unknown])[] = [
    ['1,234', '1,234.5', 'number', 1_234],
    ['1,234', '0,5', 'number', 1.234],
    ['1.234', '1.234.567', 'number', 1.234],
    ['12', '1,234', 'integer', 12],
    ['12', 'NA', 'integer', 12],
    ['12', '12.5', 'number', 12],
    ['1.5', 'NaN', 'number', 1.5],
    ['1.5', '-', 'number', 1.5],
    ['1,234.5', '1.234,5', 'string', '1,234.5'],
  ];
  for (const [at, [usual, value, type, first]] of cases.entries()) {
    const id = `LATE_${at}`;
    const job = await loaded(server, id, await fileOf('csv', late(usual, value)), { key: 'k' });
    assert.equal(job.recordsIngested, MANY);
    const [one] = await valuesOf(server, id);
    if (usual === '1.234') {
      assert.deepEqual([typeOf(server, id), one], ['integer', 1_234]);
    } else {
      assert.deepEqual([typeOf(server, id), one], [type, first], `${usual} and ${value}`);
    }
  }
});

test('a plain 1.234 stays unchanged between semicolons and tabs, beside missing values', async () => {
  for (const [at, delimiter] of [',', ';', '\t'].entries()) {
    const id = `PLAIN_${at}`;
    await loaded(server, id, await fileOf('csv', late('1.234', 'NA'), delimiter), { key: 'k' });
    assert.deepEqual([typeOf(server, id), (await valuesOf(server, id))[0]], ['number', 1.234]);
    const more = await loaded(server, id, `k${delimiter}v\na${delimiter}2.345\nb${delimiter}x\n`);
    assert.deepEqual([more.recordsIngested, more.recordsInvalid], [1, 1]);
    assert.equal((await valuesOf(server, id))[0], 2.345);
  }
});

test('texts of JSON stay texts, and numbers beside a mark of none are numbers', async () => {
  const texts = await fileOf('json', ['1,234.5', '12%']);
  assert.deepEqual(await loadColumn(server, 'JSON_TEXTS', texts), ['string', ['1,234.5', '12%']]);
  const mixed = '{"k":"a","v":1.5}\n{"k":"b","v":"NA"}\n{"k":"c","v":3}\n';
  assert.deepEqual(await loadColumn(server, 'JSON_MARKS', mixed), ['number', [1.5, null, 3]]);
});

test('an existing property of numbers is read the same way', async () => {
  await loaded(server, 'KNOWN', 'k,v\nr000000,1.5\n', { key: 'k' });
  const job = await loaded(server, 'KNOWN', await fileOf('csv', ['$1,234.50', 'NA', '($2)']));
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [3, 0]);
  assert.deepEqual(await valuesOf(server, 'KNOWN'), [1.5, 1_234.5, null, -2]);
  const more = await loaded(server, 'KNOWN', 'k,v\nx,7\ny,"1,000.5"\nz,many\n');
  assert.deepEqual([more.recordsIngested, more.recordsInvalid], [2, 1]);
});

const besides: readonly (readonly [string, string, readonly unknown[]])[] = [
  // Decimal commas in other columns: points separate thousands.
  ['comma', 'k;v;w\na;1.204;100,78\nb;998;99,1\n', [1_204, 998]],
  ['comma first', 'k;w;v\na;100,78;1.204\nb;99,1;2.310\n', [1_204, 2_310]],
  ['comma, no thousands', 'k;v;w\na;1.5;100,78\nb;1.204;99,1\n', [1.5, 1.204]],
  ['comma, and zero', 'k;v;w\na;0.500;100,78\nb;1.204;99,1\n', [0.5, 1.204]],
  // Decimal points in other columns: commas separate thousands, with any delimiter of cells.
  ['point', 'k;v;w\na;1,204;100.78\nb;998;99.1\n', [1_204, 998]],
  ['point and tabs', 'k\tv\tw\na\t1,204\t100.78\nb\t998\t99.1\n', [1_204, 998]],
  // Columns of both kinds prove nothing.
  ['both', 'k;v;w;x\na;1.204;100,78;1.5\nb;998;99,1;2.5\n', [1.204, 998]],
];
for (const [what, body, values] of besides) {
  test(`proof by other columns: ${what}`, async () => {
    const id = `BESIDE_${what.replaceAll(/\W/g, '_').toUpperCase()}`;
    await loaded(server, id, body, { key: 'k' });
    assert.deepEqual(await valuesOf(server, id), values);
  });
}

test('thousands far down, and in a later file, are those of the file', async () => {
  const lines = late('998', '1.204').map(
    (value, at) => `r${String(at).padStart(6, '0')};${value};1,5`,
  );
  const job = await loaded(server, 'BESIDE_LATE', `k;v;w\n${lines.join('\n')}\n`, { key: 'k' });
  assert.equal(job.recordsIngested, MANY);
  assert.equal(typeOf(server, 'BESIDE_LATE'), 'integer');
  assert.match(await read(server, '/data/WS/BESIDE_LATE/r024999'), /"v":1204[,}]/);
  const more = await loaded(server, 'BESIDE_LATE', 'k;v;w\nx;2.310;7,25\n');
  assert.deepEqual([more.recordsIngested, more.recordsInvalid], [1, 0]);
  assert.match(await read(server, '/data/WS/BESIDE_LATE/x'), /"v":2310[,}]/);
});

async function notesOf(id: string, body: string): Promise<readonly string[]> {
  const answer = await load(server, id, body, { key: 'symbol' });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const { notes } = JSON.parse(text) as { readonly notes: readonly string[] };
  return notes.filter((note) => note.includes('read '));
}

const POINTS = 'read with points between thousands';

test('points that are read as separators of thousands are counted, with the first number', async () => {
  const first = await notesOf('POINTS', 'symbol;close\nA;1.234\nB;2,5\nC;5.678\nD;7\n');
  assert.deepEqual(first, [
    'close: 1 text is read as a number, the first is "2,5" in line 3: 2.5',
    `close: 2 texts are ${POINTS}, the first is "1.234" in line 2: 1234`,
  ]);
});

test('points in a later file of an existing number are counted too', async () => {
  await loaded(server, 'POINTS_LATER', 'symbol;date;w\nA;2024-01-02;5.5\n', { key: 'symbol' });
  const body = 'symbol;date;w\nA;2024-01-03;1,5\nB;2024-01-03;2.345\n';
  assert.deepEqual(await notesOf('POINTS_LATER', body), [
    'w: 1 text is read as a number, the first is "1,5" in line 2: 1.5',
    `w: 1 text is ${POINTS}, the first is "2.345" in line 3: 2345`,
  ]);
  // Decimal commas of another column decide.
  const beside = 'symbol;date;w;x\nC;2024-01-03;1.234;1,5\n';
  assert.deepEqual(await notesOf('POINTS_BESIDE', beside), [
    `w: 1 text is ${POINTS}, the first is "1.234" in line 2: 1234`,
    'x: 1 text is read as a number, the first is "1,5" in line 2: 1.5',
  ]);
});
