// Without a declared index every record is kept: pushes, second files, repeated keys, missing values; and the
// answer counts each outcome.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { load, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

interface Answer {
  readonly message: string;
  readonly received: number;
  readonly stored: number;
  readonly replaced: number | null;
  readonly duplicates: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly columnsLeftOut: readonly string[];
  readonly inferred: readonly string[];
  readonly warnings: readonly string[];
  readonly rejects: readonly { readonly line: number; readonly error: string }[];
}

async function store(
  server: TestServer,
  dataset: string,
  body: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await load(server, dataset, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Answer;
}

async function push(server: TestServer, dataset: string, value: object): Promise<Answer> {
  const { status, text } = await send(server, 'POST', `/record/WS/${dataset}`, value);
  assert.equal(status, 200, text);
  return JSON.parse(text) as Answer;
}

const csv = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;

const all = (server: TestServer, dataset: string): Promise<string> =>
  read(server, `/data/WS/${dataset}?limit=100&sort=ASC&format=csv`);

const count = async (server: TestServer, dataset: string): Promise<number> => {
  const query = encodeURIComponent(`SELECT count(*) AS n FROM ${dataset}`);
  const [row] = JSON.parse(await read(server, `/sql-query/WS?sqlQuery=${query}`));
  return row.n;
};

test('each of five pushes to a new dataset is stored', async () => {
  await using server = await startServer();
  for (let minute = 0; minute < 5; minute += 1) {
    const record = { symbol: 'AAPL', ts: `2026-03-02T14:3${minute}:00Z`, price: 100 + minute };
    const answer = await push(server, 'NEW', record);
    assert.equal(answer.message, 'wrote 1 records');
    assert.deepEqual([answer.received, answer.stored, answer.rejected], [1, 1, 0]);
  }
  const records = JSON.parse(await read(server, '/data/WS/NEW/AAPL?limit=10&sort=ASC'));
  assert.deepEqual(
    records.map(({ price }: { price: number }) => price),
    [100, 101, 102, 103, 104],
  );
  assert.equal(await count(server, 'NEW'), 5);
});

test('pushes that share the date of the first one are all stored, before and after their flush', async () => {
  await using server = await startServer();
  await push(server, 'CITIES', [{ city: 'oslo', date: '2024-01-01', v: 1 }]);
  const two = await push(server, 'CITIES', [
    { city: 'rome', date: '2024-01-01', v: 2 },
    { city: 'oslo', date: '2024-01-01', v: 1 },
  ]);
  assert.deepEqual([two.received, two.stored, two.replaced, two.duplicates], [2, 2, 0, 0]);
  assert.equal(await count(server, 'CITIES'), 3);
  // A load has its turn after the flush.
  await store(server, 'CITIES', csv('city,date,v', 'bern,2024-01-02,4'));
  assert.equal(await count(server, 'CITIES'), 4);
  await push(server, 'CITIES', { city: 'lima', date: '2024-01-01', v: 5 });
  const rows = (await all(server, 'CITIES')).trim().split('\n').slice(1);
  assert.deepEqual(rows.toSorted(), [
    'bern,2024-01-02,4',
    'lima,2024-01-01,5',
    'oslo,2024-01-01,1',
    'oslo,2024-01-01,1',
    'rome,2024-01-01,2',
  ]);
});

test('a record without the inferred key or date is kept, and read', async () => {
  await using server = await startServer();
  await push(server, 'P', { symbol: 'A', date: '2024-01-01', v: 1 });
  await push(server, 'P', { symbol: 'A', v: 2 });
  await push(server, 'P', { date: '2024-01-03', v: 3 });
  const answer = await store(server, 'P', csv('symbol,date,v', ',2024-01-04,4', 'A,,5'));
  assert.deepEqual([answer.received, answer.stored, answer.rejected], [2, 2, 0]);
  assert.equal(await count(server, 'P'), 5);
  const ofA = JSON.parse(await read(server, '/data/WS/P/A?limit=10'));
  assert.deepEqual(ofA.map(({ v }: { v: number }) => v).toSorted(), [1, 2, 5]);
  // Read twice: the second answer may be cached.
  for (let times = 0; times < 3; times += 1) {
    const ranged = JSON.parse(await read(server, '/data/WS/P/A?from=2024-01-01&limit=10'));
    assert.deepEqual(
      ranged.map(({ v }: { v: number }) => v),
      [1],
    );
  }
});

test('any date column orders records, and a second file of it is stored whole', async () => {
  await using server = await startServer();
  for (const name of [
    'exDate',
    'tradeDate',
    'trade_date',
    'asOfDate',
    'reportDate',
    'ts',
    'Datum',
  ]) {
    const header = `symbol,${name},amount`;
    const first = csv(header, 'A,2024-02-09,0.24', 'B,2024-02-14,0.75');
    const second = csv(header, 'A,2024-05-10,0.25', 'B,2024-05-15,0.75');
    const one = await store(server, name.toUpperCase(), first);
    assert.match(one.inferred[0] ?? '', new RegExp(`inferred index: key symbol, date ${name}`));
    const two = await store(server, name.toUpperCase(), second);
    assert.deepEqual([two.received, two.stored, two.duplicates], [2, 2, 0], name);
    const records = JSON.parse(await read(server, `/data/WS/${name.toUpperCase()}/A?last=5`));
    assert.deepEqual(
      records.map(({ amount }: { amount: number }) => amount),
      [0.25, 0.24],
      name,
    );
  }
});

test('rows of one inferred key are kept, counted, and the printed command declares the index', async () => {
  await using server = await startServer();
  await store(server, 'X', csv('symbol,date,close', 'A,2024-01-02,1.5', 'A,2024-01-03,2'));
  const corrected = csv(
    'symbol,date,close',
    'A,2024-01-03,2.5',
    'A,2024-01-02,1.5',
    'A,2024-01-04,3',
  );
  const answer = await store(server, 'X', corrected);
  assert.deepEqual(
    [answer.received, answer.stored, answer.replaced, answer.duplicates],
    [3, 3, 0, 0],
  );
  const conflict = answer.warnings.find((text) =>
    text.startsWith('1 records have the symbol, date'),
  );
  const command =
    'tapedeck dataset index X --workspace WS --key symbol --date date --duplicates replace';
  assert.ok(conflict?.endsWith(command), conflict);
  assert.equal(await count(server, 'X'), 5);
  const skipped = await store(server, 'X', `${corrected}A,2024-01-05,9\n`, {
    duplicates: 'skip-identical',
  });
  assert.deepEqual([skipped.received, skipped.stored, skipped.unchanged], [4, 1, 3]);
  assert.equal(skipped.duplicates, 3);
});

test('the same file again is recognised, reported, and stored again on request', async () => {
  await using server = await startServer();
  const body = csv('a,b', '1,x', '2,y', '2,y');
  const first = await store(server, 'F', body);
  assert.deepEqual([first.received, first.stored], [3, 3]);
  const again = await store(server, 'F', body);
  assert.deepEqual([again.received, again.stored, again.duplicates, again.unchanged], [3, 0, 3, 3]);
  assert.match(again.warnings[0] ?? '', /^the same bytes were loaded by job [0-9a-f]{32} at /);
  assert.equal(await count(server, 'F'), 3);
  const forced = await store(server, 'F', body, { duplicates: 'keep-all' });
  assert.deepEqual([forced.received, forced.stored], [3, 3]);
  assert.equal(await count(server, 'F'), 6);
  // Other options make other records of the same bytes.
  const other = await store(server, 'F', body, { header: 'true', skipLast: '1' });
  assert.equal(other.received, 2);
  const replaced = await store(server, 'F', body, { overwrite: 'true' });
  assert.equal(replaced.stored, 3);
  const afterwards = await store(server, 'F', body);
  assert.deepEqual([afterwards.stored, await count(server, 'F')], [0, 3]);
});

test('after a deletion the same file restores the deleted records, and doubles nothing', async () => {
  await using server = await startServer();
  const body = csv('symbol,date,v', 'A,2024-01-02,1', 'B,2024-01-02,2', 'B,2024-01-02,2');
  await store(server, 'G', body);
  for (const way of ['', '?purge=true']) {
    const deletion = await send(server, 'DELETE', `/data/WS/G/B${way}`);
    assert.match(deletion.text, /deleted 2 records|purged 4 records/);
    const again = await store(server, 'G', body);
    assert.deepEqual([again.received, again.stored, again.unchanged], [3, 2, 1], way);
    assert.equal(await count(server, 'G'), 3);
  }
  const last = await store(server, 'G', body);
  assert.deepEqual([last.stored, last.unchanged], [0, 3]);
});

test('the same file with rejected records reports them again, and stores them when they fit', async () => {
  await using server = await startServer();
  const first = await store(server, 'P', csv('symbol,date,v', 'A,2024-01-02,1.5'));
  assert.equal(first.stored, 1);
  const body = csv('symbol,date,v', 'B,2024-01-02,2.5', 'C,2024-01-02,many');
  const counts = async (): Promise<readonly number[]> => {
    const { received, rejected, stored, unchanged } = await store(server, 'P', body);
    return [received, stored, unchanged, rejected];
  };
  assert.deepEqual(await counts(), [2, 1, 0, 1]);
  assert.deepEqual(await counts(), [2, 0, 1, 1]);
  const change = { schema: { properties: { v: { type: 'string' } } }, existing: 'update' };
  const changed = await send(server, 'PATCH', '/datasets/WS/P', change);
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(await counts(), [2, 1, 1, 0]);
  assert.deepEqual(await counts(), [2, 0, 2, 0]);
});

test('an answer to a load with rejects and unknown columns is no bare completion', async () => {
  await using server = await startServer();
  await store(server, 'R', csv('symbol,date,close', 'A,2024-01-02,1'), {
    key: 'symbol',
    date: 'date',
  });
  const body = csv(
    'symbol,date,close,extra',
    'B,2024-01-02,2,x',
    'B,2024-01-03,abc,y',
    ',2024-01-03,3,z',
  );
  const answer = await store(server, 'R', body);
  assert.match(answer.message, /completed with 2 of 3 records rejected, 1 columns left out, jobId/);
  assert.deepEqual([answer.received, answer.stored, answer.rejected], [3, 1, 2]);
  assert.deepEqual(answer.columnsLeftOut, ['extra']);
  assert.deepEqual(
    answer.rejects.map(({ line }) => line),
    [3, 4],
  );
  assert.equal(answer.warnings.length, 2);
  const pushed = await push(server, 'R', { symbol: 'C', date: '2024-01-02', close: 1, more: 2 });
  assert.deepEqual(pushed.columnsLeftOut, ['more']);
});
