// The expectations of a dataset, and the handling of records that violate them.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { findRejects } from '../../../store/work/jobs.ts';
import { holders } from '../../base/holders.ts';
import { load, loaded, read } from '../../base/client.ts';
import { lakePaths, startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const PROPERTIES = {
  symbol: { type: 'string' },
  date: { type: 'string', format: 'date' },
  open: { type: 'number' },
  low: { type: 'number' },
  high: { type: 'number' },
  volume: { type: 'integer' },
  time: { type: 'string', format: 'date-time' },
  extra: { type: 'object' },
};

async function ask(method: string, path: string, body?: object): Promise<Response> {
  const separator = path.includes('?') ? '&' : '?';
  const url = `${server.base}/v1${path}${separator}token=${server.secret}`;
  return fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

async function createDataset(id: string, members: object): Promise<void> {
  const columnMapping = { key: 'symbol', date: 'date' };
  const dataset = { datasetId: id, schema: { properties: PROPERTIES }, columnMapping, ...members };
  const answer = await ask('POST', '/datasets/WS', { dataset });
  assert.equal(answer.status, 200, await answer.text());
}

interface QuarantinedRow {
  readonly id: string;
  readonly jobId: string | null;
  readonly line: number;
  readonly rule: string;
  readonly record: Readonly<Record<string, unknown>>;
}

async function readQuarantine(id: string): Promise<readonly QuarantinedRow[]> {
  const answer = await ask('GET', `/quarantine/WS/${id}?limit=10000`);
  assert.equal(answer.status, 200);
  return (await answer.json()) as readonly QuarantinedRow[];
}

const listViolations = async (id: string): Promise<readonly string[]> =>
  (await readQuarantine(id)).map(({ line, rule }) => `${line}: ${rule}`);

const keys = async (id: string): Promise<readonly string[]> => {
  const rows = JSON.parse(await read(server, `/data/WS/${id}?limit=1000&sort=asc`)) as {
    readonly symbol: string;
  }[];
  return rows.map(({ symbol }) => symbol).toSorted();
};

const rejectsOf = async (jobId: string): Promise<readonly string[]> =>
  (await findRejects(server.tapedeck.services.database, jobId)).map(
    ({ line, error }) => `${line}: ${error}`,
  );

const CSV =
  'symbol,date,open,low,high,volume,time\n' +
  'A,2020-01-01,2,1,3,10,2020-01-01 10:00:00\n' +
  'B,2020-01-01,2,2.5,3,10,2020-01-01 10:00:00\n' +
  'C,2020-01-01,2,1,3,-5,2020-01-01 10:00:00.123456\n' +
  'D,2020-01-01,,1,3,,\n' +
  'E,soon,2,1,3,10,\n' +
  'F,2020-01-01,2,1,1.5,10,\n' +
  'A,2020-01-01,2,1,3,11,\n';

test('records that violate a chain of comparisons go to quarantine, whole', async () => {
  const expectations = [
    { compare: ['low', '<=', 'open', '<=', 'high'] },
    { name: 'traded', range: { property: 'volume', min: 0 } },
  ];
  await createDataset('CHAIN', { expectations });
  const job = await loaded(server, 'CHAIN', CSV);
  const counts = [job.recordsIngested, job.recordsInvalid, job.recordsDuplicate];
  assert.deepEqual([...counts, job.recordsQuarantined], [2, 1, 1, 3]);
  assert.deepEqual(await keys('CHAIN'), ['A', 'D']);
  assert.deepEqual(await listViolations('CHAIN'), [
    '3: low <= open <= high',
    '4: traded (volume at least 0)',
    '7: low <= open <= high',
  ]);
  const [b, c] = await readQuarantine('CHAIN');
  assert.equal(b?.jobId, job.jobId);
  assert.deepEqual(c?.record, {
    symbol: 'C',
    date: '2020-01-01',
    open: 2,
    low: 1,
    high: 3,
    volume: -5,
    time: '2020-01-01 10:00:00.123456',
    extra: null,
  });
  const again = await loaded(server, 'CHAIN', CSV);
  assert.equal(again.recordsQuarantined, 3);
  assert.equal((await readQuarantine('CHAIN')).length, 3, 'a repeated record is not stored twice');
});

test('released records are stored despite all expectations, exactly as they were received', async () => {
  const expectations = [{ range: { property: 'volume', max: 0 } }];
  await createDataset('RELEASED', { expectations });
  const record = {
    symbol: 'A',
    date: '2020-01-01',
    open: 0.1,
    low: 1e-7,
    high: 0x2bdc545d6b4b88,
    volume: '9007199254740993',
    time: '2020-01-01T10:00:00.123456Z',
    extra: {
      deep: [1, 'two', null],
      text: '"\\\n',
    },
  };
  await loaded(server, 'RELEASED', JSON.stringify([record, { ...record, symbol: 'B' }]));
  const [first] = await readQuarantine('RELEASED');
  const some = await ask('POST', `/quarantine/WS/RELEASED/release?ids=${first?.id}`);
  assert.deepEqual(await some.json(), {
    success: true,
    message: 'released 1 records',
    recordsIngested: 1,
    recordsDuplicate: 0,
    recordsInvalid: 0,
  });
  assert.deepEqual(await keys('RELEASED'), ['A']);
  assert.deepEqual(await listViolations('RELEASED'), ['2: volume at most 0']);
  assert.equal((await ask('POST', '/quarantine/WS/RELEASED/release')).status, 200);
  assert.deepEqual(await keys('RELEASED'), ['A', 'B']);
  const stored = JSON.parse(await read(server, '/data/WS/RELEASED/A')) as readonly object[];
  assert.deepEqual(stored, [record]);
  assert.deepEqual(await readQuarantine('RELEASED'), []);
});

test('a release loses no record: repeats of a stored index value stay in quarantine', async () => {
  await createDataset('REPEATED', { expectations: [{ range: { property: 'volume', min: 0 } }] });
  await loaded(server, 'REPEATED', 'symbol,date,volume\nA,2020-01-01,1\n');
  for (const [symbol, volume] of [
    ['B', -1],
    ['B', -2],
    ['A', -5],
  ] as const)
    await loaded(server, 'REPEATED', `symbol,date,volume\n${symbol},2020-01-01,${volume}\n`);
  const answer = await ask('POST', '/quarantine/WS/REPEATED/release');
  assert.deepEqual(await answer.json(), {
    success: true,
    message: 'released 1 records',
    recordsIngested: 1,
    recordsDuplicate: 0,
    recordsInvalid: 2,
  });
  const left = (await readQuarantine('REPEATED')).map(({ record }) => record['volume']);
  assert.deepEqual(left, [-2, -5]);
  await ask('POST', '/quarantine/WS/REPEATED/release?duplicates=replace');
  assert.deepEqual(await readQuarantine('REPEATED'), []);
  const stored = JSON.parse(
    await read(server, '/data/WS/REPEATED?limit=9&filter=volume'),
  ) as object[];
  assert.deepEqual(stored, [{ volume: -5 }, { volume: -2 }]);
});

test('records that no longer fit the schema stay in quarantine', async () => {
  const expectations = [{ range: { property: 'volume', max: 0 } }];
  await createDataset('UNFIT', { expectations });
  await loaded(server, 'UNFIT', 'symbol,date,volume\nA,2020-01-01,1\nB,2020-01-01,2\n');
  const { database } = server.tapedeck.services;
  const [a] = await readQuarantine('UNFIT');
  const document = JSON.stringify({ ...a?.record, volume: 'many' });
  const row = database.updateTable('quarantine').set({ document });
  await row.where('quarantine_id', '=', a?.id ?? '').execute();
  const answer = await ask('POST', '/quarantine/WS/UNFIT/release');
  const counts = (await answer.json()) as Readonly<Record<string, number>>;
  assert.deepEqual([counts['recordsIngested'], counts['recordsInvalid']], [1, 1]);
  assert.deepEqual(await listViolations('UNFIT'), ['2: volume at most 0']);
});

test('each action has its effect, the gravest first', async () => {
  const expectations = [
    { notNull: 'open', action: 'warn' },
    { notNull: ['volume'], action: 'quarantine' },
    { range: { property: 'volume', min: 0 }, action: 'reject', name: 'traded' },
    { compare: ['low', '<', 'open'], action: 'warn' },
  ];
  await createDataset('ACTIONS', { expectations });
  const job = await loaded(server, 'ACTIONS', CSV);
  const { recordsIngested, recordsInvalid, recordsQuarantined } = job;
  assert.deepEqual([recordsIngested, recordsInvalid, recordsQuarantined], [3, 2, 1]);
  assert.deepEqual(await rejectsOf(job.jobId), [
    '4: expectation failed: traded (volume at least 0)',
    `6: validation failed: property 'date' should be date, not "soon"`,
  ]);
  assert.deepEqual(await listViolations('ACTIONS'), ['5: volume not null']);
  const { database } = server.tapedeck.services;
  const lines = database.selectFrom('log').select('message').where('job_id', '=', job.jobId);
  const log = (await lines.execute()).map(({ message }) => message);
  assert.ok(
    log.includes('expectation failed for 1 records, the first in line 3: low < open'),
    `${log}`,
  );
  assert.ok(log.includes('1 records go to quarantine: line 5: volume not null'));
  const ended = await ask('PATCH', '/datasets/WS/ACTIONS', {
    expectations: [{ range: { property: 'volume', min: 0 }, action: 'fail' }],
  });
  assert.equal(ended.status, 200, await ended.text());
  const answer = await load(server, 'ACTIONS', CSV, { duplicateKeyHandling: 'replace' });
  assert.equal(answer.status, 400);
  const text = await answer.text();
  assert.match(text, /expectation failed: volume at least 0: line 4, 1 records in all/);
  assert.deepEqual(await keys('ACTIONS'), ['A', 'B', 'F']);
});

test('warnings alone keep the fast path, and are counted', async () => {
  await createDataset('WARNED', { expectations: [{ notNull: 'open', action: 'warn' }] });
  const job = await loaded(server, 'WARNED', 'symbol,date,open\nA,2020-01-01,\nB,2020-01-01,1\n');
  assert.deepEqual([job.recordsIngested, job.recordsQuarantined], [2, 0]);
  const { database } = server.tapedeck.services;
  const lines = database.selectFrom('log').select('message').where('job_id', '=', job.jobId);
  const log = (await lines.execute()).map(({ message }) => message);
  assert.ok(log.includes('expectation failed for 1 records: open not null'), log.join('\n'));
});

test('patterns, lists of values, dates and instants', async () => {
  const expectations = [
    { pattern: { property: 'symbol', matches: "[A-Z'.]{1,6}" } },
    { oneOf: { property: 'volume', values: [1, 2, 3.5] } },
    { range: { property: 'date', min: '2020-01-01', max: '2020-12-31' } },
    { range: { property: 'time', max: '2020-06-30T12:00:00.5Z' } },
    { compare: ['date', '<=', 'time'] },
  ];
  await createDataset('RULES', { expectations });
  const csv =
    "symbol,date,volume,time\nGOOD'S,2020-01-01,1,\nlower,2020-01-01,1,\nA,2020-01-01,4,\n" +
    'B,2019-12-31,1,\nC,2021-01-01,1,\nD,2020-01-01,2,2020-06-30T12:00:00.5Z\n' +
    'E,2020-01-01,2,2020-06-30T12:00:00.501Z\nF,2020-06-02,2,2020-06-01T12:00:00Z\n';
  await loaded(server, 'RULES', csv);
  assert.deepEqual(await listViolations('RULES'), [
    "3: symbol like [A-Z'.]{1,6}",
    '4: volume one of 1, 2, 3.5',
    '5: date at least 2020-01-01 and at most 2020-12-31',
    '6: date at least 2020-01-01 and at most 2020-12-31',
    '8: time at most 2020-06-30T12:00:00.5Z',
    '9: date <= time',
  ]);
  assert.deepEqual(await keys('RULES'), ["GOOD'S"].concat('D').toSorted());
});

test('monotone: a new date of a key is not before its latest; a stored record is a duplicate', async () => {
  await createDataset('MONOTONE', { expectations: [{ monotone: true }] });
  const first = 'symbol,date,open\nA,2020-01-05,1\nB,2020-01-01,1\n';
  assert.equal((await loaded(server, 'MONOTONE', first)).recordsQuarantined, 0);
  const second =
    'symbol,date,open\nA,2020-01-04,2\nA,2020-01-05,2\nA,2020-01-06,2\nB,2020-01-02,2\nC,2019-01-01,2\n';
  const job = await loaded(server, 'MONOTONE', second, { duplicates: 'keep-first' });
  assert.deepEqual([job.recordsIngested, job.recordsDuplicate, job.recordsQuarantined], [3, 1, 1]);
  assert.deepEqual(await listViolations('MONOTONE'), [
    '2: not older than the newest record of its key',
  ]);
  const again = await loaded(server, 'MONOTONE', first.replaceAll(',1\n', ',9\n'));
  assert.deepEqual([again.recordsIngested, again.recordsQuarantined], [2, 0]);
});

test('a single record that is written is checked too', async () => {
  await createDataset('WRITTEN', { expectations: [{ range: { property: 'volume', min: 0 } }] });
  const body = { symbol: 'A', date: '2020-01-01', volume: -1 };
  const answer = await ask('POST', '/record/WS/WRITTEN', body);
  const writeResult = (await answer.json()) as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    [
      writeResult['message'],
      writeResult['received'],
      writeResult['stored'],
      writeResult['quarantined'],
    ],
    ['wrote 0 records, 1 in quarantine', 1, 0, 1],
  );
  assert.deepEqual(
    (await readQuarantine('WRITTEN')).map(({ jobId, line }) => [jobId, line]),
    [[null, 1]],
  );
});

test('beyond the limit of the quarantine the load ends, and leaves no file', async () => {
  await createDataset('FULL', { expectations: [{ range: { property: 'volume', min: 0 } }] });
  const rows = (from: number, count: number): string =>
    Array.from({ length: count }, (_, at) => `K${from + at},2020-01-01,-1`).join('\n');
  const head = 'symbol,date,volume\nGOOD,2020-01-01,1\n';
  const tooMany = await load(server, 'FULL', `${head}${rows(0, 10_001)}\n`);
  assert.equal(tooMany.status, 400);
  assert.match(await tooMany.text(), /10001 records would go to quarantine/);
  const job = await loaded(server, 'FULL', `${head}${rows(0, 9_000)}\n`);
  assert.deepEqual([job.recordsIngested, job.recordsQuarantined], [1, 9_000]);
  const files = (await lakePaths(server)).length;
  const next = await load(server, 'FULL', `${head.replace('GOOD', 'MORE')}${rows(9_000, 1_001)}\n`);
  assert.equal(next.status, 400);
  assert.match(await next.text(), /at most 10000 records and 33554432 bytes in quarantine/);
  assert.deepEqual(await keys('FULL'), ['GOOD']);
  assert.equal((await lakePaths(server)).length, files);
  const deletion = await ask('DELETE', `/quarantine/WS/FULL?jobId=${job.jobId}`);
  assert.deepEqual(await deletion.json(), { success: true, message: 'discarded 9000 records' });
});

test('a purge deletes the quarantined records of its key, a deleted dataset all', async () => {
  const secret = 'S3CR3T-VALUE';
  await createDataset('PURGED', {
    expectations: [{ pattern: { property: 'symbol', matches: 'A' } }],
  });
  await loaded(server, 'PURGED', `symbol,date\nA,2020-01-01\n${secret},2020-01-01\nB,2020-01-01\n`);
  await ask('DELETE', `/data/WS/PURGED/${secret}?purge=true`);
  assert.deepEqual(await listViolations('PURGED'), ['4: symbol like A']);
  assert.deepEqual(await holders(server.folder, secret), []);
  assert.equal((await ask('DELETE', '/datasets/WS/PURGED')).status, 200);
  const { database } = server.tapedeck.services;
  const left = database.selectFrom('quarantine').selectAll().where('rule', '=', 'symbol like A');
  assert.deepEqual(await left.execute(), []);
});

test('an invalid expectation is refused with member and rule', async () => {
  await createDataset('REFUSED', {});
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ notNull: 'nothing' }, /expectations.0.notNull: 'nothing' is not a property/],
    [{}, /expectations.0 must have exactly one of notNull/],
    [{ notNull: 'open', monotone: true }, /must have exactly one of/],
    [{ range: { property: 'open' } }, /expectations.0.range must have min or max/],
    [{ range: { property: 'symbol', min: 1 } }, /range.property must be a number or a date/],
    [{ range: { property: 'date', min: '2020-02-30' } }, /range.min must be YYYY-MM-DD/],
    [{ range: { property: 'open', min: '1' } }, /range.min must be a number/],
    [{ range: { property: 'open', min: 2, max: 1 } }, /range.min must not be over max/],
    [{ pattern: { property: 'open', matches: 'x' } }, /pattern needs a string/],
    [{ pattern: { property: 'symbol', matches: '(?=x)' } }, /is no regular expression of RE2/],
    [
      { oneOf: { property: 'symbol', values: [1] } },
      /values must be of the property's type, string/,
    ],
    [{ compare: ['open', 'low'] }, /compare must/],
    [{ compare: ['open', '<', 'symbol'] }, /each with its like/],
    [{ compare: ['open', '; DROP', 'low'] }, /compare must be properties with one of/],
    [{ notNull: 'open', action: 'ignore' }, /action/],
  ];
  for (const [expectation, expected] of cases) {
    const answer = await ask('PATCH', '/datasets/WS/REFUSED', { expectations: [expectation] });
    const text = await answer.text();
    assert.equal(answer.status, 400, `${JSON.stringify(expectation)} ${text}`);
    assert.match(text, expected);
  }
});
