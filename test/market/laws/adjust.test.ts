// Prices adjusted for splits and dividends: known actions of a real company, and odd ones of files.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { adjustBars } from '../../../market/derive/adjust.ts';

/** Apple's splits. */
const SPLITS = [
  { exDate: '1987-06-16', fromFactor: 1, toFactor: 2 },
  { exDate: '2000-06-21', fromFactor: 1, toFactor: 2 },
  { exDate: '2005-02-28', fromFactor: 1, toFactor: 2 },
  { exDate: '2014-06-09', fromFactor: 1, toFactor: 7 },
  { exDate: '2020-08-31', fromFactor: 1, toFactor: 4 },
];

const TODAY = '2024-03-01';

/** Closes as traded, and adjusted for all splits since. */
const ADJUSTED_CLOSES: readonly (readonly [date: string, traded: number, adjusted: number])[] = [
  ['1980-12-12', 28.75, 0.128348],
  ['2005-02-25', 88.99, 1.589107],
  ['2014-06-06', 645.57, 23.056071],
  ['2020-08-28', 499.23, 124.8075],
  ['2020-08-31', 129.04, 129.04],
];

test('a known history of five splits', () => {
  const rows = ADJUSTED_CLOSES.map(([date, close]) => ({ date, close, volume: 1_000 }));
  const bars = adjustBars(rows, { splits: SPLITS, dividends: [] }, TODAY);
  assert.deepEqual(
    bars.map(({ date, raw, split }) => [date, raw.close, split.close]),
    ADJUSTED_CLOSES,
  );
  assert.deepEqual(
    bars.map(({ split }) => split.volume),
    [224_000, 56_000, 28_000, 4_000, 1_000],
  );
});

test('a dividend reduces all prices before it in the same ratio as the last close', () => {
  const rows = [
    { date: '2023-11-08', close: 182.89 },
    { date: '2023-11-09', close: 182.41 },
    { date: '2023-11-10', close: 186.4 },
  ];
  const dividends = [{ exDate: '2023-11-10', amount: 0.24 }];
  const bars = adjustBars(rows, { splits: [], dividends }, TODAY);
  assert.deepEqual(
    bars.map(({ full }) => full.close),
    [182.649368, 182.17, 186.4],
  );
  assert.deepEqual(
    bars.map(({ split }) => split.close),
    [182.89, 182.41, 186.4],
  );
});

test('a split and two dividends of one day are combined', () => {
  const rows = [
    { date: '2024-01-02', close: 100 },
    { date: '2024-01-03', close: 50 },
  ];
  const splits = [{ exDate: '2024-01-03', fromFactor: 1, toFactor: 2 }];
  const dividends = [
    { exDate: '2024-01-03', amount: 1 },
    { exDate: '2024-01-03', amount: 4 },
  ];
  const [first] = adjustBars(rows, { splits, dividends }, TODAY);
  assert.equal(first?.split.close, 50);
  assert.equal(first.full.close, 45);
});

test('a future action changes nothing yet', () => {
  const rows = [{ date: '2024-02-29', close: 100 }];
  const splits = [{ exDate: '2024-03-04', fromFactor: 1, toFactor: 2 }];
  const [bar] = adjustBars(rows, { splits, dividends: [] }, TODAY);
  assert.equal(bar?.split.close, 100);
});

test('prices that a file has adjusted stay unchanged, and give the traded prices', () => {
  const rows = [
    { date: '2020-08-28', close: 124.8075, volume: 400, isSplitAdjusted: true },
    { date: '2020-08-31', close: 129.04, volume: 100, isSplitAdjusted: true },
  ];
  const [bar] = adjustBars(rows, { splits: SPLITS, dividends: [] }, TODAY);
  assert.equal(bar?.split.close, 124.8075);
  assert.equal(bar.split.volume, 400);
  assert.equal(bar.raw.close, 499.23);
  assert.equal(bar.raw.volume, 100);
});

test('adjusted prices of a record are served unchanged', () => {
  const rows = [{ date: '2020-08-28', close: 124.81, uClose: 499.23, fClose: 122.5 }];
  const [bar] = adjustBars(rows, { splits: SPLITS, dividends: [] }, TODAY);
  assert.deepEqual([bar?.split.close, bar?.raw.close, bar?.full.close], [124.81, 499.23, 122.5]);
});

test('a dividend as large as the price, a zero ratio and an invalid day change nothing', () => {
  const rows = [
    { date: '2024-01-02', close: 10 },
    { date: '2024-01-03', close: 11 },
  ];
  const actions = {
    splits: [
      { exDate: '2024-01-03', fromFactor: 1, toFactor: 0 },
      { exDate: '2024-01-03', fromFactor: 0, toFactor: 2 },
      { fromFactor: 1, toFactor: 2 },
    ],
    dividends: [
      { exDate: '2024-01-03', amount: 10 },
      { exDate: '2024-01-03', amount: -3 },
    ],
  };
  const [bar] = adjustBars(rows, actions, TODAY);
  assert.deepEqual([bar?.split.close, bar?.full.close], [10, 10]);
});
