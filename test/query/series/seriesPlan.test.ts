// Plans are pure, so their rules are a table.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { endOfDay, parseDay, startOfDay } from '../../../query/time/dates.ts';
import { planSeries, type SeriesContext, type SeriesPlan } from '../../../query/plan/seriesPlan.ts';
import { printSeries, prunedFiles } from '../../../query/plan/seriesSql.ts';
import type { Column } from '../../../store/lake/versions/columns.ts';
import { DATASET_DEFAULTS } from '../../../store/lake/datasets/datasets.ts';
import type { DataFile } from '../../../store/lake/versions/lakeRead.ts';
import type { SeriesParameters } from '../../../query/plan/seriesParameters.ts';

const column = (id: number, name: string, type: Column['type']): Column => ({
  id,
  name,
  type,
  nullable: false,
});

const file = (id: number, ranges: readonly (readonly [number, string, string])[]): DataFile => ({
  id,
  path: `WS/D/${id}.parquet`,
  records: 10,
  bytes: 100,
  ranges: new Map(ranges.map(([at, min, max]) => [at, { min, max, nulls: 0 }])),
  deletes: null,
  proof: undefined,
});

function context(dateType: 'date' | 'timestamp', files: readonly DataFile[] = []): SeriesContext {
  const columns = [
    column(1, 'symbol', 'varchar'),
    column(2, 'when', dateType),
    column(3, 'price', 'float64'),
    column(4, '_system_updated', 'timestamp'),
  ];
  const properties = {
    symbol: { type: 'string' },
    when: { type: 'string', format: dateType === 'date' ? 'date' : 'date-time' },
    price: { type: 'number' },
  } as const;
  const schema = { type: 'object', properties, required: ['symbol', 'when'] } as const;
  const mapping = { key: 'symbol', date: 'when' };
  const named = { ...DATASET_DEFAULTS, createdMs: 0, updatedMs: 0 };
  const dataset = { tableId: 2, workspace: 'WS', dataset: 'D', schema, mapping, ...named };
  const table = { tableId: 2, snapshot: 3, folder: '', columns, files, records: 10, bytes: 100 };
  const zone = 'America/New_York';
  const today = '2026-03-31';
  return { dataset, table, visibility: { kind: 'all' }, rowsMax: 1000, today, zone, shape: 'data' };
}

const TAKES: readonly (readonly [SeriesParameters, Partial<SeriesPlan>])[] = [
  [{}, { take: 'newest', order: 'desc', limit: 1 }],
  [{ from: '2020-01-01' }, { take: 'newest', order: 'desc', limit: 1000 }],
  [
    { on: '2020-01-01', limit: 5 },
    { take: 'newest', order: 'desc', limit: 5 },
  ],
  [{ last: 7 }, { take: 'newest', order: 'desc', limit: 7 }],
  [
    { last: 7, sort: 'asc' },
    { take: 'newest', order: 'asc', limit: 7 },
  ],
  [{ first: 7 }, { take: 'oldest', order: 'asc', limit: 7 }],
  [
    { first: 7, sort: 'desc' },
    { take: 'oldest', order: 'desc', limit: 7 },
  ],
  [
    { first: 7, limit: 1 },
    { take: 'oldest', limit: 7 },
  ],
  [
    { limit: 3, sort: 'asc' },
    { take: 'oldest', order: 'asc', limit: 3 },
  ],
  [{ last: 999_999 }, { limit: 1000 }],
];
for (const [parameters, expected] of TAKES) {
  test(`which end and how many: ${JSON.stringify(parameters)}`, () => {
    const plan = planSeries(parameters, context('date'));
    for (const [name, value] of Object.entries(expected)) {
      assert.equal(plan[name as keyof SeriesPlan], value, name);
    }
  });
}

const CONFLICTS: readonly (readonly [SeriesParameters, RegExp])[] = [
  [{ first: 1, last: 1 }, /"first" is not allowed beside "last"/],
  [{ on: '2020-01-01', from: '2020-01-01' }, /"on" is not allowed beside "from"/],
  [{ on: '2020-01-01', to: '2020-01-01' }, /"on" is not allowed beside "to"/],
  [{ from: '2020-01-02', to: '2020-01-01' }, /"from" must not be after "to"/],
  [{ subkey: 'x' }, /the dataset has no subkey/],
  [{ filter: ['nothing'] }, /"filter" names no attribute/],
];
for (const [parameters, message] of CONFLICTS) {
  test(`refused: ${JSON.stringify(parameters)}`, () => {
    assert.throws(() => planSeries(parameters, context('date')), message);
  });
}

