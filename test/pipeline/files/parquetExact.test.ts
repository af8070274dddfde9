// Values of Parquet that DuckDB would round, cut or rename: they are stored exactly, or the answer has the
// reason.
import * as arrow from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { get, load, loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { parquetOf } from '../../soak/fuzz/http/bases.ts';
import {
  clockColumn,
  dayColumn,
  decimalColumn,
  type Field,
  int96Column,
  nanosecondColumn,
  textColumn,
  writeParquet,
} from './parquetWriter.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Loads, and returns the answer. */
async function answerOf(
  dataset: string,
  body: Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await load(server, dataset, body, query);
  const text = await answer.text();
  expect([answer.status, text]).toEqual([200, text]);
  return JSON.parse(text) as Answer;
}

interface Answer {
  readonly stored: number;
  readonly rejected: number;
  readonly rejects: readonly { readonly line: number; readonly error: string }[];
  readonly notes: readonly string[];
}

test('integers and decimals that no double keeps are rejected by a number', async () => {
  await loaded(server, 'NUMBERS', 'k,v\nz,0.5\n', { key: 'k' });
  const exact = await parquetOf(`SELECT * FROM (VALUES ('a', 9007199254740992),
    ('b', -9007199254740992), ('c', 1000000000000000000)) AS t(k, v)`);
  expect(await loaded(server, 'NUMBERS', exact)).toMatchObject({ recordsIngested: 3 });
  const schema = { properties: { k: { type: 'string' }, v: { type: 'number' } } };
  const dataset = { datasetId: 'DECLARED', schema, columnMapping: { key: 'k' } };
  expect((await send(server, 'POST', '/datasets/WS', { dataset })).status).toBe(200);
  const rounded = await parquetOf(`SELECT * FROM (VALUES ('a', 9007199254740993::DECIMAL(38, 4)),
    ('b', 1.2345::DECIMAL(38, 4)), ('c', 12345678901234567.8901::DECIMAL(38, 4))) AS t(k, v)`);
  const { rejects } = await answerOf('DECLARED', rounded);
  const reason = `validation failed: property 'v' should be number, not`;
  expect(rejects).toEqual([
    { line: 1, error: `${reason} "9007199254740993.0000"` },
    { line: 3, error: `${reason} "12345678901234567.8901"` },
  ]);
});

test('volumes of market inputs that no double keeps are rejected', async () => {
  const file = await parquetOf(`SELECT * FROM (VALUES ('AAA', DATE '2024-01-02', 1.5, 1.5, 1.5, 1.5,
    9007199254740993), ('BBB', DATE '2024-01-02', 1.5, 1.5, 1.5, 1.5, 9007199254740992))
    AS t(symbol, date, open, high, low, close, volume)`);
  const url = `${server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${server.secret}`;
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(file) });
  const text = await answer.text();
  expect([answer.status, text]).toEqual([
    200,
    expect.stringContaining('not \\"9007199254740993\\"'),
  ]);
});

test('timestamps in an inferred date load at midnight, and are rejected otherwise', async () => {
  await loaded(server, 'DAYS', 'k,d,v\na,2024-01-01,1\n', { key: 'k', date: 'd' });
  const file = await parquetOf(`SELECT * FROM (VALUES ('b', TIMESTAMP '2024-01-02', 1),
    ('c', TIMESTAMP '2024-01-02 03:04:05', 2)) AS t(k, d, v)`);
  const job = await loaded(server, 'DAYS', file);
  expect([job.recordsIngested, job.recordsInvalid]).toEqual([1, 1]);
  const answer = await get(server, '/data/WS/DAYS?limit=9');
  expect(await answer.text()).toContain('{"k":"b","d":"2024-01-02","v":1}');
});

test('UUIDs and times with an offset in dates and numbers are rejected in words', async () => {
  const targets = { D: ['d', '2024-01-01'], N: ['n', '1.5'], I: ['i', '5'] } as const;
  for (const [id, [name, value]] of Object.entries(targets)) {
    for (const sql of ['uuid()', "'12:34:56+02'::TIMETZ", "'nan'::DOUBLE", 'true', 'NULL::UUID']) {
      const dataset = `${id}_${sql.replaceAll(/\W/g, '')}`;
      await loaded(server, dataset, `k,${name}\na,${value}\n`, { key: 'k' });
      const answer = await load(
        server,
        dataset,
        await parquetOf(`SELECT 'b' AS k, ${sql} AS ${name}`),
      );
      const text = await answer.text();
      expect([dataset, text]).toEqual([dataset, expect.not.stringMatching(/Error|trim|strlen/)]);
    }
  }
  expect(await read(server, '/data/WS/D_uuid?limit=9')).toContain('2024-01-01');
});

const INSTANTS = [1_704_164_645_123_456_789n, 1_704_164_645_123_456_790n, -1n];

