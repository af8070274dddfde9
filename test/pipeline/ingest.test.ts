// An ingestion as a user sees it: schema, counts, rejected records, duplicates.
import assert from 'node:assert/strict';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, test } from 'vitest';
import { findRejects } from '../../store/work/jobs.ts';
import { get, load, loaded, read } from '../base/client.ts';
import { parquetOf } from '../soak/fuzz/http/bases.ts';
import { startServer, type TestServer } from '../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const schemaOf = (dataset: string): unknown =>
  server.tapedeck.services.lake.directory.dataset('WS', dataset)?.schema.properties;

const rejectsOf = async (jobId: string): Promise<readonly string[]> =>
  (await findRejects(server.tapedeck.services.database, jobId)).map(
    ({ line, error }) => `${line}: ${error}`,
  );

const INDEX = { key: 'symbol', date: 'date' };

test('types are inferred from the values, dates in the spelling of the file', async () => {
  const csv =
    'symbol,when,open,volume,cik,live,note\n' +
    'A,Jan 1 2000,1,10,0001,TRUE,x\n' +
    'B,Feb 12 2001,2.5,20,0002,false,\n';
  await loaded(server, 'TYPES', csv, { key: 'symbol', date: 'when' });
  assert.deepEqual(schemaOf('TYPES'), {
    symbol: { type: 'string' },
    when: { type: 'string', format: 'date' },
    open: { type: 'number' },
    volume: { type: 'integer' },
    cik: { type: 'string' },
    live: { type: 'boolean' },
    note: { type: 'string' },
  });
  assert.equal(
    await read(server, '/data/WS/TYPES?limit=2'),
    '[{"symbol":"B","when":"2001-02-12","open":2.5,"volume":20,"cik":"0002","live":false,"note":""},' +
      '{"symbol":"A","when":"2000-01-01","open":1,"volume":10,"cik":"0001","live":true,"note":"x"}]',
  );
});

test('a value beyond the sample widens its column instead of being rejected', async () => {
  const rows = Array.from({ length: 30_000 }, (_, at) => `K${at},2020-01-01,${at}`);
  rows.push('LAST,2020-01-02,12.75', 'LATER,2020-01-03,many');
  const job = await loaded(server, 'WIDENED', `symbol,date,v\n${rows.join('\n')}\n`);
  assert.equal(job.recordsIngested, 30_002);
  assert.equal(job.recordsInvalid, 0);
  assert.deepEqual((schemaOf('WIDENED') as Record<string, unknown>)['v'], { type: 'string' });
  assert.match(await read(server, '/data/WS/WIDENED/LAST'), /"v":"12.75"/);
});

test('a line break inside quotes is part of its cell, in the first record too', async () => {
  await loaded(server, 'BREAKS', 'symbol,date,note\nA,2020-01-01,"two\nlines"\nB,2020-01-01,one\n');
  assert.match(await read(server, '/data/WS/BREAKS/A'), /"note":"two\\nlines"/);
});

test('records that do not fit an existing schema are rejected with line and reason', async () => {
  await loaded(server, 'STRICT', 'symbol,date,price\nA,2020-01-01,1\n', INDEX);
  const csv =
    'symbol,date,price\n' +
    'B,2020-01-01,2\n' +
    'C,2020-13-01,3\n' +
    'D,2020-01-02,many\n' +
    ',2020-01-03,4\n' +
    'E,,5\n' +
    'F,2020-01-04,6,7\n' +
    'G,2020-01-05,8\n';
  const job = await loaded(server, 'STRICT', csv);
  assert.equal(job.recordsIngested, 2);
  assert.equal(job.recordsInvalid, 5);
  assert.deepEqual(await rejectsOf(job.jobId), [
    `3: validation failed: property 'date' should be date, not "2020-13-01"`,
    `4: validation failed: property 'price' should be number, not "many"`,
    "5: validation failed: should have required property 'symbol'",
    "6: validation failed: should have required property 'date'",
    '7: validation failed: Expected Number of Columns: 3 Found: 4',
  ]);
});

