// Edits of a schema with stored records: the conversion of the records, and old versions that answer as
// before.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function ask(method: string, path: string, body?: object): Promise<Response> {
  const separator = path.includes('?') ? '&' : '?';
  const url = `${server.base}/v1${path}${separator}token=${server.secret}`;
  return fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

const schema = (properties: object): object => ({ schema: { properties } });

async function edited(id: string, properties: object, existing?: string): Promise<void> {
  const answer = await ask('PATCH', `/datasets/WS/${id}`, { ...schema(properties), existing });
  assert.equal(answer.status, 200, await answer.text());
}

async function refused(id: string, body: object, expected: RegExp): Promise<void> {
  const before = server.tapedeck.services.lake.snapshot;
  const answer = await ask('PATCH', `/datasets/WS/${id}`, body);
  const text = await answer.text();
  assert.equal(answer.status, 400, text);
  assert.match(text, expected);
  assert.equal(server.tapedeck.services.lake.snapshot, before);
}

type Rows = readonly Readonly<Record<string, unknown>>[];

const records = async (id: string, query = ''): Promise<Rows> =>
  JSON.parse(await read(server, `/data/WS/${id}?limit=100&sort=asc${query}`)) as Rows;

const values = async (id: string, query = ''): Promise<readonly unknown[]> =>
  (await records(id, query)).map(({ v }) => v);

const INDEX = { symbol: { type: 'string' }, date: { type: 'string', format: 'date' } };

async function createDataset(id: string, v: object, rows: readonly string[]): Promise<number> {
  const columnMapping = { key: 'symbol', date: 'date' };
  const dataset = { datasetId: id, ...schema({ ...INDEX, v }), columnMapping };
  const answer = await ask('POST', '/datasets/WS', { dataset });
  assert.equal(answer.status, 200, await answer.text());
  const lines = rows.map((value, at) => `K${at},2020-01-01,${value}`);
  const job = await loaded(server, id, `symbol,date,v\n${lines.join('\n')}\n`);
  assert.equal(job.recordsIngested, rows.length);
  return job.snapshot;
}

const string = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const date = { type: 'string', format: 'date' };
const time = { type: 'string', format: 'date-time' };

/** From a type, with values as a file has them, to others with the values that they become. */
const CONVERSIONS: readonly (readonly [object, readonly string[], object, readonly unknown[]])[] = [
  [integer, ['1', '', '-5'], number, [1, null, -5]],
  [integer, ['1', '', '9007199254740993'], string, ['1', null, '9007199254740993']],
  [number, ['1', '2.5', '1e300'], string, ['1', '2.5', '1e+300']],
  [number, ['1', '', '-3'], integer, [1, null, -3]],
  [{ type: 'boolean' }, ['true', 'false', ''], string, ['true', 'false', null]],
  [date, ['2020-02-29', ''], string, ['2020-02-29', null]],
  [date, ['2020-02-29', ''], time, ['2020-02-29T00:00:00.000Z', null]],
  [
    time,
    ['2020-02-29 10:00:00.5', '2020-02-29T10:00:00.000001Z'],
    string,
    ['2020-02-29T10:00:00.500Z', '2020-02-29T10:00:00.000001Z'],
  ],
  [time, ['2020-02-29 00:00:00', ''], date, ['2020-02-29', null]],
  [string, ['2020-02-29', ''], date, ['2020-02-29', null]],
  [string, ['Feb 29 2020', 'Mar 1 2020'], date, ['2020-02-29', '2020-03-01']],
  [string, ['29/02/2020', '01/03/2020'], date, ['2020-02-29', '2020-03-01']],
  [string, ['20200229', '20200301'], date, ['2020-02-29', '2020-03-01']],
  [string, ['2020-02-29T10:00:00+01:00'], time, ['2020-02-29T09:00:00.000Z']],
  [string, ['1', '', '-7'], integer, [1, null, -7]],
  [string, ['1.5', '', '1e3'], number, [1.5, null, 1000]],
  [string, ['true', 'FALSE', ''], { type: 'boolean' }, [true, false, null]],
];

test('each conversion, and back in time', async () => {
  for (const [at, [from, written, to, become]] of CONVERSIONS.entries()) {
    const id = `CONVERTED_${at}`;
    const before = await createDataset(id, from, written);
    const was = await records(id);
    await edited(id, { v: to }, 'update');
    assert.deepEqual(await values(id), become, `${JSON.stringify(from)} to ${JSON.stringify(to)}`);
    assert.deepEqual(await records(id, `&asOf=${before}`), was, id);
    const sql = `SELECT v FROM ${id} ORDER BY symbol`;
    const answer = await read(
      server,
      `/sql-query/WS?sqlQuery=${encodeURIComponent(sql)}&asOf=${before}`,
    );
    assert.deepEqual(
      JSON.parse(answer),
      was.map(({ v }) => ({ v })),
      id,
    );
  }
});

