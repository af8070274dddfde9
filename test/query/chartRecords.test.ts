// Records as a chart: which columns and keys make lines, which make candles, and what is refused.
import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { LINES_MAX } from '../../query/charts/records/chart.ts';
import type { Row } from '../../query/charts/records/chartColumns.ts';
import { type Choice, toDrawable } from '../../query/charts/records/chartPoints.ts';

/** A chart as texts, one per line: `name: label value, …`; of a refusal its subject and its rule. */
function describeChart(records: readonly Row[], choice: Choice = {}): readonly string[] {
  const drawable = toDrawable(records, choice);
  if (drawable.kind === 'refused') return [`${drawable.about}: ${drawable.rule}`];
  const { bars, labels, lines } = drawable;
  const formatPoint = (at: number, value: unknown): string =>
    `${labels[at]} ${String(value ?? '-')}`;
  return [
    ...(bars ?? []).map(({ close, from, high, low, open }) =>
      formatPoint(from, [open, high, low, close].join('/')),
    ),
    ...lines.map(({ name, values }) =>
      [`${name}:`, values.map((value, at) => formatPoint(at, value)).join(', ')].join(' '),
    ),
  ];
}

const days = [
  { key: 'A', date: 1_577_923_200_000, updated: 1, volume: 7, close: 2 },
  { key: 'A', date: 1_577_836_800_000, updated: 1, volume: 5, close: 1 },
];

test('the column and the days are found', () => {
  assert.deepEqual(describeChart(days), ['close: 2020-01-01 1, 2020-01-02 2'], 'oldest first');
  assert.deepEqual(describeChart(days, { columns: 'volume' }), [
    'volume: 2020-01-01 5, 2020-01-02 7',
  ]);
  const sectors = [
    { sector: 'b', n: 3 },
    { sector: 'a', n: null },
    { sector: 'c', n: 1 },
  ];
  assert.deepEqual(describeChart(sectors), ['n: b 3, c 1']);
  assert.deepEqual(describeChart([{ n: 3 }, { n: 1 }]), ['n: 1 3, 2 1']);
  assert.deepEqual(describeChart([{ date: '2020-01-01', minute: '09:31', close: 1 }]), [
    'close: 2020-01-01 09:31 1',
  ]);
  assert.deepEqual(describeChart([{ n: 1 }, { n: '9007199254740993' }]), [
    'n: 1 1, 2 9007199254740992',
  ]);
  assert.deepEqual(describeChart([]), []);
});

test('several columns are lines of the same days; a value that is null is a gap', () => {
  const records = [
    { date: '2024-01-03', open: 3, ma: 2 },
    { date: '2024-01-02', open: null, ma: null },
    { date: '2024-01-01', open: 1, ma: null },
  ];
  assert.deepEqual(describeChart(records, { columns: 'open, ma' }), [
    'open: 2024-01-01 1, 2024-01-03 3',
    'ma: 2024-01-01 -, 2024-01-03 2',
  ]);
  // One column whose name has commas, as the names of unnamed columns of SQL have.
  assert.deepEqual(describeChart([{ 'round(a, 2)': 1 }], { columns: 'round(a, 2)' }), [
    'round(a, 2): 1 1',
  ]);
});

describe('columns that are refused by name', () => {
  const names = Array.from({ length: LINES_MAX + 1 }, (_, at) => `c${at}`);
  const record = Object.fromEntries(names.map((name) => [name, 1]));
  test.each([
    ['c0,,c1', 'column: has an empty name'],
    ['c0,', 'column: has an empty name'],
    [' ', 'column: has an empty name'],
    ['c0,c1, c0', 'column: names c0 twice'],
    [names.join(), 'column: must name at most 8 attributes'],
    ['c0,zz', `column: names zz, which is none of ${names.join(', ')}`],
    ['zz', `column: is none of ${names.join(', ')}`],
  ])('%s', (columns, rule) => {
    assert.deepEqual(describeChart([record], { columns }), [rule]);
    // The syntax of the list is checked without records, too.
    if (!columns.includes('zz')) assert.deepEqual(describeChart([], { columns }), [rule]);
  });
  test('one without numbers', () => {
    const records = [{ n: 1, note: 'x' }];
    assert.deepEqual(describeChart(records, { columns: 'n,note' }), [
      'column: has no numbers in note',
    ]);
    assert.match(
      describeChart([{ a: 'x' }])[0] ?? '',
      /^column: must name a column of numbers; there are a/,
    );
  });
});

const keyed = (keys: readonly string[], more: object = {}): readonly Row[] =>
  keys.flatMap((symbol, at) =>
    ['2024-01-02', '2024-01-01'].map((date, day) => ({
      symbol,
      date,
      close: 10 * at + day,
      ...more,
    })),
  );

test('several keys are a line each, in the order of their names', () => {
  const records = [...keyed(['B', 'A']), { symbol: 'A', date: '2024-01-03', close: 5 }];
  const lines = [
    'A: 2024-01-01 11, 2024-01-02 10, 2024-01-03 5',
    'B: 2024-01-01 1, 2024-01-02 0, 2024-01-03 -',
  ];
  assert.deepEqual(describeChart(records, { key: 'symbol' }), lines);
  assert.deepEqual(
    describeChart(records),
    lines,
    'in an answer of SQL the text beside the day is the key',
  );
  const ends = [
    { symbol: 'A', date: '2024-01-01', close: 1 },
    { symbol: 'B', date: '2024-01-02', close: 2 },
  ];
  assert.deepEqual(describeChart(ends, { key: 'symbol' }), [
    'A: 2024-01-01 1, 2024-01-02 -',
    'B: 2024-01-01 -, 2024-01-02 2',
  ]);
});

