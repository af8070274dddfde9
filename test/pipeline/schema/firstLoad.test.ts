// A first load keeps every record: an index is proved on all of them, or there is none. A load reports
// everything that it leaves out.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'vitest';
import { load, loaded, read, send } from '../../base/client.ts';
import { connectionHere } from '../../base/duckdbHere.ts';
import { lakePaths, startServer, type TestServer } from '../../base/server.ts';

interface Loaded {
  readonly notes: readonly string[];
  readonly records: number;
  readonly mapping: Readonly<Record<string, string>>;
  readonly isUnique: boolean;
}

async function first(
  server: TestServer,
  dataset: string,
  body: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Loaded> {
  const answer = await load(server, dataset, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const { notes } = JSON.parse(text) as { readonly notes: readonly string[] };
  const view = JSON.parse((await send(server, 'GET', `/datasets/WS/${dataset}`)).text) as {
    readonly records: number;
    readonly columnMapping: Readonly<Record<string, string>>;
    readonly uniqueIndex?: boolean;
  };
  const { columnMapping: mapping, records, uniqueIndex = true } = view;
  return { notes, records, mapping, isUnique: uniqueIndex };
}

const csv = (head: string, ...lines: readonly string[]): string => [head, ...lines, ''].join('\n');

const INFERRED =
  /^inferred index: key symbol, date date: it orders and finds records, and every record is kept/;

test('an index that the names suggest orders records, and is not unique', async () => {
  await using server = await startServer();
  const body = csv('symbol,date,close', 'A,2020-01-01,1', 'A,2020-01-02,2', 'B,2020-01-01,3');
  const { isUnique, mapping, notes, records } = await first(server, 'A', body);
  assert.deepEqual([mapping, isUnique, records], [{ key: 'symbol', date: 'date' }, false, 3]);
  assert.match(notes[0] ?? '', INFERRED);
  assert.equal(notes[1], 'properties: symbol string, date date, close number');
});

test('a repeated key is extended by the columns that distinguish its records', async () => {
  await using server = await startServer();
  const years = csv('year,country,pop', '1955,X,10', '1960,X,11', '1955,Y,10', '1960,Y,12');
  const panel = await first(server, 'YEARS', years);
  assert.deepEqual([panel.mapping, panel.isUnique], [{ key: 'country', subkey: 'year' }, false]);
  const cities = csv('location,date,rain', 'S,2020-01-01,1', 'N,2020-01-01,2', 'S,2020-01-02,1');
  const weather = await first(server, 'CITIES', cities);
  assert.deepEqual(weather.mapping, { key: 'location', date: 'date' });
  const venues = csv(
    'symbol,date,venue,price',
    'A,2020-01-01,X,1',
    'A,2020-01-01,Y,2',
    'A,2020-01-02,X,1',
    'A,2020-01-02,Y,2',
  );
  const three = await first(server, 'VENUES', venues);
  assert.deepEqual(three.mapping, { key: 'symbol', subkey: 'venue', date: 'date' });
});

test('distinct free texts are no key, and digits that no number holds are a text', async () => {
  await using server = await startServer();
  const bank = csv(
    'day,amount,text',
    '2024-03-01,-3,Bread',
    '2024-03-01,-2,Milk',
    '2024-03-02,5,Pay',
  );
  const { isUnique, mapping } = await first(server, 'BANK', bank);
  assert.deepEqual([mapping, isUnique], [{ date: 'day' }, false]);
  const long = ['1', '2', '12345678901234567890', '12345678901234567891'];
  const ids = await first(server, 'IDS', csv('id,v', ...long.map((id) => `${id},1`)));
  assert.deepEqual([ids.mapping, ids.isUnique], [{ key: 'id' }, false]);
  assert.match(await read(server, '/data/WS/IDS?limit=9&format=csv'), /^12345678901234567891,1$/m);
});

test('without distinguishing columns every record is kept, in the order of the file', async () => {
  await using server = await startServer();
  const lines = ['B,2020-01-01,1', 'A,2020-01-02,2', 'A,2020-01-02,2', 'A,2020-01-01,3'];
  const body = csv('symbol,date,v', ...lines);
  const { isUnique, mapping, notes, records } = await first(server, 'A', body);
  assert.deepEqual([mapping, isUnique, records], [{ key: 'symbol', date: 'date' }, false, 4]);
  assert.match(notes[0] ?? '', INFERRED);
  assert.equal(
    await read(server, '/data/WS/A/A?limit=10&format=csv'),
    'symbol,date,v\nA,2020-01-02,2\nA,2020-01-02,2\nA,2020-01-01,3\n',
  );
  assert.equal(JSON.parse(await read(server, '/time-series/WS.A/A?last=9')).length, 3);
  const sum = encodeURIComponent('SELECT count(*) AS n, sum(v) AS s FROM A');
  assert.equal(await read(server, `/sql-query/WS?sqlQuery=${sum}`), '[{"n":4,"s":8}]');
  const plain = await first(server, 'T', csv('note,v', 'x,1', 'x,1', 'y,1', 'x,1'));
  assert.deepEqual([plain.mapping, plain.isUnique, plain.records], [{}, false, 4]);
  assert.equal(
    await read(server, '/data/WS/T?limit=10&format=csv'),
    'note,v\nx,1\nx,1\ny,1\nx,1\n',
  );
});

test('records without a unique index are appended, pushed, deleted, purged and listed', async () => {
  await using server = await startServer();
  await first(server, 'A', csv('symbol,date,v', 'A,2020-01-01,1', 'A,2020-01-01,1'));
  await first(server, 'A', csv('symbol,date,v', 'A,2020-01-01,1', 'B,2020-01-01,2'));
  const pushed = { symbol: 'A', date: '2020-01-01', v: 1 };
  for (let n = 0; n < 2; n += 1) {
    const { status, text } = await send(server, 'POST', '/record/WS/A', pushed);
    assert.equal(status, 200, text);
  }
  const all = async (): Promise<string> => read(server, '/data/WS/A?limit=20&format=csv');
  const five = 'A,2020-01-01,1\n'.repeat(5);
  assert.equal(await all(), `symbol,date,v\n${five}B,2020-01-01,2\n`);
  const changes = await send(server, 'GET', '/changes/WS/A?since=0');
  const changeEntries = JSON.parse(changes.text) as readonly {
    readonly inserted: readonly unknown[];
  }[];
  assert.equal(changeEntries.flatMap(({ inserted }) => inserted).length, 6, changes.text);
  const deletion = await send(server, 'DELETE', '/data/WS/A/A?from=2020-01-01&to=2020-01-01');
  assert.match(deletion.text, /5 /);
  assert.equal(await all(), 'symbol,date,v\nB,2020-01-01,2\n');
  const purged = await send(server, 'DELETE', '/data/WS/A/A?purge=true');
  assert.match(purged.text, /purged 5 /);
});

test('a requested index leaves out repeated values, and reports how many and which', async () => {
  await using server = await startServer();
  const body = csv('symbol,date,v', 'A,2020-01-01,1', 'A,2020-01-01,2', 'B,2020-01-01,3');
  const index = { key: 'symbol', date: 'date' };
  const { notes, records } = await first(server, 'A', body, index);
  assert.equal(records, 2);
  const warning = 'warning: 1 of 3 records have an index value that was taken, the last one stays';
  assert.equal(notes[2], `${warning}, in the file such as (A, 2020-01-01)`);
  const refused = await load(server, 'B', body, { ...index, duplicateKeyHandling: 'refuse' });
  const text = await refused.text();
  assert.equal(refused.status, 400, text);
  assert.match(text, /1 records repeat an index value, such as \(A, 2020-01-01\): name more/);
  const blank = await load(server, 'E', `${body},2020-01-03,1\n`, {
    ...index,
    duplicateKeyHandling: 'refuse',
  });
  assert.match(await blank.text(), /1 records repeat an index value: name more/);
  const all = await first(server, 'C', body, { ...index, uniqueIndex: 'false' });
  assert.deepEqual([all.records, all.isUnique], [3, false]);
  const again = await first(server, 'A', body);
  assert.match(again.notes.at(-1) ?? '', /^2 records are unchanged/);
});

test('a key with blanks distinguishes no records, one longer than the limit is no key', async () => {
  await using server = await startServer();
  const blanks = await first(server, 'A', csv('symbol,date,v', 'A,2020-01-01,1', ',2020-01-01,2'));
  assert.deepEqual([blanks.mapping, blanks.records], [{ key: 'symbol', date: 'date' }, 2]);
  assert.equal(blanks.isUnique, false);
  assert.equal(
    await read(server, '/data/WS/A?limit=9&format=csv'),
    'symbol,date,v\n"",2020-01-01,2\nA,2020-01-01,1\n',
  );
  const long = csv('symbol,v', `${'x'.repeat(2_000)},1`, 'y,2', 'y,2');
  const result = await first(server, 'B', long);
  assert.deepEqual([result.mapping, result.records, result.isUnique], [{}, 3, false]);
});

test('records without an index are stored in the order of arrival, load after load', async () => {
  await using server = await startServer();
  // A file of several pieces, which the threads share.
  const count = 400_000;
  const lines = (from: number): string =>
    `v\n${Array.from({ length: count }, (_, at) => from + at).join('\n')}\n`;
  await loaded(server, 'A', `v\n${'7\n'.repeat(2)}`);
  await loaded(server, 'A', lines(2));
  await loaded(server, 'B', lines(0), { uniqueIndex: 'false' });
  using stack = new DisposableStack();
  const connection = stack.adopt(await connectionHere(), (one) => one.closeSync());
  const files = (await lakePaths(server)).filter((path) => path.endsWith('.parquet'));
  const large = [];
  for (const path of files) {
    const rows = `SELECT v, _system_row AS n, lag(_system_row) OVER () AS before
      FROM read_parquet('${join(server.folder, 'lake', path)}') WHERE v <> 7 OR _system_row > 2`;
    const result = await connection.runAndReadAll(
      `SELECT count(*)::INT AS records, count(*) FILTER (WHERE n <> v + 1)::INT AS others,
        count(*) FILTER (WHERE n <= before)::INT AS turned FROM (${rows})`,
    );
    large.push(...result.getRowObjectsJS().filter(({ records }) => records === count));
  }
  const expected = { records: count, others: 0, turned: 0 };
  assert.deepEqual(large, [expected, expected]);
});

test('a token that may only write gets no information about stored records', async () => {
  await using server = await startServer();
  await loaded(server, 'A', 'symbol,date,v\nA,2020-01-01,1\n');
  const grants = [{ datasets: 'WS.A', rights: ['write'] }];
  const response = await send(server, 'POST', '/account/tokens', { kind: 'publishable', grants });
  assert.equal(response.status, 200, response.text);
  const { token } = JSON.parse(response.text) as { readonly token: string };
  const url = `${server.base}/v1/data/WS/A?wait=true&token=${token}`;
  const answer = await fetch(url, { method: 'POST', body: 'symbol,date,v\nA,2020-01-01,2\n' });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.deepEqual(Object.keys(JSON.parse(text) as object), [
    'success',
    'message',
    'jobId',
    'jobUrl',
    'received',
    'rejected',
    'columnsLeftOut',
  ]);
});

test('the search for an index stays within the memory of loads, for texts of any width', async () => {
  await using server = await startServer({ settings: { TAPEDECK_INGEST_MEMORY: '150000000' } });
  const names = Array.from({ length: 40 }, (_, at) => `c${at}`);
  const line = (row: number): string => names.map((name) => `${name} ${row} of many`).join(',');
  const rows = Array.from({ length: 50_000 }, (_, row) => line(row >> 1));
  const { isUnique, records } = await first(server, 'WIDE', csv(names.join(','), ...rows));
  assert.deepEqual([isUnique, records], [false, 50_000]);
});

test('a text without quotes is read as the same one with quotes', async () => {
  await using server = await startServer();
  const records = ['A;2020-01-01;1,5;x,y', 'B;2020-01-02;;', ' ', 'C;bad;2;|'];
  const ends = ['\n', '\r\n', '\r'];
  const allEnds = async (note: string): Promise<readonly unknown[]> => {
    const results: unknown[] = [];
    for (const end of ends) {
      const dataset = `Q${results.length}${note.length}`;
      const body = [`symbol;date;v;${note}`, '', ...records].join(end);
      const { mapping, notes } = await first(server, dataset, body);
      results.push({ mapping, notes, rows: await read(server, `/data/WS/${dataset}?limit=9`) });
    }
    return results;
  };
  const plain = await allEnds('n');
  assert.match(JSON.stringify(plain[0]), /x,y.*"v\\":null.*bad/);
  assert.deepEqual(plain, await allEnds('"n"'));
});