test('a value that does not fit the new type ends the edit, or becomes null where allowed', async () => {
  const cases = [
    [
      'BAD_DATE',
      string,
      ['2020-01-01', 'soon'],
      date,
      /"soon\\" of record K1, 2020-01-01 is no date/,
    ],
    ['BAD_INTEGER', string, ['1', '2.5'], integer, /2.5\\" of record K1, 2020-01-01 is no integer/],
    ['BAD_WHOLE', number, ['1', '2.5'], integer, /2.5\\" of record K1, 2020-01-01 is no integer/],
    ['BAD_NUMBER', string, ['many', '2'], number, /many\\" of record K0, 2020-01-01 is no number/],
    ['BAD_DAY', time, ['2020-01-01 10:00:00'], date, /10:00:00\\" of record K0, .* is no date/],
  ] as const;
  for (const [id, from, written, to, expected] of cases) {
    await createDataset(id, from, written);
    const was = await values(id);
    await refused(id, { ...schema({ v: to }), existing: 'update' }, expected);
    assert.deepEqual(await values(id), was);
    const discarding = { schemaContract: { types: 'discard_value' }, existing: 'update' };
    const answer = await ask('PATCH', `/datasets/WS/${id}`, {
      ...schema({ v: to }),
      ...discarding,
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.ok((await values(id)).includes(null), id);
  }
});

test('invalid edits are refused, naming the property and the rule', async () => {
  await createDataset('RULES', integer, ['1']);
  await refused(
    'RULES',
    schema({ v: number }),
    /v can not change its type while its records are left/,
  );
  await refused(
    'RULES',
    { ...schema({ v: date }), existing: 'update' },
    /v can not change its type so/,
  );
  await refused(
    'RULES',
    { ...schema({ symbol: integer }), existing: 'delete' },
    /symbol is indexed/,
  );
  await refused('RULES', schema({ date: null }), /date is indexed: it can not go/);
  await refused('RULES', schema({ nothing: null }), /nothing is null, and no property/);
  await refused('RULES', { existing: 'delete' }, /existing needs schema/);
  await refused('RULES', { ...schema({}), existing: 'later' }, /existing must/);
  await refused('RULES', schema({ V: string }), /names column V twice/);
  const response = await ask('PATCH', '/datasets/WS/RULES', {
    expectations: [{ range: { property: 'v', min: 0 } }],
  });
  assert.equal(response.status, 200);
  await refused('RULES', schema({ v: null }), /expectations.0.range: 'v' is not a property/);
  await refused(
    'RULES',
    { ...schema({ v: string }), existing: 'update' },
    /range.property must be/,
  );
});

test('a property is removed, and added again with another type', async () => {
  const before = await createDataset('GOES', integer, ['1', '2']);
  await edited('GOES', { v: null });
  const removalSnapshot = server.tapedeck.services.lake.snapshot;
  assert.deepEqual(await records('GOES'), [
    { symbol: 'K0', date: '2020-01-01' },
    { symbol: 'K1', date: '2020-01-01' },
  ]);
  await edited('GOES', { v: string, w: number });
  assert.deepEqual((await records('GOES'))[0], {
    symbol: 'K0',
    date: '2020-01-01',
    v: null,
    w: null,
  });
  await loaded(server, 'GOES', 'symbol,date,v,w\nK9,2020-01-01,text,1\n');
  assert.deepEqual((await records('GOES'))[2], {
    symbol: 'K9',
    date: '2020-01-01',
    v: 'text',
    w: 1,
  });
  assert.deepEqual(await values('GOES', `&asOf=${before}`), [1, 2]);
  assert.deepEqual(Object.keys((await records('GOES', `&asOf=${removalSnapshot}`))[0] ?? {}), [
    'symbol',
    'date',
  ]);
  const versions = (await (await ask('GET', '/datasets/WS/GOES/versions')).json()) as readonly {
    readonly snapshot: number;
  }[];
  assert.ok(versions.some(({ snapshot }) => snapshot === removalSnapshot));
});

test('after a purge a new property does not contain values of a removed one', async () => {
  await createDataset('PURGED', integer, ['1', '2']);
  await loaded(server, 'PURGED', 'symbol,date,v\nOTHER,2020-01-01,3\n');
  await edited('PURGED', { v: null });
  assert.equal((await ask('DELETE', '/data/WS/PURGED/OTHER?purge=true')).status, 200);
  await edited('PURGED', { w: integer });
  assert.deepEqual(
    (await records('PURGED')).map(({ w }) => w),
    [null, null],
  );
});

test('a dataset without an index, and one whose date is the day of creation', async () => {
  await loaded(server, 'NO_INDEX', 'v\n1\n2\n');
  await edited('NO_INDEX', { v: string }, 'update');
  assert.deepEqual(await values('NO_INDEX'), ['1', '2']);
  const evolving = await ask('PATCH', '/datasets/WS/NO_INDEX', {
    schemaContract: { types: 'evolve' },
    ...schema({ v: integer }),
    existing: 'update',
  });
  assert.equal(evolving.status, 200, await evolving.text());
  const replace = { duplicateKeyHandling: 'replace' };
  await loaded(server, 'NO_INDEX', 'v\n2.5\n', replace);
  assert.deepEqual((await values('NO_INDEX')).toSorted(), [1, 2, 2.5]);
  await loaded(server, 'CREATED', 'symbol,v\nA,1\nB,2\n', { key: 'symbol' });
  await ask('PATCH', '/datasets/WS/CREATED', { schemaContract: { types: 'evolve' } });
  const job = await loaded(server, 'CREATED', 'symbol,v\nB,2.5\nC,3\n', replace);
  assert.deepEqual([job.recordsIngested, job.recordsDuplicate], [2, 1]);
  assert.deepEqual((await values('CREATED')).toSorted(), [1, 2.5, 3]);
});

test('existing=delete deletes the records, and allows any type', async () => {
  const before = await createDataset('EMPTIED', { type: 'object' }, ['"{""a"":1}"']);
  await edited('EMPTIED', { v: date }, 'delete');
  assert.deepEqual(await records('EMPTIED'), []);
  assert.deepEqual(await values('EMPTIED', `&asOf=${before}`), [{ a: 1 }]);
  await loaded(server, 'EMPTIED', 'symbol,date,v\nA,2020-01-01,2020-05-05\n');
  assert.deepEqual(await values('EMPTIED'), ['2020-05-05']);
});

test('an edit includes pushed records, but not replaced and deleted ones', async () => {
  await createDataset('PUSHED', string, ['1', '2', 'three']);
  await ask('DELETE', '/data/WS/PUSHED/K2');
  const record = { symbol: 'K0', date: '2020-01-01', v: '10' };
  await ask('POST', '/record/WS/PUSHED?duplicateKeyHandling=replace', record);
  await ask('POST', '/record/WS/PUSHED', { ...record, symbol: 'K7', v: '7' });
  await edited('PUSHED', { v: integer }, 'update');
  assert.deepEqual(await values('PUSHED'), [10, 2, 7]);
});

test('records pushed during an edit are of the old schema and converted, or of the new one', async () => {
  await createDataset('BESIDE', string, ['1']);
  const url = `${server.base}/v1/record/WS/BESIDE?token=${server.secret}`;
  const push = (symbol: string, v: unknown): Promise<Response> =>
    fetch(url, { method: 'POST', body: JSON.stringify({ symbol, date: '2020-01-02', v }) });
  const pushes: Promise<Response>[] = [];
  let over = false;
  const edit = edited('BESIDE', { v: integer }, 'update').finally(() => (over = true));
  for (let at = 0; !over; at += 1) {
    pushes.push(push(`P${at}`, String(at)), push(`N${at}`, 'none'));
    await pushes.at(-1);
  }
  // A text that is no number arrived before the edit, which then fails, or after it, and is refused.
  const refusedEdit = await edit.then(
    () => false,
    () => true,
  );
  const statuses = await Promise.all(pushes.map(async (answer) => (await answer).status));
  const stored = await records('BESIDE');
  const good = statuses.filter((status) => status === 200).length;
  assert.equal(stored.length, good + 1);
  const types = new Set(stored.map(({ v }) => typeof v));
  assert.deepEqual([...types], [refusedEdit ? 'string' : 'number']);
  await edited('BESIDE', { more: string });
  assert.equal((await records('BESIDE')).length, good + 1, 'pending records can be flushed');
});

test('more records than may be written again are refused', async () => {
  const { lake } = server.tapedeck.services;
  const rows = Array.from({ length: 1_000_001 }, (_, at) => `${at}`).join('\n');
  await loaded(server, 'MANY', `v\n${rows}\n`);
  const tableId = lake.directory.dataset('WS', 'MANY')?.tableId ?? 0;
  assert.equal((await lake.table(tableId))?.records, 1_000_001);
  const expected = /the dataset has 1000001 records, at most 1000000 may be written again at once/;
  await refused('MANY', { ...schema({ v: number }), existing: 'update' }, expected);
  await ask('PATCH', '/datasets/WS/MANY', { schemaContract: { types: 'evolve' } });
  const answer = await load(server, 'MANY', 'v\n1.5\n');
  assert.match(await answer.text(), expected);
});