test('nanoseconds with a zone are kept, and distinguish records', async () => {
  const file = (isUtc: boolean): Buffer =>
    writeParquet([textColumn('k', ['a', 'a', 'b']), nanosecondColumn('t', INSTANTS, isUtc)]);
  for (const isUtc of [true, false]) {
    const id = `NANOS_${isUtc}`;
    const job = await answerOf(id, file(isUtc), { key: 'k', date: 't' });
    expect([id, job.stored]).toEqual([id, 3]);
    const rows = await read(server, `/data/WS/${id}?limit=9&sort=asc`);
    for (const time of [
      '2024-01-02T03:04:05.123456789Z',
      '2024-01-02T03:04:05.123456790Z',
      '1969-12-31T23:59:59.999999999Z',
    ]) {
      expect(rows).toContain(time);
    }
  }
});

test('nanoseconds with a zone in whole microseconds are a date-time', async () => {
  const micros = INSTANTS.map((instant) => (instant / 1000n) * 1000n);
  const file = writeParquet([textColumn('k', ['a', 'b', 'c']), nanosecondColumn('t', micros)]);
  await loaded(server, 'MICROS', file, { key: 'k' });
  const { properties } =
    server.tapedeck.services.lake.directory.dataset('WS', 'MICROS')?.schema ?? {};
  expect(properties).toMatchObject({ t: { type: 'string', format: 'date-time' } });
});

test('times of day in nanoseconds are texts, with all digits', async () => {
  const clocks = [45_296_123_456_789n, 0n];
  const file = writeParquet([
    textColumn('k', ['a', 'b']),
    clockColumn('t', clocks),
    clockColumn('z', clocks, true),
    clockColumn('whole', [45_296_123_456_000n, 0n]),
  ]);
  await loaded(server, 'CLOCKS', file, { key: 'k' });
  expect(JSON.parse(await read(server, '/data/WS/CLOCKS?limit=9&sort=asc'))).toEqual([
    { k: 'a', t: '12:34:56.123456789', z: '12:34:56.123456789+00', whole: '12:34:56.123456' },
    { k: 'b', t: '00:00:00', z: '00:00:00+00', whole: '00:00:00' },
  ]);
  const { properties } =
    server.tapedeck.services.lake.directory.dataset('WS', 'CLOCKS')?.schema ?? {};
  expect(properties).toMatchObject({ t: { type: 'string' }, whole: { format: 'time' } });
});

test('times in nanoseconds within an object keep their digits', async () => {
  const o = {
    name: 'o',
    children: [nanosecondColumn('at', INSTANTS), clockColumn('of', [1n, 2n, 3n])],
  };
  await loaded(server, 'NESTED', writeParquet([textColumn('k', ['a', 'b', 'c']), o]), { key: 'k' });
  expect(await read(server, '/data/WS/NESTED/a?last=1')).toBe(
    '[{"k":"a","o":{"at":"2024-01-02 03:04:05.123456789+00","of":"00:00:00.000000001"}}]',
  );
});

test('decimals of more than 38 digits are refused by name', async () => {
  const wide = decimalColumn('wide', 76, 38, [10n ** 60n + 1n]);
  const rule = 'has type decimal(76,38): write it as a decimal of at most 38 digits, or as text';
  const columns = { wide, 'o.wide': { name: 'o', children: [wide] } };
  for (const [name, column] of Object.entries(columns)) {
    const answer = await load(server, 'WIDE', writeParquet([textColumn('k', ['a']), column]));
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining(`column ${name} ${rule}`),
    ]);
  }
});