test('the text with the fewest values distinguishes lines; if it does not suffice, all texts do', () => {
  const noted = keyed(['A', 'B']).map((record, at) => ({ note: `n${at}`, ...record }));
  assert.deepEqual(
    describeChart(noted).map((line) => line.slice(0, 2)),
    ['A:', 'B:'],
  );
  const venues = ['X', 'Y'].flatMap((venue) => keyed(['A', 'B'], { venue }));
  assert.deepEqual(
    describeChart(venues, { columns: 'close' }).map((line) => line.slice(0, 6)),
    ['A · X:', 'A · Y:', 'B · X:', 'B · Y:'],
  );
  const subkeys = ['X', 'Y'].flatMap((venue) => keyed(['A'], { venue }));
  assert.deepEqual(
    describeChart(subkeys, { key: 'symbol' }).map((line) => line.slice(0, 2)),
    ['X:', 'Y:'],
  );
  // A text with one value per day makes no lines: it describes the day.
  const ratings = [
    { date: '2024-01-01', close: 1, rating: 'buy' },
    { date: '2024-01-02', close: 2, rating: 'sell' },
  ];
  assert.deepEqual(describeChart(ratings), ['close: 2024-01-01 1, 2024-01-02 2']);
});

test('keys with columns are lines of both, as many as a chart has room for', () => {
  const records = keyed(['A', 'B'], { open: 7 });
  assert.deepEqual(
    describeChart(records, { columns: 'open,close' }).map((line) => line.split(':')[0]),
    ['A · open', 'A · close', 'B · open', 'B · close'],
  );
  const eight = keyed(Array.from({ length: 8 }, (_, at) => `K${at}`));
  assert.equal(describeChart(eight, { key: 'symbol' }).length, 8);
  const nine = keyed(Array.from({ length: 9 }, (_, at) => `K${at}`));
  for (const choice of [{ key: 'symbol' }, {}]) {
    assert.deepEqual(describeChart(nine, choice), [
      'records: draws at most 8 lines, and there are 9 of symbol: request fewer',
    ]);
  }
  const more = keyed(['A', 'B', 'C', 'D', 'E'], { open: 7 });
  assert.match(
    describeChart(more, { columns: 'open,close' })[0] ?? '',
    /5 of symbol with 2 attributes of each/,
  );
});

test('two values of a day without a distinguishing text, and keys without days, make no lines', () => {
  const twice = days.map((record) => ({ ...record, date: '2020-01-01' }));
  const rule = /^records: draws one line, and there are several values of 2020-01-01: request one$/;
  assert.match(describeChart(twice)[0] ?? '', rule);
  const keys = [
    { s: 'A', n: 1 },
    { s: 'B', n: 2 },
  ];
  assert.match(
    describeChart(keys, { key: 's' })[0] ?? '',
    /one line where there are no days: request one s$/,
  );
  assert.deepEqual(describeChart(keys), ['n: A 1, B 2'], 'of SQL the texts are the places');
});

test('candles are found in any letter case, with lines over them', () => {
  const records = [
    { Date: '2024-01-02', OPEN: 2, High: 4, low: 1, Close: 3, ma: 2 },
    { Date: '2024-01-01', OPEN: 1, High: 3, low: 0, Close: 2, ma: 1 },
    { Date: '2024-01-03', OPEN: null, High: 3, low: 0, Close: 2, ma: null },
  ];
  const candles = ['2024-01-01 1/3/0/2', '2024-01-02 2/4/1/3'];
  assert.deepEqual(describeChart(records, { kind: 'candles' }), candles);
  assert.deepEqual(describeChart(records, { kind: 'candles', columns: 'ma' }), [
    ...candles,
    'ma: 2024-01-01 1, 2024-01-02 2',
  ]);
  const both = [{ open: 1, high: 1, low: 1, Close: 9, close: 1 }];
  assert.deepEqual(describeChart(both, { kind: 'candles' }), ['1 1/1/1/1']);
});

test('records without candles are refused, naming the missing columns', () => {
  const of = (records: readonly Row[], key?: string): string =>
    describeChart(records, { kind: 'candles', key })[0] ?? '';
  assert.match(
    of(days),
    /^kind: candles needs open, high, low and close: missing open, high, low$/,
  );
  const bar = { open: 1, high: 1, low: 1, close: 1, date: '2024-01-01' };
  assert.match(of([{ ...bar, low: null }]), /^kind: candles needs numbers in open, high, low/);
  assert.match(of([{ ...bar, low: null, ma: 1 }]), /^kind: candles needs numbers/);
  assert.match(of([bar, bar]), /^records: draws one candle of a day.* several of 2024-01-01/);
  const two = ['A', 'B'].map((symbol) => ({ ...bar, symbol }));
  assert.match(of(two, 'symbol'), /^records: draws candles of one symbol: request one$/);
  assert.deepEqual(describeChart([], { kind: 'candles' }), []);
});
