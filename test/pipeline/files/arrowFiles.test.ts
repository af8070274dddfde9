// Arrow is loaded as files and as streams, with exact values and the types of its schema.
import assert from 'node:assert/strict';
import * as arrow from 'apache-arrow';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const vector = (type: arrow.DataType, values: readonly unknown[]): arrow.Vector =>
  arrow.vectorFromArray(values, type);

/** Batches of two rows each; a file has one dictionary, a stream may have one for each batch. */
function table(batchesMost: number): arrow.Table {
  const batch = (from: number): Readonly<Record<string, arrow.Vector>> => ({
    id: vector(new arrow.Utf8(), [`R${from}`, `R${from + 1}`]),
    whole: vector(new arrow.Int64(), [9_007_199_254_740_993n + BigInt(from), null]),
    real: vector(new arrow.Float64(), [1, 0.1]),
    day: vector(new arrow.DateDay(), [new Date('2024-02-29'), null]),
    moment: vector(new arrow.TimestampMillisecond('Europe/Paris'), [1_709_164_800_123, null]),
    flag: vector(new arrow.Bool(), [true, false]),
    word: vector(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), ['a "b"', 'ü\n']),
  });
  const batches = [0, 2].slice(0, batchesMost).map((from) => new arrow.Table(batch(from)));
  const [first = new arrow.Table(), second] = batches;
  return second === undefined ? first : first.concat(second);
}

const TYPES = {
  id: { type: 'string' },
  whole: { type: 'integer' },
  real: { type: 'number' },
  day: { type: 'string', format: 'date' },
  moment: { type: 'string', format: 'date-time' },
  flag: { type: 'boolean' },
  word: { type: 'string' },
};

for (const format of ['file', 'stream'] as const) {
  test(`an Arrow ${format}`, async () => {
    const id = `A_${format}`;
    const batches = format === 'file' ? 1 : 2;
    const bytes = arrow.tableToIPC(table(batches), format);
    const job = await loaded(server, id, bytes, { key: 'id' });
    assert.deepEqual([job.recordsIngested, job.recordsInvalid], [batches * 2, 0]);
    const { lake } = server.tapedeck.services;
    assert.deepEqual(lake.directory.dataset('WS', id)?.schema.properties, TYPES);
    const text = await read(server, `/data/WS/${id}?limit=9&sort=asc&format=jsonl`);
    assert.ok(text.includes('"whole":"9007199254740993","real":1,"day":"2024-02-29"'), text);
    assert.ok(
      text.includes('"moment":"2024-02-29T00:00:00.123Z","flag":true,"word":"a \\"b\\""'),
      text,
    );
    assert.ok(text.includes('"whole":null,"real":0.1,"day":null,"moment":null,"flag":false'), text);
  });
}

test('an Arrow answer can be loaded again', async () => {
  await loaded(server, 'OUT', 'symbol,date,v\nA,2024-01-01,1.5\nB,2024-01-02,\n');
  const url = `${server.base}/v1/data/WS/OUT?limit=9&format=arrow&token=${server.publishable}`;
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const job = await loaded(server, 'BACK', bytes);
  assert.equal(job.recordsIngested, 2);
  const path = '?limit=9&format=csv';
  assert.equal(
    await read(server, `/data/WS/BACK${path}`),
    await read(server, `/data/WS/OUT${path}`),
  );
});

test('damaged and unreadable Arrow is refused in words', async () => {
  const whole = arrow.tableToIPC(table(1), 'file');
  const bytes = new arrow.Table({ b: vector(new arrow.Binary(), [Uint8Array.of(1)]) });
  const cases: readonly (readonly [Uint8Array, RegExp])[] = [
    [whole.subarray(0, whole.length / 2), /not readable Arrow: it is cut short/],
    [Buffer.from('ARROW1\0\0nothing here'), /not readable Arrow/],
    [arrow.tableToIPC(bytes, 'stream'), /column b has type Binary, which records can not hold/],
  ];
  for (const [body, reason] of cases) {
    const answer = await load(server, 'BAD', body);
    const text = await answer.text();
    assert.equal(answer.status, 400, text);
    assert.match(text, reason);
  }
});