test('NaN and infinity within lists and objects are texts, as those of Arrow', async () => {
  const floats = [0.1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const list = new arrow.List(new arrow.Field('item', new arrow.Float64()));
  const table = new arrow.Table({
    k: arrow.vectorFromArray(['a', 'b'], new arrow.Utf8()),
    v: arrow.vectorFromArray([floats, [1.5]], list),
  });
  const bodies = {
    ARROW: arrow.tableToIPC(table, 'stream'),
    PARQUET: await parquetOf(`SELECT * FROM (VALUES
      ('a', [0.1::DOUBLE, 'nan', 'inf', '-inf']), ('b', [1.5::DOUBLE])) AS t(k, v)`),
  };
  for (const [id, body] of Object.entries(bodies)) {
    const { notes } = await answerOf(id, body, { key: 'k' });
    const rows = JSON.parse(await read(server, `/data/WS/${id}?limit=9&sort=asc`)) as unknown;
    expect([id, rows]).toEqual([
      id,
      [
        { k: 'a', v: [0.1, 'NaN', 'Infinity', '-Infinity'] },
        { k: 'b', v: [1.5] },
      ],
    ]);
    const note = 'v: 1 value has NaN or infinity inside, stored as texts; the first is in line 1';
    expect([id, notes]).toEqual([id, expect.arrayContaining([note])]);
  }
  const nested =
    await parquetOf(`SELECT 'a' AS k, MAP {'x': [{'y z': 'nan'::FLOAT, 's': 'NaN'}]} AS v
    UNION ALL SELECT 'b', NULL UNION ALL SELECT 'c', MAP {'x': [NULL]}`);
  await loaded(server, 'DEEP', nested, { key: 'k' });
  expect(JSON.parse(await read(server, '/data/WS/DEEP?limit=9&sort=asc'))).toEqual([
    { k: 'a', v: { x: [{ 'y z': 'NaN', s: 'NaN' }] } },
    { k: 'b', v: null },
    { k: 'c', v: { x: [null] } },
  ]);
});

test('columns of Parquet with the same name, or none, are renamed with a note', async () => {
  const column = (name: string): Field => textColumn(name, ['x']);
  const file = writeParquet([column('a'), column('A'), column('a'), column('')]);
  const { notes } = await answerOf('RENAMED', file);
  expect(notes.join('\n')).toContain('are renamed: "A" is A_1, "a" is a_2, "" is');
});

test('days outside of the years 1 to 9999 are texts in ISO 8601, as those of Arrow', async () => {
  const days = [2_932_896, 2_932_897, -719_163, -1_000_000, 2_000_000_000, -719_162];
  const texts = [
    '9999-12-31',
    '+010000-01-01',
    '0000-12-31',
    '-000768-02-04',
    '+5477784-01-06',
    '0001-01-01',
  ];
  const keys = days.map((_, at) => `k${at}`);
  const table = new arrow.Table({
    k: arrow.vectorFromArray(keys, new arrow.Utf8()),
    d: new arrow.Vector([
      arrow.makeData({ type: new arrow.DateDay(), data: Int32Array.from(days) }),
    ]),
  });
  const bodies = {
    DAYS_PARQUET: writeParquet([textColumn('k', keys), dayColumn('d', days)]),
    DAYS_ARROW: arrow.tableToIPC(table, 'stream'),
  };
  for (const [id, body] of Object.entries(bodies)) {
    const { notes } = await answerOf(id, body, { key: 'k' });
    expect(notes.join('\n')).toContain('d becomes string: ');
    const rows = JSON.parse(await read(server, `/data/WS/${id}?limit=9&sort=asc`)) as unknown;
    expect([id, rows]).toEqual([id, texts.map((d, at) => ({ k: `k${at}`, d }))]);

    const schema = { properties: { k: { type: 'string' }, d: { type: 'string', format: 'date' } } };
    const dataset = { datasetId: `${id}_3`, schema, columnMapping: { key: 'k', date: 'd' } };
    expect((await send(server, 'POST', '/datasets/WS', { dataset })).status).toBe(200);
    const declared = await answerOf(`${id}_3`, body);
    expect([id, declared.stored, declared.rejected]).toEqual([id, 2, 4]);
  }
});

test('nanoseconds of INT96 are kept, and refused beside years that have none', async () => {
  const keys = ['a', 'a', 'b'];
  const fine = [
    [19_724, 11_045_123_456_789n],
    [19_724, 11_045_123_456_790n],
    [-1, 86_399_999_999_999n],
  ] as const;
  const whole = fine.map(([days, nanoseconds]) => [days, (nanoseconds / 1000n) * 1000n] as const);
  const far = [[2_932_896, 0n], ...whole.slice(1)] as const;
  const columns = [textColumn('k', keys), int96Column('t', fine), int96Column('w', far)];
  const { stored } = await answerOf('INT96', writeParquet(columns), { key: 'k', date: 't' });
  expect(stored).toBe(3);
  expect(JSON.parse(await read(server, '/data/WS/INT96?limit=9&sort=asc'))).toEqual([
    { k: 'b', t: '1969-12-31T23:59:59.999999999Z', w: '1969-12-31T23:59:59.999999Z' },
    { k: 'a', t: '2024-01-02T03:04:05.123456789Z', w: '9999-12-31T00:00:00.000Z' },
    { k: 'a', t: '2024-01-02T03:04:05.123456790Z', w: '2024-01-02T03:04:05.123456Z' },
  ]);
  const plain = writeParquet([textColumn('k', ['a', 'b', 'c']), int96Column('t', whole)]);
  await loaded(server, 'INT96_WHOLE', plain, { key: 'k' });
  const schema = server.tapedeck.services.lake.directory.dataset('WS', 'INT96_WHOLE')?.schema;
  expect(schema?.properties).toMatchObject({ t: { format: 'date-time' } });
  const mixed = [fine[0], far[0], fine[2]];
  const refused = await load(
    server,
    'INT96_FAR',
    writeParquet([textColumn('k', keys), int96Column('t', mixed)]),
  );
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('column t has nanoseconds in row 1 and a time outside of the years'),
  ]);
  const nested = { name: 'o', children: [int96Column('t', fine)] };
  const { notes } = await answerOf('INT96_IN', writeParquet([textColumn('k', keys), nested]));
  expect(notes).toContain('times of type INT96 within o are read to the microsecond');
});