test("days of an instant column are the zone's days, through both clock changes", () => {
  assert.equal(startOfDay('2026-03-08', 'America/New_York'), Date.UTC(2026, 2, 8, 5));
  assert.equal(endOfDay('2026-03-08', 'America/New_York'), Date.UTC(2026, 2, 9, 4));
  assert.equal(endOfDay('2026-11-01', 'America/New_York'), Date.UTC(2026, 10, 2, 5));
  const plan = planSeries({ on: '2026-11-01' }, context('timestamp'));
  assert.deepEqual(plan.range, {
    kind: 'instants',
    fromMs: Date.UTC(2026, 10, 1, 4),
    untilMs: Date.UTC(2026, 10, 2, 5),
  });
});

test('dates are read in both spellings and checked against the calendar', () => {
  assert.equal(parseDay('from', '20200229'), '2020-02-29');
  assert.equal(parseDay('from', '2020-02-29'), '2020-02-29');
  for (const text of ['2021-02-29', '2020-1-1', '20201301', 'today', '2020-01-01T00:00:00Z', '']) {
    assert.throws(() => parseDay('from', text), /"from" must be a date/);
  }
});

test('a query with a name may have as many records as are new, not more', () => {
  const initialContext = context('date', [file(1, [])]);
  const now = context('date', [file(2, []), file(1, []), file(3, [])]);
  const since = { table: initialContext.table, visibleRecords: () => [] };
  const limit = (parameters: SeriesParameters): number =>
    planSeries(parameters, { ...now, since }).limit;
  assert.equal(limit({}), 20);
  assert.equal(limit({ limit: 1_000_000_000 }), 20);
  assert.equal(limit({ last: 3 }), 3);
  assert.equal(planSeries({}, { ...initialContext, since }).limit, 0);
});

test('a key of whole numbers is bound only from a whole number, never from a rounded one', () => {
  const { table, ...rest } = context('date', [file(1, [])]);
  const columns = [column(1, 'symbol', 'int64'), ...table.columns.slice(1)];
  const plan = planSeries({ keys: ['1.5', '2'] }, { ...rest, table: { ...table, columns } });
  const { parameters } = printSeries(plan, { pathOf: (path) => path });
  assert.deepEqual(parameters.slice(0, 2), ['', '2']);
});

test('the last day of the calendar ends in an instant that can be written', () => {
  const plan = planSeries({ to: '9999-12-31' }, context('timestamp', [file(1, [])]));
  const { parameters } = printSeries(plan, { pathOf: (path) => path });
  assert.deepEqual(parameters, ['9999-12-31 23:59:59.999']);
});

test('every value of a plan is bound and every name quoted', () => {
  const evil = `x' OR 1=1 --`;
  const plan = planSeries({ key: evil, from: '2020-01-01' }, context('date', [file(1, [])]));
  const { sql, parameters } = printSeries(plan, { pathOf: (path) => `/lake/${path}` });
  assert.ok(!sql.includes(evil));
  assert.deepEqual(parameters, [evil, evil.toUpperCase(), '2020-01-01']);
});

test('files that can not hold a matching record are not read', () => {
  const files = [
    file(1, [
      [1, 'A', 'M'],
      [2, '2020-01-01', '2020-12-31'],
    ]),
    file(2, [
      [1, 'N', 'Z'],
      [2, '2020-01-01', '2020-12-31'],
    ]),
    file(3, [
      [1, 'A', 'Z'],
      [2, '2021-01-01', '2021-12-31'],
    ]),
    file(4, []),
  ];
  const ids = (parameters: SeriesParameters): readonly number[] =>
    prunedFiles(planSeries(parameters, context('date', files))).map(({ id }) => id);
  assert.deepEqual(ids({}), [1, 2, 3, 4]);
  assert.deepEqual(ids({ key: 'B' }), [1, 3, 4]);
  assert.deepEqual(ids({ key: 'b' }), [1, 3, 4]);
  assert.deepEqual(ids({ from: '2021-06-01' }), [3, 4]);
  assert.deepEqual(ids({ key: 'Q', to: '2020-06-30' }), [2, 4]);
});

test('a delayed reader sees nothing from the moment on, for any type of date column', () => {
  const visibility = { kind: 'before', ms: Date.UTC(2020, 5, 15), day: '2020-06-14' } as const;
  for (const [type, bound] of [
    ['date', '2020-06-14'],
    ['timestamp', '2020-06-15 00:00:00.000'],
  ] as const) {
    const plan = planSeries({}, { ...context(type, [file(1, [])]), visibility });
    assert.deepEqual(printSeries(plan, { pathOf: (path) => path }).parameters, [bound]);
  }
});
