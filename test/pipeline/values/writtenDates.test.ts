// Dates as people write them, in every format, through real loads.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { findRejects } from '../../../store/work/jobs.ts';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { fileOf, type Format, refusal, loadColumn, typeOf, valuesOf } from './written.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const FORMATS: readonly Format[] = ['csv', 'json', 'parquet'];

/** A text and its day. */
const DAYS: readonly (readonly [string, string])[] = [
  ['31.12.2023', '2023-12-31'],
  ['1.2.2024', '2024-02-01'],
  ['31.12.69', '1969-12-31'],
  ['31.12.68', '2068-12-31'],
  ['2-Jan-24', '2024-01-02'],
  ['02-JAN-2024', '2024-01-02'],
  ['02JAN2024', '2024-01-02'],
  ['Jan 2, 2024', '2024-01-02'],
  ['January 2, 2024', '2024-01-02'],
  ['Sept. 3, 1999', '1999-09-03'],
  ['May 1st, 2020', '2020-05-01'],
  ['2 January 2024', '2024-01-02'],
  ['Mon, 2 Jan 2024', '2024-01-02'],
  ['Tuesday, January 2, 2024', '2024-01-02'],
  ['2024-Jan-02', '2024-01-02'],
  ['Q1 2024', '2024-01-01'],
  ['2024Q2', '2024-04-01'],
  ['2024-Q4', '2024-10-01'],
  ['3Q2024', '2024-07-01'],
  ['2015/01/01', '2015-01-01'],
  ['2015.1.9', '2015-01-09'],
  ['2023-W05', '2023-01-30'],
  ['2023-W05-3', '2023-02-01'],
  ['2020-W53', '2020-12-28'],
  ['2021-W01-1', '2021-01-04'],
  ['2024-02', '2024-02-01'],
  ['02/2024', '2024-02-01'],
  ['Feb 2024', '2024-02-01'],
  ['February 2024', '2024-02-01'],
  ['29 Feb 2024', '2024-02-29'],
  ['13/02/2024', '2024-02-13'],
  ['5/2/24', '2024-02-05'],
  ['05-02-2024', '2024-02-05'],
  ['2024-01-31', '2024-01-31'],
  ['20240131', '2024-01-31'],
];

for (const format of FORMATS) {
  test(`days in every spelling side by side, as ${format}`, async () => {
    const file = await fileOf(
      format,
      DAYS.map(([text]) => text),
    );
    const [type, values] = await loadColumn(server, `DAYS_${format}`, file);
    assert.equal(type, 'string:date');
    assert.deepEqual(
      values,
      DAYS.map(([, day]) => day),
    );
  });
}

const INSTANTS: readonly (readonly [string, string])[] = [
  ['2015/01/01 01:00:00', '2015-01-01T01:00:00.000Z'],
  ['31.1.2024 3:05', '2024-01-31T03:05:00.000Z'],
  ['1/31/2024 3:05 PM', '2024-01-31T15:05:00.000Z'],
  ['1/31/2024 03:05:10 am', '2024-01-31T03:05:10.000Z'],
  ['Jan 2, 2024, 12:00 am', '2024-01-02T00:00:00.000Z'],
  ['2-Jan-24 12:30 p.m.', '2024-01-02T12:30:00.000Z'],
  ['Tue, 02 Jan 2024 10:00:00 GMT', '2024-01-02T10:00:00.000Z'],
  ['2024-01-02 10:00 UTC', '2024-01-02T10:00:00.000Z'],
  ['2024-01-02T10:00+01:00', '2024-01-02T09:00:00.000Z'],
  ['2024-01-02T10:00:00+0130', '2024-01-02T08:30:00.000Z'],
  ['2024-12-31T23:59:59,5-05', '2025-01-01T04:59:59.500Z'],
  ['2024-01-02 10:00:00.123456', '2024-01-02T10:00:00.123456Z'],
  ['2024-01-02', '2024-01-02T00:00:00.000Z'],
  ['2.1.2024', '2024-01-02T00:00:00.000Z'],
];

for (const format of FORMATS) {
  test(`clocks after every day, beside days alone, as ${format}`, async () => {
    const file = await fileOf(
      format,
      INSTANTS.map(([text]) => text),
    );
    const [type, values] = await loadColumn(server, `CLOCKS_${format}`, file);
    assert.equal(type, 'string:date-time');
    assert.deepEqual(
      values,
      INSTANTS.map(([, instant]) => instant),
    );
  });
}

const NO_DATES = [
  '2024-02-30',
  '32.01.2024',
  '13/13/2024',
  'Q5 2024',
  '2023-W53',
  '29 Feb 2023',
  '31.12.2023 24:30',
  '31.12.2023 13:05 PM',
  '31.12.2023 x',
  'Janember 2, 2024',
  '1.2.3',
];
test('a value that is no date leaves a column of texts, all of them unchanged', async () => {
  for (const [at, text] of NO_DATES.entries()) {
    const values = ['31.12.2023', text, '2-Jan-24'];
    const file = await fileOf('csv', values);
    assert.deepEqual(await loadColumn(server, `NONE_${at}`, file), ['string', values], text);
  }
});

