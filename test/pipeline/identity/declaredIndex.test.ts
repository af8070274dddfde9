// On a declared index the latest write replaces, by loads and pushes alike; `duplicates` chooses otherwise;
// and an index is declared on an existing dataset where its records allow it.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const INDEX = { key: 'symbol', date: 'date' };
const csv = (...lines: readonly string[]): string => `symbol,date,v\n${lines.join('\n')}\n`;

const closes = async (server: TestServer, dataset: string): Promise<string> => {
  const records = JSON.parse(await read(server, `/data/WS/${dataset}?limit=100&sort=ASC`));
  return records.map(({ v }: { v: number }) => v).join(' ');
};

async function store(
  server: TestServer,
  dataset: string,
  body: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  const answer = await load(server, dataset, body, query);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

test('the latest write replaces, and equal records change nothing', async () => {
  await using server = await startServer();
  await store(server, 'A', csv('X,2024-01-01,1.5', 'X,2024-01-02,2'), INDEX);
  const before = JSON.parse(await read(server, '/datasets/WS/A/versions')).length;
  const same = await store(server, 'A', csv('X,2024-01-01,1.5', 'X,2024-01-02,2'));
  assert.deepEqual([same['stored'], same['duplicates'], same['unchanged']], [0, 2, 2]);
  assert.equal(JSON.parse(await read(server, '/datasets/WS/A/versions')).length, before);
  const next = await store(
    server,
    'A',
    csv('X,2024-01-02,2.5', 'X,2024-01-01,1.5', 'X,2024-01-03,3'),
  );
  assert.deepEqual(
    ['received', 'stored', 'replaced', 'duplicates', 'rejected'].map((name) => next[name]),
    [3, 1, 1, 1, 0],
  );
  assert.equal(await closes(server, 'A'), '1.5 2.5 3');
  const pushed = await send(server, 'POST', '/record/WS/A', {
    symbol: 'X',
    date: '2024-01-03',
    v: 4,
  });
  assert.deepEqual([JSON.parse(pushed.text).received, JSON.parse(pushed.text).replaced], [1, null]);
  assert.equal(await closes(server, 'A'), '1.5 2.5 4');
  const response = await send(server, 'POST', '/record/WS/A?duplicates=keep-first', {
    symbol: 'X',
    date: '2024-01-03',
    v: 5,
  });
  assert.equal(response.status, 200, response.text);
  assert.equal(await closes(server, 'A'), '1.5 2.5 4');
});

test('lines of rejected repeats are those of the file; a rejected record is repeated by none', async () => {
  await using server = await startServer();
  const rejects = async (id: string, ...lines: readonly string[]): Promise<unknown> =>
    (await store(server, id, csv(...lines), { ...INDEX, duplicates: 'reject' }))['rejects'];
  const repeats = 'index value (X, 2024-01-05) is in the file already: duplicates=reject';
  const misfit = `validation failed: property 'v' should be number, not "many"`;
  await store(server, 'FAULT', csv('A,2024-01-01,1.5'), INDEX);
  assert.deepEqual(
    await rejects('FAULT', 'X,2024-01-05,many', 'X,2024-01-05,2', 'X,2024-01-05,3'),
    [
      { line: 2, error: misfit },
      { line: 4, error: repeats },
    ],
  );
  // The comment is no record: the file is written again without it.
  assert.deepEqual(
    await rejects('COMMENT', 'X,2024-01-05,1', '# checked', 'Y,2024-01-05,2', 'X,2024-01-05,3'),
    [{ line: 5, error: repeats }],
  );
});

test('duplicates keeps the first, or rejects each with its line and where the value is', async () => {
  await using server = await startServer();
  await store(server, 'A', csv('X,2024-01-01,1'), INDEX);
  const result = await store(server, 'A', csv('X,2024-01-01,2', 'X,2024-01-02,2'), {
    duplicates: 'keep-first',
  });
  assert.deepEqual([result['stored'], result['replaced'], result['duplicates']], [1, 0, 1]);
  const body = csv('X,2024-01-05,5', 'X,2024-01-01,2', 'X,2024-01-05,6');
  const rejecting = await store(server, 'A', body, { duplicates: 'reject' });
  assert.deepEqual(
    ['received', 'stored', 'duplicates', 'rejected'].map((name) => rejecting[name]),
    [3, 1, 0, 2],
  );
  assert.deepEqual(rejecting['rejects'], [
    { line: 3, error: 'index value (X, 2024-01-01) is stored already: duplicates=reject' },
    { line: 4, error: 'index value (X, 2024-01-05) is in the file already: duplicates=reject' },
  ]);
  assert.equal(await closes(server, 'A'), '1 2 5');
});

test('a choice that the index rules out is refused with a remedy', async () => {
  await using server = await startServer();
  await store(server, 'U', csv('X,2024-01-01,1'), INDEX);
  await store(server, 'N', csv('X,2024-01-01,1'));
  const cases = [
    ['U', 'keep-all', /WS\.U has a unique index; set uniqueIndex to false/],
    ['N', 'replace', /duplicates=replace needs a unique index, and WS\.N has none: declare key/],
    ['N', 'keep-first', /needs a unique index/],
    ['NEW', 'reject', /needs a unique index/],
  ] as const;
  for (const [dataset, duplicates, expected] of cases) {
    const answer = await load(server, dataset, csv('X,2024-01-02,1'), { duplicates });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), expected);
  }
  const odd = await load(server, 'U', csv('X,2024-01-02,1'), { duplicates: 'newest' });
  assert.match(await odd.text(), /duplicates/);
});

