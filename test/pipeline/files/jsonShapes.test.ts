// Records of JSON in the shapes of vendors and of pandas, and each printed path followed as it is printed.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { printJsonPath, parseSteps } from '../../../pipeline/decode/json/jsonPath.ts';
import { findJob } from '../../../store/work/jobs.ts';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const SHAPES = join(import.meta.dirname, '..', 'hostile', 'inputs');
const fileOf = (name: string): Promise<string> => readFile(join(SHAPES, name), 'utf8');

type Query = Readonly<Record<string, string>>;

interface Case {
  readonly name: string;
  readonly body: string;
  readonly query?: Query;
  /** The records in the order of the file, as CSV. */
  readonly records: string;
  /** Further text of the notes. */
  readonly note?: RegExp;
}

const QUANDL = JSON.stringify({
  datatable: {
    data: [
      ['A', '2024-01-01', 1.5],
      ['B', '2024-01-02', 2],
    ],
    columns: [
      { name: 'ticker', type: 'String' },
      { name: 'date', type: 'Date' },
      { name: 'value', type: 'double' },
    ],
  },
  meta: { next_cursor_id: null },
});

const CASES: readonly Case[] = [
  {
    name: 'lists of lists have the names of their places',
    body: '[[1478131200000,950.0,"x"],[1478736000000,240.03,null]]',
    records: 'column1,column2,column3\n1478131200000,950,x\n1478736000000,240.03,\n',
    note: /records are lists: their values are column1 to column3/,
  },
  {
    name: 'names of their places by parameter',
    body: '[[1,950.0],[2,240.03]]',
    query: { header: 'false', columns: '{"column1":"n","column2":"open"}' },
    records: 'n,open\n1,950\n2,240.03\n',
  },
  {
    name: 'a first list of names',
    body: '[["symbol","open"],["A",2.5],["B",4.5]]',
    records: 'symbol,open\nA,2.5\nB,4.5\n',
    note: /the first of them has their names/,
  },
  {
    name: 'a first list of names, by parameter',
    body: '[["symbol","note"],["A","x"],["B","y"]]',
    query: { header: 'true' },
    records: 'symbol,note\nA,x\nB,y\n',
  },
  {
    name: 'lists below a path',
    body: '{"error":[],"result":{"XXBTZUSD":[[1,"2.5"],[2,"3.5"]],"last":5}}',
    query: { jsonPath: '$.result.XXBTZUSD' },
    records: 'column1,column2\n1,2.5\n2,3.5\n',
  },
  {
    name: 'fields and data',
    body: '{"fields":["cik","name"],"data":[[320193,"Apple Inc."],[789019,"MICROSOFT CORP"]]}',
    records: 'cik,name\n320193,Apple Inc.\n789019,MICROSOFT CORP\n',
    note: /records are the lists of a table/,
  },
  {
    name: 'columns and data with an index, as pandas splits them',
    body: '{"columns":["a","b"],"index":["x","y"],"data":[[1,2.5],[3,null]]}',
    records: 'index,a,b\nx,1,2.5\ny,3,\n',
  },
  {
    name: 'a table within a document',
    body: QUANDL,
    records: 'ticker,date,value\nA,2024-01-01,1.5\nB,2024-01-02,2\n',
    note: /warning: left out of the document: meta/,
  },
  {
    name: 'a list for each column',
    body: '{"c":[1.5,2.25],"o":[1,2],"s":"ok","t":[1569297600,1569384000]}',
    records: 'c,o,t\n1.5,1,1569297600\n2.25,2,1569384000\n',
    note: /warning: left out of the document: s/,
  },
  {
    name: 'a list for each column, with a value for all',
    body: '{"symbol":"A","bid":[1,2,3],"ask":[4,5,6]}',
    records: 'symbol,bid,ask\nA,1,4\nA,2,5\nA,3,6\n',
  },
  {
    name: 'a member for each row',
    body: '{"2024-01-01":{"open":1},"2024-01-02":{"open":3}}',
    records: 'date,open\n2024-01-01,1\n2024-01-02,3\n',
    note: /their names became property date/,
  },
  {
    name: 'an object for each column',
    body: '{"open":{"0":1,"1":2},"close":{"0":3,"1":4.5}}',
    records: 'index,open,close\n0,1,3\n1,2,4.5\n',
    note: /records are the members of 2 columns/,
  },
  {
    name: 'digits stay as they are',
    body: '{"columns":["a","b"],"data":[["x",12345678901234567],["y",1]]}',
    records: 'a,b\nx,12345678901234567\ny,1\n',
  },
  {
    name: 'one record of two lists, where a parameter declares the body to be one record',
    body: '{"bid":[1,2],"ask":[3,4]}',
    query: { as: 'json' },
    records: 'bid,ask\n"[1,2]","[3,4]"\n',
  },
];