test('for an existing type such a value is rejected, and the others are read', async () => {
  await loaded(server, 'KNOWN', 'k,v\nr000000,2020-01-01\n', { key: 'k' });
  const values = ['31.12.2023', '2024-02-30', 'Q1 2024', '13/02/2024', '1/2/2024'];
  const job = await loaded(server, 'KNOWN', await fileOf('csv', values));
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [4, 1]);
  const rejects = await findRejects(server.tapedeck.services.database, job.jobId);
  assert.deepEqual(
    rejects.map(({ line, error }) => `${line}: ${error}`),
    [`3: validation failed: property 'v' should be date, not "2024-02-30"`],
  );
  const days = ['2020-01-01', '2023-12-31', '2024-01-01', '2024-02-13', '2024-02-01'];
  assert.deepEqual(await valuesOf(server, 'KNOWN'), days);
});

/** The sample of CSV has 10,000, that of JSON 2,000, DuckDB's own 20,480. */
const LATE = 24_999;
const MANY = LATE + 11;
const ambiguous = (at: number): string => `0${1 + (at % 9)}/0${1 + (at % 7)}/2024`;

test('a value at line 25,000 decides the order of the whole column', async () => {
  for (const [telling, first] of [
    ['13/02/2024', '2024-02-01'],
    ['02/13/2024', '2024-01-02'],
  ] as const) {
    for (const format of ['csv', 'json'] as const) {
      const values = Array.from({ length: MANY }, (_, at) => ambiguous(at));
      values[0] = '01/02/2024';
      values[LATE] = telling;
      const id = `TOLD_${format}_${telling.slice(0, 2)}`;
      const job = await loaded(server, id, await fileOf(format, values), { key: 'k' });
      assert.deepEqual([job.recordsIngested, job.recordsInvalid], [MANY, 0]);
      assert.equal(typeOf(server, id), 'string:date');
      const rows = await valuesOf(server, id);
      assert.equal(rows[0], first);
    }
  }
});

test('an ambiguous order needs a parameter, and the parameter decides', async () => {
  for (const format of FORMATS) {
    const file = await fileOf(format, ['01/02/2024', '03-04-2024']);
    const refusalText = await refusal(server, `ASK_${format}`, file);
    assert.match(refusalText, /^400 .*column 'v' needs dateOrder=MDY or DMY \(--date-order\)/);
    assert.match(refusalText, /'01\/02\/2024'/);
    const [type, values] = await loadColumn(server, `ASK_${format}`, file, { dateOrder: 'DMY' });
    assert.deepEqual([type, values], ['string:date', ['2024-02-01', '2024-04-03']]);
    assert.match(await refusal(server, `ASK_${format}`, file), /needs dateOrder/);
  }
});

test('values that contradict each other are text, and the log reports it', async () => {
  const values = ['13/01/2024', '01/13/2024', '02/03/2024'];
  const { jobId } = await loaded(server, 'BOTH', await fileOf('csv', values), { key: 'k' });
  assert.deepEqual([typeOf(server, 'BOTH'), await valuesOf(server, 'BOTH')], ['string', values]);
  const logs = await fetch(`${server.base}/v1/logs/WS?jobId=${jobId}&token=${server.secret}`);
  assert.match(await logs.text(), /13\/01\/2024 has the day first, 01\/13\/2024 the month/);
});

test('a spelling that the sample does not have is read further down', async () => {
  const values = Array.from({ length: MANY }, () => '2024-01-05');
  values[LATE] = '31.12.2023';
  await loaded(server, 'LATE', await fileOf('csv', values), { key: 'k' });
  assert.equal(typeOf(server, 'LATE'), 'string:date');
  const digits = values.map((value) => value.replace('2024-01-05', '20240105'));
  await loaded(server, 'LATE_DAY', await fileOf('csv', digits), { key: 'k' });
  assert.equal(typeOf(server, 'LATE_DAY'), 'string:date');
  values[LATE - 1] = '31.12.2023 10:00';
  await loaded(server, 'LATE_CLOCK', await fileOf('csv', values), { key: 'k' });
  assert.equal(typeOf(server, 'LATE_CLOCK'), 'string:date-time');
  values[LATE - 2] = 'N/A';
  const job = await loaded(server, 'LATE_NONE', await fileOf('csv', values), { key: 'k' });
  assert.deepEqual([typeOf(server, 'LATE_NONE'), job.recordsIngested], ['string:date-time', MANY]);
});

test('years, versions, identifiers and telephone numbers stay what they are', async () => {
  const columns: readonly (readonly [readonly string[], string])[] = [
    [['2023', '2024'], 'integer'],
    [['20240131', '20240201'], 'integer'],
    [['007', '0123'], 'string'],
    [['1.2.3', '1.2.10', '10.4.2'], 'string'],
    [['555-1234', '555-9876'], 'string'],
    [['555 123 456', '555 987 654'], 'string'],
    [['192.168.100.200', '192.168.100.201'], 'string'],
    [['2019-20', '2020-21'], 'string'],
  ];
  for (const [at, [values, type]] of columns.entries()) {
    const id = `STAY_${at}`;
    await loaded(server, id, await fileOf('csv', values), { key: 'k' });
    assert.equal(typeOf(server, id), type, values.join());
  }
});
