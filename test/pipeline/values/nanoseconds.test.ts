// Digits below a microsecond: a new property has the type with nanoseconds, an existing date-time rejects
// the record. Nothing is cut.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { loaded, read, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';
import { fileOf, type Format, loadColumn, typeOf, valuesOf } from './written.ts';

const FORMATS: readonly Format[] = ['csv', 'json', 'parquet'];
const NANOSECONDS = 'string:date-time-ns';

/** Texts of a column, with their instants. */
const COLUMNS: readonly (readonly (readonly [string, string])[])[] = [
  [
    ['2024-01-02T09:30:00.123456789Z', '2024-01-02T09:30:00.123456789Z'],
    ['2024-01-02', '2024-01-02T00:00:00.000Z'],
    ['2024-01-02 09:30:00.12', '2024-01-02T09:30:00.120Z'],
    ['1969-12-31T23:59:59.9999999-01:00', '1970-01-01T00:59:59.999999900Z'],
  ],
  [
    ['31.12.2023 09:30:00.123456789', '2023-12-31T09:30:00.123456789Z'],
    ['Jan 2, 2024 3:05:06.0000001 PM', '2024-01-02T15:05:06.000000100Z'],
    ['31.12.1969 23:59:59,999999999', '1969-12-31T23:59:59.999999999Z'],
    ['2-Jan-24', '2024-01-02T00:00:00.000Z'],
  ],
];

test('make a new property date-time-ns, in each format', async ({ server }) => {
  for (const format of FORMATS) {
    for (const [at, column] of COLUMNS.entries()) {
      const texts = column.map(([text]) => text);
      const id = `NEW_${format}_${at}`;
      const [type, values] = await loadColumn(server, id, await fileOf(format, texts));
      expect([id, type, values]).toEqual([id, NANOSECONDS, column.map(([, instant]) => instant)]);
    }
  }
});

test('are counted from 1970 in CSV and JSON, in seconds or nanoseconds', async ({ server }) => {
  const counts = ['1704153600123456789', '1704153600123456001', '1704153600000000000'];
  const instants = [
    '2024-01-02T00:00:00.123456789Z',
    '2024-01-02T00:00:00.123456001Z',
    '2024-01-02T00:00:00.000Z',
  ];
  const seconds = ['1704153600.123456789', '1704153600.123456001', '1704153600'];
  const isoOf = async (id: string): Promise<readonly string[]> => {
    const rows = JSON.parse(await read(server, `/data/WS/${id}?limit=9`)) as readonly {
      readonly k: string;
      readonly time: string;
    }[];
    return rows.toSorted((one, other) => (one.k < other.k ? -1 : 1)).map(({ time }) => time);
  };
  for (const [at, list] of [counts, seconds, counts.toReversed(), seconds.toReversed()].entries()) {
    const csv = `k,time\n${list.map((text, row) => `r${row},${text}\n`).join('')}`;
    const json = list.map((text, row) => `{"k":"r${row}","time":${text}}\n`).join('');
    const bodies = { CSV: csv, JSON: json };
    for (const [format, body] of Object.entries(bodies)) {
      const id = `${format}_${at}`;
      await loaded(server, id, body, { key: 'k', date: 'time' });
      expect([id, typeOf(server, id, 'time')]).toEqual([id, NANOSECONDS]);
      expect([id, await isoOf(id)]).toEqual([id, at < 2 ? instants : instants.toReversed()]);
    }
  }
});

test('distinguish the records of a declared index', async ({ server }) => {
  const csv = `symbol,time,px
A,2024-01-02 09:30:00.1234567,1
A,2024-01-02 09:30:00.1234568,2
`;
  const job = await loaded(server, 'F7', csv, { key: 'symbol', date: 'time' });
  expect([job.recordsIngested, job.recordsDuplicate]).toEqual([2, 0]);
});

