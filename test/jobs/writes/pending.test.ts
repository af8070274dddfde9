// Pushed records: no version until their flush, the same bytes after it, and a full load for values that
// need one. Random histories of them: test/soak/laws/history/histories.ts.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { flushDataset } from '../../../jobs/run/flush.ts';
import { loaded } from '../../base/client.ts';
import { ask, read } from '../../soak/laws/history/histories.ts';
import { startServer } from '../../base/server.ts';

test('pushed records make no version until their flush, then one; asOf sees them from there', async () => {
  await using server = await startServer();
  await loaded(server, 'D', '{"symbol":"A","date":"2020-01-01","v":1.5}', {
    key: 'symbol',
    date: 'date',
  });
  const { lake, pending, ingestion, runner } = server.tapedeck.services;
  const before = lake.snapshot;
  const records = Array.from({ length: 50 }, (_, at) => ({
    symbol: 'P',
    date: '2021-01-01',
    v: at + 0.5,
  }));
  await Promise.all(
    records.map((record) =>
      ask(server, 'POST', '/record/WS/D?duplicateKeyHandling=replace', JSON.stringify(record)),
    ),
  );
  assert.equal(lake.snapshot, before);
  const [seen] = await read(server, '/data/WS/D/P');
  assert.ok(seen !== undefined && records.some(({ v }) => v === seen.v));
  assert.deepEqual(await read(server, `/data/WS/D/P?asOf=${before}`), []);
  const dataset = lake.directory.dataset('WS', 'D');
  assert.ok(dataset);
  const updated = await ask(server, 'GET', '/time-series/WS.D/P');
  await runner.inTurn('WS', 'D', () => flushDataset(dataset, { pending, ingestion }));
  assert.equal(lake.snapshot, before + 1);
  assert.deepEqual(await read(server, `/data/WS/D/P?asOf=${lake.snapshot}`), [seen]);
  assert.equal(await ask(server, 'GET', '/time-series/WS.D/P'), updated, 'the same bytes after it');
});

test('values that need a full load take it, with its messages', async () => {
  await using server = await startServer();
  const schema = {
    properties: {
      symbol: { type: 'string' },
      date: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      n: { type: 'integer' },
      x: { type: 'number' },
      b: { type: 'boolean' },
      o: { type: 'object' },
    },
  };
  const dataset = { datasetId: 'D', schema, columnMapping: { key: 'symbol', date: 'date' } };
  await ask(server, 'POST', '/datasets/WS', JSON.stringify({ dataset }));
  const row = {
    symbol: 'A',
    date: '2020-02-29',
    at: '2020-01-01T10:00:00.5Z',
    n: 5,
    x: 2.5,
    b: true,
  };
  await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...row, o: { a: [1, 'x'] } }));
  const [first] = (await read(server, '/data/WS/D')) as unknown as readonly object[];
  assert.deepEqual(first, { ...row, at: '2020-01-01T10:00:00.500Z', o: { a: [1, 'x'] } });
  // Numbers inside of a JSON value stay as they were written.
  const digits = '{"big":12345678901234567890,"e":1e40}';
  const rowText = JSON.stringify({ ...row, date: '2020-03-01', o: 0 }).replace(
    '"o":0',
    `"o":${digits}`,
  );
  await ask(server, 'POST', '/record/WS/D', rowText);
  assert.ok((await ask(server, 'GET', '/data/WS/D?on=2020-03-01')).includes(digits));
  for (const [change, pattern] of [
    [{ date: '2021-02-29' }, /'date' should be date/],
    [{ n: 5.5 }, /'n' should be integer/],
    [{ symbol: '' }, /required property 'symbol'/],
    [{ b: 'perhaps' }, /'b' should be boolean/],
  ] as const) {
    const headers = { authorization: `Bearer ${server.secret}` };
    const body = JSON.stringify({ ...row, ...change });
    const answer = await fetch(`${server.base}/v1/record/WS/D`, { method: 'POST', headers, body });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), pattern);
  }
  await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...row, date: 'Mar 1 2020', n: '7' }));
  assert.equal((await read(server, '/data/WS/D?limit=9')).length, 2);
});

/** Times of two records as clients write them, and the response for the second. */
const TIMES: Readonly<Record<string, readonly [unknown, unknown, string]>> = {
  offset: ['2020-01-02T10:00:00+00:00', '2020-01-02T05:00:01.5-05:00', '2020-01-02T10:00:01.500Z'],
  micro: [
    '2020-01-02T10:00:00.123456Z',
    '2020-01-02T10:00:01.1234Z',
    '2020-01-02T10:00:01.123400Z',
  ],
  epoch: [1577959200000, 1577959201123, '2020-01-02T10:00:01.123Z'],
};

test.each(Object.entries(TIMES))(
  'records without a unique index are pushed with times as %s',
  async (id, [first, second, expected]) => {
    await using server = await startServer();
    const { ingestion, lake, pending, runner } = server.tapedeck.services;
    const record = (time: unknown): string => JSON.stringify({ symbol: 'A', time, v: 1.5 });
    await ask(server, 'POST', `/record/WS/${id}`, record(first));
    const before = lake.snapshot;
    for (const _ of [1, 2]) await ask(server, 'POST', `/record/WS/${id}`, record(second));
    assert.equal(lake.snapshot, before, 'no version of each');
    const path = `/data/WS/${id}/A?last=2`;
    const series = await ask(server, 'GET', `/time-series/WS.${id}/A?last=3`);
    const seen = await read(server, path);
    assert.deepEqual(seen, Array(2).fill({ symbol: 'A', time: expected, v: 1.5 }));
    const dataset = lake.directory.dataset('WS', id);
    assert.ok(dataset);
    await runner.inTurn('WS', id, () => flushDataset(dataset, { pending, ingestion }));
    assert.deepEqual(await read(server, path), seen);
    assert.equal(await ask(server, 'GET', `/time-series/WS.${id}/A?last=3`), series);
    await ask(server, 'POST', `/data/WS/L${id}?wait=true&uniqueIndex=false`, record(second));
    assert.deepEqual((await read(server, `/data/WS/L${id}`))[0], seen[0], 'as a load reads it');
  },
);

test('pushed records of one millisecond are in the order of their microseconds', async () => {
  await using server = await startServer();
  const at = (micros: string): object => ({ symbol: 'A', time: `2020-01-02T10:00:00.${micros}Z` });
  await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...at('1'), v: 0 }));
  for (const micros of ['123456', '123789', '123001']) {
    await ask(server, 'GET', '/data/WS/D/A?last=9');
    await ask(server, 'POST', '/record/WS/D', JSON.stringify({ ...at(micros), v: Number(micros) }));
  }
  const rows = await read(server, '/data/WS/D/A?last=9');
  assert.deepEqual(
    rows.map((row) => row['v' as never]),
    [123789, 123456, 123001, 0],
  );
});