test('an inferred index is declared, and then replaces; the same mapping declares nothing', async () => {
  await using server = await startServer();
  await loaded(server, 'A', csv('X,2024-01-01,1', 'X,2024-01-02,2'));
  const columnMapping = { key: 'symbol', date: 'date' };
  const patchDataset = (body: object) => send(server, 'PATCH', '/datasets/WS/A', body);
  const titled = await patchDataset({ columnMapping, title: 'T' });
  assert.equal(titled.status, 200, titled.text);
  const view = JSON.parse((await send(server, 'GET', '/datasets/WS/A')).text);
  assert.deepEqual([view.uniqueIndex, view.inferredIndex], [false, true]);
  const declared = await patchDataset({ columnMapping, uniqueIndex: true });
  assert.equal(declared.status, 200, declared.text);
  const after = JSON.parse((await send(server, 'GET', '/datasets/WS/A')).text);
  assert.deepEqual([after.uniqueIndex, after.inferredIndex], [undefined, undefined]);
  await loaded(server, 'A', csv('X,2024-01-02,3'));
  assert.equal(await closes(server, 'A'), '1 3');
  await loaded(server, 'B', csv('X,2024-01-01,1', 'X,2024-01-01,2'));
  const refused = await send(server, 'PATCH', '/datasets/WS/B', {
    columnMapping,
    uniqueIndex: true,
  });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /1 records repeat an index value, such as \(X, 2024-01-01\)/);
});

test('a property that identifies securities is the key of a dataset that declares no index', async () => {
  await using server = await startServer();
  const properties = {
    isin: { type: 'string' },
    date: { type: 'string', format: 'date' },
    v: { type: 'integer' },
  };
  const links = [{ attributeName: 'isin', type: 'equity' }];
  const createMapping = async (datasetId: string, more: object = {}): Promise<object> => {
    const draft = { datasetId, schema: { properties }, smartLinkAttributes: links, ...more };
    const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset: draft });
    assert.equal(status, 200, text);
    const { columnMapping } = JSON.parse(
      (await send(server, 'GET', `/datasets/WS/${datasetId}`)).text,
    );
    return columnMapping;
  };
  assert.deepEqual(await createMapping('A'), { key: 'isin', date: 'date' });
  assert.deepEqual(await createMapping('B', { columnMapping: { date: 'date' } }), { date: 'date' });
  assert.deepEqual(await createMapping('C', { smartLinkAttributes: [] }), {});
  const rows = ['US0378331005,2024-01-01,1', 'US0378331005,2024-01-01,2', 'X,2024-01-01,3'];
  await loaded(server, 'A', `isin,date,v\n${rows.join('\n')}\n`);
  const records = JSON.parse(await read(server, '/data/WS/A/US0378331005?from=2024-01-01'));
  assert.deepEqual(records.map(({ v }: { v: number }) => v).toSorted(), [1, 2]);
});