for (const [at, { body, name, note, query = {}, records }] of CASES.entries()) {
  test(name, async () => {
    const id = `SHAPE${at}`;
    const job = await loaded(server, id, body, query);
    const path = `/data/WS/${id}?limit=99&sort=asc&format=csv`;
    assert.deepEqual(sorted(await read(server, path)), sorted(records));
    const { database } = server.tapedeck.services;
    if (note !== undefined)
      assert.match((await findJob(database, job.jobId))?.notes_json ?? '', note);
  });
}

const sorted = (csv: string): readonly string[] => csv.trim().split(/\r?\n/).sort();

test('a list of another length is rejected, and none is shifted', async () => {
  const job = await loaded(server, 'RAGGED', '[[1,2],[3,4,5],[6],[7,8]]');
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 2]);
});

test('parameters that contradict a table or its columns are refused in words', async () => {
  for (const [body, reason] of [
    ['[["a","a"],[1,2]]', /the header of the lists has the name \\"a\\" twice/],
    [
      '{"o":{"0":1,"1":2,"2":3},"c":{"0":3,"1":4,"3":5}}',
      /the columns of the document have different rows/,
    ],
  ] as const) {
    const answer = await load(server, 'WRONG', body);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), reason);
  }
});

/** Documents whose records are somewhere inside; each is refused with a path. */
const HINTS: readonly (readonly [string, number])[] = [
  ['{"meta":{"x":1},"data":[{"a":1},{"a":2}]}', 2],
  ['{"meta":{"x":1},"payload":{"the rows":[{"a":1},{"a":2},{"a":3}]}}', 3],
  ['{"a.b":{"a \\"b\\"":[{"a":1},{"a":2}]}}', 2],
  [`{"it's":[{"a":1},{"a":2}]}`, 2],
  ['{"kurse":{"Größe [m]":[{"a":1},{"a":2}]}}', 2],
  ['{"ключ":[{"a":1},{"a":2}]}', 2],
  ['{"error":[],"result":{"XXBTZUSD":[[1,"2.5"],[2,"3.5"]],"last":5}}', 2],
  [
    '{"m":{},"Time (5min)":{"2024-01-03 19:55":{"1. open":"1"},"2024-01-03 19:50":{"1. open":"2"}}}',
    2,
  ],
];

for (const [at, [body, records]] of HINTS.entries()) {
  test(`the path that is printed works: ${body.slice(0, 50)}`, async () => {
    const id = `HINT${at}`;
    const refused = await load(server, id, body);
    const { message } = JSON.parse(await refused.text()) as { readonly message: string };
    assert.equal(refused.status, 400, message);
    const [, jsonPath = ''] = /pass jsonPath=(.*) \(--json-path /.exec(message) ?? [];
    const job = await loaded(server, id, body, { jsonPath });
    assert.equal(job.recordsIngested, records, jsonPath);
    const other = await loaded(server, `${id}_ONE`, body, { as: 'json' });
    assert.equal(other.recordsIngested, 1);
  });
}

test('names with blanks in a path', async () => {
  const body = await fileOf('p32-jsonpath-spaces.json');
  await loaded(server, 'DAILY', body, { jsonPath: '$["Time Series (Daily)"].{date}' });
  const first =
    '{"date":"2024-01-03","1. open":"161.00","4. close":"160.10","5. volume":"4086065"}';
  assert.equal(await read(server, '/data/WS/DAILY?last=1'), `[${first}]`);
  const single = { jsonPath: "$['Time Series (Daily)'].{date}" };
  assert.equal((await loaded(server, 'SINGLE', body, single)).recordsIngested, 2);
});

test('public inputs', async () => {
  assert.equal(
    (await loaded(server, 'CCXT', await fileOf('p30-ccxt-arrays.json'))).recordsIngested,
    2,
  );
  assert.equal(
    (await loaded(server, 'SEC', await fileOf('p31-fields-data.json'))).recordsIngested,
    2,
  );
});

test('a path is printed as it is read', () => {
  for (const path of ['$', '$.a[*]', '$["a b"].{date}', '$.größe["x.y"][*]', '$["\\"q\\""]']) {
    assert.equal(printJsonPath(parseSteps(path)), path);
  }
});