test('maximumValidationErrors ends the job and nothing of it is visible', async () => {
  await loaded(server, 'LIMITED', 'symbol,date,price\nA,2020-01-01,1\n');
  const csv = 'symbol,date,price\nB,2020-01-01,2\nC,x,3\nD,y,4\n';
  const answer = await load(server, 'LIMITED', csv, { maximumValidationErrors: '1' });
  assert.equal(answer.status, 400);
  assert.match(await answer.text(), /2 invalid records, 1 allowed: line 3: validation failed/);
  assert.equal(
    await read(server, '/data/WS/LIMITED?limit=9'),
    '[{"symbol":"A","date":"2020-01-01","price":1}]',
  );
});

test('a first load that its rejected records end leaves no dataset behind', async () => {
  const csv = 'symbol,date,price\nB,2020-01-01,2\nA,2020-01-01\n';
  const answer = await load(server, 'NEVER', csv, { maximumValidationErrors: '0' });
  assert.equal(answer.status, 400, await answer.text());
  assert.equal((await get(server, '/data/WS/NEVER')).status, 404);
});

test('a record over 64 KB is rejected by its line, in every format; one below it is loaded', async () => {
  const text = (length: number): string => 'x'.repeat(length);
  const csv = `symbol,note\nA,${text(65_000)}\nB,${text(65_536)}\nC,c\n`;
  const json = [
    { symbol: 'A', note: text(65_000) },
    { symbol: 'B', note: { deep: [text(65_536)] } },
    { symbol: 'C', note: 'c' },
  ];
  const parquet = await parquetOf(
    `SELECT symbol, repeat('x', n) AS note FROM (VALUES ('A', 65000), ('B', 65537), ('C', 1)) t(symbol, n)`,
  );
  const bodies = { csv, json: JSON.stringify(json), parquet } as const;
  for (const [kind, body] of Object.entries(bodies)) {
    for (const fresh of [true, false]) {
      const job = await loaded(server, `LARGE_${kind}`, body, { key: 'symbol' });
      const loadName = `${kind}, ${fresh ? 'first' : 'second'} load`;
      assert.deepEqual([job.recordsValidated, job.recordsInvalid], [2, 1], loadName);
      const line = kind === 'csv' ? 3 : 2;
      const reason = 'validation failed: should have at most 65536 bytes';
      assert.deepEqual(await rejectsOf(job.jobId), [`${line}: ${reason}`], loadName);
    }
  }
});

test('equal index values: the last of the file replaces, or the first stays', async () => {
  const csv = 'symbol,date,price\nA,2020-01-01,1\nB,2020-01-01,2\nA,2020-01-01,3\nA,2020-01-01,4\n';
  for (const chosen of [{ duplicates: 'keep-first' }, { duplicateKeyHandling: 'ignore' }]) {
    const id = `FIRST_${Object.keys(chosen).join('')}`;
    const first = await loaded(server, id, csv, { ...INDEX, ...chosen });
    assert.equal(first.recordsIngested, 2);
    assert.equal(first.recordsDuplicate, 2);
    assert.match(await read(server, `/data/WS/${id}/A`), /"price":1/);
  }
  await loaded(server, 'LAST', csv, INDEX);
  assert.match(await read(server, '/data/WS/LAST/A'), /"price":4/);
});

test('equal index values in the dataset are ignored or replaced, again and again', async () => {
  await loaded(
    server,
    'STORED',
    'symbol,date,price\nA,2020-01-01,1\nB,2020-01-01,1\nC,2020-01-01,1\n',
    INDEX,
  );
  const again = 'symbol,date,price\nA,2020-01-01,2\nD,2020-01-01,2\n';
  const ignored = await loaded(server, 'STORED', again, { duplicates: 'keep-first' });
  assert.deepEqual([ignored.recordsIngested, ignored.recordsDuplicate], [1, 1]);
  for (const price of [3, 4, 5]) {
    const csv = `symbol,date,price\nA,2020-01-01,${price}\nB,2020-01-01,${price}\n`;
    const job = await loaded(server, 'STORED', csv, { duplicateKeyHandling: 'replace' });
    assert.deepEqual([job.recordsIngested, job.recordsDuplicate], [2, 2]);
  }
  assert.equal(
    await read(server, '/data/WS/STORED?limit=9&filter=symbol,price&format=csv'),
    'symbol,price\nA,5\nB,5\nC,1\nD,2\n',
  );
});

