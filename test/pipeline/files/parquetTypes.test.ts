// Typed values of Parquet in properties of each other type: what a property cannot hold is reported, as for
// Arrow. No pair of types converts a value silently.
import * as arrow from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { parquetOf } from '../../soak/fuzz/http/bases.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const TARGETS = {
  integer: { type: 'integer' },
  int128: { type: 'integer', format: 'int128' },
  decimal: { type: 'number', format: 'decimal', precision: 20, scale: 4 },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  moment: { type: 'string', format: 'date-time' },
  fine: { type: 'string', format: 'date-time-ns' },
  time: { type: 'string', format: 'time' },
  object: { type: 'object' },
} as const;
type Target = keyof typeof TARGETS;

/** A dataset with a property of each type, whose values are null where a file has others. */
async function createDataset(datasetId: string): Promise<void> {
  const schema = { type: 'object', properties: { k: { type: 'string' }, ...TARGETS } };
  const schemaContract = { types: 'discard_value', columns: 'freeze' };
  const dataset = { datasetId, schema, columnMapping: { key: 'k' }, schemaContract };
  const { status, text } = await send(server, 'POST', '/datasets/WS', { dataset });
  expect([status, text]).toEqual([200, text]);
}

type MakeVector = () => arrow.Vector;

const vectorOf =
  (type: arrow.DataType, value: unknown): MakeVector =>
  () =>
    arrow.vectorFromArray([value], type);

/** A value of each type in Parquet and Arrow, and the properties that store it. */
const SOURCES: Readonly<
  Record<string, readonly [string, MakeVector | undefined, Partial<Record<Target, unknown>>]>
> = {
  INT: [
    '5::INTEGER',
    vectorOf(new arrow.Int32(), 5),
    { integer: 5, int128: 5, decimal: 5, number: 5, object: 5 },
  ],
  BIG: [
    '9007199254740993::BIGINT',
    vectorOf(new arrow.Int64(), 9_007_199_254_740_993n),
    {
      integer: '9007199254740993',
      int128: '9007199254740993',
      decimal: '9007199254740993.0000',
      object: expect.anything(),
    },
  ],
  UNSIGNED: [
    '18446744073709551615::UBIGINT',
    vectorOf(new arrow.Uint64(), 2n ** 64n - 1n),
    { int128: '18446744073709551615', object: expect.anything() },
  ],
  DOUBLE: [
    '1.5::DOUBLE',
    vectorOf(new arrow.Float64(), 1.5),
    { decimal: 1.5, number: 1.5, object: 1.5 },
  ],
  WHOLE: [
    '7::DOUBLE',
    vectorOf(new arrow.Float64(), 7),
    { integer: 7, int128: 7, decimal: 7, number: 7, object: 7 },
  ],
  DECIMAL: [
    "'123456789012.3456'::DECIMAL(38, 18)",
    undefined,
    { decimal: '123456789012.3456', number: 123_456_789_012.3456, object: expect.anything() },
  ],
  DIGITS: ["'1.234567890123456789'::DECIMAL(38, 18)", undefined, { object: expect.anything() }],
  ROUND: [
    "'12.000000'::DECIMAL(18, 6)",
    undefined,
    { integer: 12, int128: 12, decimal: 12, number: 12, object: 12 },
  ],
  SHORT: [
    "'0.1'::DECIMAL(9, 2)",
    undefined,
    { decimal: 0.1, number: 0.1, object: expect.anything() },
  ],
  BOOL: ['true', vectorOf(new arrow.Bool(), true), { boolean: true, object: true }],
  DAY: [
    "DATE '2024-01-02'",
    vectorOf(new arrow.DateDay(), new Date('2024-01-02')),
    {
      date: '2024-01-02',
      moment: '2024-01-02T00:00:00.000Z',
      fine: '2024-01-02T00:00:00.000Z',
      object: '2024-01-02',
    },
  ],
  MIDNIGHT: [
    "TIMESTAMP '2024-01-02'",
    vectorOf(new arrow.TimestampMicrosecond(), Date.parse('2024-01-02')),
    {
      date: '2024-01-02',
      moment: '2024-01-02T00:00:00.000Z',
      fine: '2024-01-02T00:00:00.000Z',
      object: expect.anything(),
    },
  ],
  MOMENT: [
    "TIMESTAMPTZ '2024-01-02 03:04:05Z'",
    vectorOf(new arrow.TimestampMicrosecond('UTC'), Date.parse('2024-01-02T03:04:05Z')),
    {
      moment: '2024-01-02T03:04:05.000Z',
      fine: '2024-01-02T03:04:05.000Z',
      object: expect.anything(),
    },
  ],
  FINE: [
    "TIMESTAMP_NS '2024-01-02 03:04:05.123456789'",
    undefined,
    { fine: '2024-01-02T03:04:05.123456789Z', object: expect.anything() },
  ],
  CLOCK: [
    "TIME '12:34:56.5'",
    vectorOf(new arrow.TimeMicrosecond(), 45_296_500_000n),
    { time: '12:34:56.5', object: expect.anything() },
  ],
  ZONED: ["'12:34:56+02'::TIMETZ", undefined, { object: expect.anything() }],
  UUID: [
    "'0f8fad5b-d9cb-469f-a165-70867728950e'::UUID",
    undefined,
    { object: '0f8fad5b-d9cb-469f-a165-70867728950e' },
  ],
  WORD: ["'true'", vectorOf(new arrow.Utf8(), 'true'), { boolean: true, object: 'true' }],
  DIGIT: [
    "'5'",
    vectorOf(new arrow.Utf8(), '5'),
    { integer: 5, int128: 5, decimal: 5, number: 5, object: '5' },
  ],
  LIST: ['[1, 2]', undefined, { object: [1, 2] }],
  STRUCT: ["{'a': 1}", undefined, { object: { a: 1 } }],
};

for (const [source, [sql, vector, stored]] of Object.entries(SOURCES)) {
  test(`${source} of Parquet and Arrow`, async () => {
    const names = Object.keys(TARGETS) as readonly Target[];
    const columns = names.map((name) => `${sql} AS "${name}"`);
    const formats: Record<string, Uint8Array> = {
      PARQUET: await parquetOf(`SELECT 'a' AS k, ${columns.join(', ')}`),
    };
    if (vector !== undefined) {
      const vectors = Object.fromEntries(names.map((name) => [name, vector()]));
      const table = new arrow.Table({ k: vectorOf(new arrow.Utf8(), 'a')(), ...vectors });
      formats['ARROW'] = arrow.tableToIPC(table, 'stream');
    }
    for (const [format, body] of Object.entries(formats)) {
      const id = `${source}_${format}`;
      // Integers of JSON, and so of Arrow, may be counts of nanoseconds since 1970.
      const isCount = id === 'BIG_ARROW' ? { fine: '2255-06-05T23:47:34.740993Z' } : {};
      const values: Partial<Record<Target, unknown>> = { ...stored, ...isCount };
      await createDataset(id);
      const { notes } = await loaded(server, id, body);
      const rows = JSON.parse(await read(server, `/data/WS/${id}?limit=1`)) as unknown;
      const expected = Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
      expect([id, rows]).toEqual([id, [{ k: 'a', ...expected }]]);
      const reported = names.filter((name) =>
        notes.some((note) => note.includes(`values of ${name} did not fit and are null`)),
      );
      expect([id, reported]).toEqual([id, names.filter((name) => values[name] === undefined)]);
    }
  });
}
