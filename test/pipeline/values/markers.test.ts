// Texts that mark a missing value, and the notes of a load about them.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { fileOf, typeOf, valuesOf } from './written.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const recordsOf = async (id: string): Promise<readonly unknown[]> =>
  JSON.parse(await read(server, `/data/WS/${id}?limit=100`)) as readonly unknown[];

async function notesOf(
  id: string,
  body: string,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const answer = await load(server, id, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return (JSON.parse(text) as { readonly notes: readonly string[] }).notes;
}

test('marks of a number that is missing are null beside numbers, and are noted', async () => {
  const body = [
    'id,none,dd,div0,bbg,mysql,minus,inf',
    String.raw`1,None,--,#DIV/0!,#N/A N/A,\N,49.03-,inf`,
    '2,1.5,1.5,1.5,1.5,1.5,12.00,1.5',
    '3,2.5,2.5,2.5,2.5,2.5,7.50-,2.5',
    '',
  ].join('\n');
  const notes = await notesOf('MARKS', body);
  const none = { none: null, dd: null, div0: null, bbg: null, mysql: null };
  assert.deepEqual(
    (await recordsOf('MARKS')).toSorted((one, other) => idOf(one) - idOf(other)),
    [
      { id: 1, ...none, minus: -49.03, inf: null },
      { id: 2, none: 1.5, dd: 1.5, div0: 1.5, bbg: 1.5, mysql: 1.5, minus: 12, inf: 1.5 },
      { id: 3, none: 2.5, dd: 2.5, div0: 2.5, bbg: 2.5, mysql: 2.5, minus: -7.5, inf: 2.5 },
    ],
  );
  assert.ok(
    notes.includes(
      'none: 1 text is read as null, the first is "None" in line 2; the parameter nulls names other texts',
    ),
    notes.join('\n'),
  );
  assert.ok(
    notes.includes('minus: 2 texts are read as a number, the first is "49.03-" in line 2: -49.03'),
    notes.join('\n'),
  );
});

const idOf = (record: unknown): number => (record as { readonly id: number }).id;

const MARKS = [
  'None',
  '--',
  'n/a',
  'N/A',
  '#N/A',
  '#N/A N/A',
  '#DIV/0!',
  '#VALUE!',
  String.raw`\N`,
  '.',
  '-',
  '—',
  'nan',
  'NaN',
  'NULL',
  'N.A.',
  'n.a.',
  '#REF!',
  '#NUM!',
  '..',
  'NA',
  'Infinity',
  '-inf',
];

test('each mark is null in columns of numbers and dates, and stays a text among texts', async () => {
  const lines = MARKS.map((mark, at) => `${at + 10},${mark},${mark},${mark}`);
  const body = `n,number,date,text\n1,1.5,2024-01-31,x\n${lines.join('\n')}\n`;
  await loaded(server, 'EACH', body, { key: 'n' });
  const records = (await recordsOf('EACH')) as readonly {
    readonly n: number;
    readonly number: unknown;
    readonly date: unknown;
    readonly text: unknown;
  }[];
  assert.equal(records.length, MARKS.length + 1);
  for (const { date, n, number, text } of records) {
    if (n > 1) assert.deepEqual([number, date, text], [null, null, MARKS[n - 10]]);
  }
});

test('nulls names the texts instead, in texts as well', async () => {
  const body = 'k,v,t\na,1.5,x\nb,-999,-999\nc,2.5,NA\n';
  const notes = await notesOf('NAMED', body, { key: 'k', nulls: '-999,NA' });
  assert.deepEqual(await recordsOf('NAMED'), [
    { k: 'a', v: 1.5, t: 'x' },
    { k: 'b', v: null, t: null },
    { k: 'c', v: 2.5, t: null },
  ]);
  assert.ok(
    notes.some((note) => note.startsWith('t: 2 texts are read as null')),
    notes.join('\n'),
  );
  await loaded(server, 'UNNAMED', 'k,v\na,1.5\nb,NA\n', { key: 'k', nulls: '' });
  assert.deepEqual(
    [typeOf(server, 'UNNAMED'), await valuesOf(server, 'UNNAMED')],
    ['string', ['1.5', 'NA']],
  );
  const json = '{"k":"a","v":1.5,"t":"x"}\n{"k":"b","v":"-999","t":"-999"}\n';
  await loaded(server, 'NAMED_JSON', json, { key: 'k', nulls: '-999' });
  assert.deepEqual(await recordsOf('NAMED_JSON'), [
    { k: 'a', v: 1.5, t: 'x' },
    { k: 'b', v: null, t: null },
  ]);
});

test('a record whose key is a text that means none is rejected', async () => {
  const job = await loaded(server, 'NO_KEY', 'k,v\na,1\nNA,2\n', { key: 'k', nulls: 'NA' });
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [1, 1]);
});

test('a load names at most so many texts', async () => {
  const nulls = Array.from({ length: 51 }, (_, at) => `x${at}`).join(',');
  const many = await load(server, 'MANY', 'k,v\na,1\n', { nulls });
  assert.match(await many.text(), /nulls.{1,3} must be at most 50 texts/);
});

test('NaN and Infinity of JSON are numbers that are missing', async () => {
  await loaded(server, 'NAN', '[{"a":1,"b":NaN},{"a":2,"b":Infinity},{"a":3,"b":0.5}]');
  assert.deepEqual([typeOf(server, 'NAN', 'a'), typeOf(server, 'NAN', 'b')], ['integer', 'number']);
  const records = (await recordsOf('NAN')) as readonly { readonly a: number }[];
  assert.deepEqual(
    records.toSorted((one, other) => one.a - other.a),
    [
      { a: 1, b: null },
      { a: 2, b: null },
      { a: 3, b: 0.5 },
    ],
  );
});

test('a mark far down, and in a later file, is null', async () => {
  const usual = Array.from({ length: 25_000 }, () => '1.5');
  await loaded(server, 'FAR_DOWN', await fileOf('csv', [...usual, '#DIV/0!']), { key: 'k' });
  assert.equal(typeOf(server, 'FAR_DOWN'), 'number');
  const job = await loaded(server, 'FAR_DOWN', 'k,v\nx,--\ny,2.5\n');
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 0]);
});