test('are found below the sample', async ({ server }) => {
  for (const format of ['csv', 'json'] as const) {
    const texts = Array.from({ length: 12_000 }, () => '2024-01-02T09:30:00.123456Z');
    texts[11_999] = '2024-01-02T09:30:00.123456001Z';
    const id = `LATE_${format}`;
    const job = await loaded(server, id, await fileOf(format, texts), { key: 'k', date: 'v' });
    expect([id, job.recordsInvalid, typeOf(server, id)]).toEqual([id, 0, NANOSECONDS]);
  }
});

test('are read in the zone of the load', async ({ server }) => {
  const texts = ['2024-01-02T09:30:00.123456789', '2024-07-02T09:30:00.000000001Z'];
  const zoned = { timeZone: 'America/New_York' };
  const [type, values] = await loadColumn(server, 'ZONE', await fileOf('csv', texts), zoned);
  expect(type).toBe(NANOSECONDS);
  expect(values).toEqual(['2024-01-02T14:30:00.123456789Z', '2024-07-02T09:30:00.000000001Z']);
});

test('zeros below a microsecond need no nanoseconds', async ({ server }) => {
  const texts = ['2024-01-02T09:30:00.123456000Z', '31.12.2023 10:00:00.5000000'];
  for (const format of FORMATS) {
    const [type] = await loadColumn(server, `ZEROS_${format}`, await fileOf(format, texts));
    expect([format, type]).toEqual([format, 'string:date-time']);
  }
});

test('outside of the years of nanoseconds stay texts', async ({ server }) => {
  const texts = ['2024-01-02T09:30:00.123456789Z', '9999-12-31T00:00:00Z'];
  const result = await loadColumn(server, 'FAR', await fileOf('csv', texts));
  expect(result).toEqual(['string', texts]);
});

const createKnown = async (server: TestServer, id: string): Promise<void> => {
  const first = 'k,v\nr000000,2024-01-01T00:00:00.123456Z\n';
  await loaded(server, id, first, { key: 'k', date: 'v' });
};

test('are rejected by an existing date-time, with line and reason', async ({ server }) => {
  const texts = [
    '2024-01-02T09:30:00.123456789Z',
    '2024-01-02T09:30:00.1234560Z',
    '31.12.2023 09:30:00.1234567',
    '1704153600123456789',
  ];
  for (const format of FORMATS) {
    const id = `KNOWN_${format}`;
    await createKnown(server, id);
    const job = await loaded(server, id, await fileOf(format, texts));
    expect([id, job.recordsIngested, job.recordsInvalid]).toEqual([id, 1, 3]);
    const log = await send(server, 'GET', `/jobs/WS/ingest/${job.jobId}/invalid-records-log`);
    expect(log.text).toMatch(
      /property 'v' should be date-time, not .{1,4}2024-01-02.*date-time-ns/,
    );
    expect(await valuesOf(server, id)).toEqual([
      '2024-01-01T00:00:00.123456Z',
      '2024-01-02T09:30:00.123456Z',
    ]);
  }
});

test('are pushed into nanoseconds, and rejected by a date-time', async ({ server }) => {
  const record = { k: 'a', v: '2024-01-02T09:30:00.123456789Z' };
  assert.equal((await send(server, 'POST', '/record/WS/FRESH?wait=true', [record])).status, 200);
  expect(typeOf(server, 'FRESH')).toBe(NANOSECONDS);
  await createKnown(server, 'KNOWN');
  const texts = [record, { k: 'b', v: '2024-01-02 09:30:00.1234567' }];
  const counts = ['[{"k":"c","v":1704153600123456789}]'];
  for (const body of [...texts.map((one) => JSON.stringify([one])), ...counts]) {
    const url = `${server.base}/v1/record/WS/KNOWN?wait=true&token=${server.secret}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', body, headers });
    const text = await answer.text();
    expect([body, text]).toEqual([body, expect.stringContaining('date-time-ns')]);
  }
  expect(await valuesOf(server, 'KNOWN')).toEqual(['2024-01-01T00:00:00.123456Z']);
});