test('the body decides, not its header: gzip, Parquet, wrong content types', async () => {
  const csv = 'symbol,date,price\nA,2020-01-01,1\n';
  await loaded(server, 'ZSTD', zstdCompressSync(csv));
  assert.match(await read(server, '/data/WS/ZSTD/A'), /"price":1/);
  await loaded(server, 'GZIPPED', gzipSync(csv));
  assert.match(await read(server, '/data/WS/GZIPPED/A'), /"price":1/);
  for (const type of ['application/json', 'undefined', 'text/csv']) {
    const url = `${server.base}/v1/data/WS/HEADER?wait=true&token=${server.secret}`;
    const headers = { 'content-type': type };
    const answer = await fetch(url, { method: 'POST', body: csv, headers });
    assert.equal(answer.status, 200, `${type}: ${await answer.text()}`);
  }
});

test('JSON: an array, objects on lines, an array below a path', async () => {
  const records = [
    { symbol: 'A', date: '2020-01-01', n: 1, tags: ['x', 'y'], deep: { a: 1 }, ok: true },
    { symbol: 'B', date: '2020-01-02', n: 2.5, tags: [], note: 'late', ok: false },
  ];
  const expected =
    '[{"symbol":"B","date":"2020-01-02","n":2.5,"tags":[],"deep":null,"ok":false,"note":"late"},' +
    '{"symbol":"A","date":"2020-01-01","n":1,"tags":["x","y"],"deep":{"a":1},"ok":true,"note":null}]';
  await loaded(server, 'ARRAY', JSON.stringify(records));
  assert.equal(await read(server, '/data/WS/ARRAY?last=9'), expected);
  await loaded(server, 'LINES', records.map((record) => JSON.stringify(record)).join('\n'));
  assert.equal(await read(server, '/data/WS/LINES?last=9'), expected);
  const nested = JSON.stringify({ data: { rows: records } });
  await loaded(server, 'NESTED', nested, { jsonPath: '$.data.rows' });
  assert.equal(await read(server, '/data/WS/NESTED?last=9'), expected);
  assert.deepEqual((schemaOf('LINES') as Record<string, unknown>)['tags'], { type: 'array' });
});

test('JSON lines that are no records are rejected with line and reason', async () => {
  await loaded(server, 'LINES2', '{"symbol":"A","date":"2020-01-01","n":1}\n', INDEX);
  const body =
    '{"symbol":"B","date":"2020-01-01","n":2}\nnot json\n[1]\n{"symbol":"C"}\n' +
    '{"symbol":"D","date":"2020-01-01","n":"many"}\n{"symbol":"E","date":"2020-01-01","n":"7"}\n';
  const job = await loaded(server, 'LINES2', body);
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [2, 4]);
  assert.deepEqual(await rejectsOf(job.jobId), [
    '2: validation failed: should be JSON; line 2, column 1: not, which is no JSON value: ' +
      'texts are in double quotes',
    '3: validation failed: should be object',
    "4: validation failed: should have required property 'date'",
    `5: validation failed: property 'n' should be integer, not "many"`,
  ]);
});

test('digits spell a date where a date is expected', async () => {
  const csv = 'symbol,date,volume\nA,20200131,20200131\nA,20200229,20200229\n';
  await loaded(server, 'DIGITS', csv);
  assert.equal(
    await read(server, '/data/WS/DIGITS?last=1'),
    '[{"symbol":"A","date":"2020-02-29","volume":20200229}]',
  );
  for (const [scale, text] of [
    ['S', '1580515200'],
    ['MS', '1580515200000'],
    ['US', '1580515200000000'],
    ['NS', '1580515200000000000'],
  ]) {
    await loaded(server, `EPOCH_${scale}`, `symbol,time\nA,${text}\n`);
    assert.equal(
      await read(server, `/data/WS/EPOCH_${scale}`),
      '[{"symbol":"A","time":"2020-02-01T00:00:00.000Z"}]',
    );
  }
  await loaded(
    server,
    'ZONED',
    'symbol,at\nA,2020-01-31T22:00:00-05:00\nB,2020-01-31 22:00:00.5\n',
  );
  assert.match(await read(server, '/data/WS/ZONED/A'), /"at":"2020-02-01T03:00:00.000Z"/);
  assert.match(await read(server, '/data/WS/ZONED/B'), /"at":"2020-01-31T22:00:00.500Z"/);
});

