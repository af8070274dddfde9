// What a person sees of an ingestion: schema, counts, rejected records, duplicates.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { findRejects } from '../../store/jobs.ts';
import { get, load, loaded, read } from '../client.ts';
import { startServer, type TestServer } from '../server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.close());

const schemaOf = (dataset: string): unknown =>
  server.tapedeck.services.lake.catalogue.dataset('WS', dataset)?.schema.properties;

const rejectsOf = async (jobId: string): Promise<readonly string[]> =>
  (await findRejects(server.tapedeck.services.database, jobId)).map(
    ({ line, error }) => `${line}: ${error}`,
  );

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
  rows.push('LAST,2020-01-02,12.75', 'LATER,2020-01-03,none');
  const job = await loaded(server, 'WIDENED', `symbol,date,v\n${rows.join('\n')}\n`);
  assert.equal(job.recordsIngested, 30_002);
  assert.equal(job.recordsInvalid, 0);
  assert.deepEqual((schemaOf('WIDENED') as Record<string, unknown>)['v'], { type: 'string' });
  assert.match(await read(server, '/data/WS/WIDENED/LAST'), /"v":"12.75"/);
});

test('records that do not fit a known schema are rejected with line and reason', async () => {
  await loaded(server, 'STRICT', 'symbol,date,price\nA,2020-01-01,1\n');
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
    "3: validation failed: property 'date' should be date",
    "4: validation failed: property 'price' should be integer",
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

test('equal index values: the first of the file stays, or the last replaces', async () => {
  const csv = 'symbol,date,price\nA,2020-01-01,1\nB,2020-01-01,2\nA,2020-01-01,3\nA,2020-01-01,4\n';
  const first = await loaded(server, 'FIRST', csv);
  assert.equal(first.recordsIngested, 2);
  assert.equal(first.recordsDuplicate, 2);
  assert.match(await read(server, '/data/WS/FIRST/A'), /"price":1/);
  await loaded(server, 'LAST', csv, { duplicateKeyHandling: 'replace' });
  assert.match(await read(server, '/data/WS/LAST/A'), /"price":4/);
});

test('equal index values in the dataset are ignored or replaced, again and again', async () => {
  await loaded(
    server,
    'STORED',
    'symbol,date,price\nA,2020-01-01,1\nB,2020-01-01,1\nC,2020-01-01,1\n',
  );
  const again = 'symbol,date,price\nA,2020-01-01,2\nD,2020-01-01,2\n';
  const ignored = await loaded(server, 'STORED', again);
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
  await loaded(server, 'GZIPPED', gzipSync(csv));
  assert.match(await read(server, '/data/WS/GZIPPED/A'), /"price":1/);
  for (const type of ['application/json', 'undefined', 'text/csv']) {
    const url = `${server.base}/v1/data/WS/HEADER?wait=true&token=${server.secret}`;
    const headers = { 'content-type': type };
    const answer = await fetch(url, { method: 'POST', body: csv, headers });
    assert.equal(answer.status, 200, `${type}: ${await answer.text()}`);
  }
});

const BAD: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ['nothing', '', /the body is empty/],
  ['half a gzip', gzipSync('symbol,date\n'.repeat(99)).subarray(0, 20), /gzip body is damaged/],
  ['cut Parquet', 'PAR1 and then nothing', /not readable Parquet/],
  ['binary', Uint8Array.of(1, 0, 2, 0, 3), /neither Parquet, gzip nor UTF-8 text/],
  ['JSON', '[{"a":1}]', /the body is JSON/],
  ['a repeated header', 'a,date,A\n1,2020-01-01,2\n', /names column A twice/],
  ['a reserved header', 'a,_System_x\n1,2\n', /reserved prefix/],
  ['an empty header name', 'a,,c\n1,2,3\n', /empty column name/],
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