test('no value is rounded, cut or shifted to fit', async () => {
  const initialCsv = 'symbol,date,n,at\nA,2020-01-01,1,2020-01-01T00:00:00Z\n';
  await loaded(server, 'EXACT', initialCsv);
  const csv =
    'symbol,date,n,at\n' +
    'B,2020-01-02,12.75,2020-01-01T00:00:00Z\n' +
    'C,2020-01-02 10:00:00,1,2020-01-01T00:00:00Z\n' +
    'D,2020-01-02,9007199254740993,2020-01-01T10:00:00+02\n' +
    'E,2020-01-02 00:00:00,4.0,2020-01-01 10:00\n' +
    'F,2020-01-02,1e-7,2020-01-01T00:00:00Z\n' +
    'G,2020-01-02,1.5E1,2020-01-01 10:00\n';
  const job = await loaded(server, 'EXACT', csv);
  assert.deepEqual(await rejectsOf(job.jobId), [
    `2: validation failed: property 'n' should be integer, not "12.75"`,
    `3: validation failed: property 'date' should be date, not "2020-01-02 10:00:00"`,
    `6: validation failed: property 'n' should be integer, not "1e-7"`,
  ]);
  assert.equal(
    await read(server, '/data/WS/EXACT?on=2020-01-02&filter=symbol,date,n,at'),
    '[{"symbol":"D","date":"2020-01-02","n":"9007199254740993","at":"2020-01-01T08:00:00.000Z"},' +
      '{"symbol":"E","date":"2020-01-02","n":4,"at":"2020-01-01T10:00:00.000Z"},' +
      '{"symbol":"G","date":"2020-01-02","n":15,"at":"2020-01-01T10:00:00.000Z"}]',
  );
});

test('inference explains itself in the log', async () => {
  const rows = Array.from({ length: 60_000 }, (_, at) => `K${at},2020-01-01,${at}`);
  rows.push('LAST,2020-01-02,12.75');
  await loaded(server, 'EXPLAINED', `symbol,date,v\n${rows.join('\n')}\n`);
  const { database } = server.tapedeck.services;
  const lines = await database.selectFrom('log').select('message').execute();
  assert.ok(
    lines.some(({ message }) => message === 'v becomes number: line 60002 has "12.75", no integer'),
    lines
      .map(({ message }) => message)
      .filter((text) => text.includes('becomes'))
      .join('; '),
  );
});

const BAD: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ['nothing', '', /the body is empty/],
  ['half a gzip', gzipSync('symbol,date\n'.repeat(99)).subarray(0, 20), /gzip body is damaged/],
  ['cut Parquet', 'PAR1 and then nothing', /not readable Parquet/],
  ['binary', Uint8Array.of(1, 0, 2, 0, 3), /holds NUL bytes/],
  ['cut JSON', '[{"a":1},{"a":', /not readable JSON/],
  ['JSON without objects', '[1, 2]', /no JSON object/],
  ['a zip of nothing', 'PK\u0003\u0004 and then nothing', /zip body is damaged/],
  ['a reserved header', 'a,_System_x\n1,2\n', /reserved prefix/],
  ['a gzip bomb', gzipSync(Buffer.alloc(80_000_000, 'a')), /unpacks to over/],
];
for (const [name, body, reason] of BAD) {
  test(`${name} is refused in words`, async () => {
    const answer = await load(server, 'BAD', body);
    assert.equal(answer.status, 400);
    assert.match(((await answer.json()) as { message: string }).message, reason);
    assert.equal((await get(server, '/data/WS/BAD')).status, 404);
  });
}
