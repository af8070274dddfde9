// A bar without a price is ignored: changes, quotes and key figures skip it.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { adjustBars } from '../../../market/derive/adjust.ts';
import { chartRows, previousRow } from '../../../market/derive/dailyBars.ts';
import { buildBoard } from '../../../market/board/board.ts';
import { caseFile, coreFolder } from './coreFolder.ts';

const NONE = { splits: [], dividends: [] };
const OPTIONS = {
  closeOnly: true,
  simplify: false,
  interval: undefined,
  last: undefined,
  fromClose: false,
  order: 'asc',
} as const;

test('the change of a bar is computed from the last existing close', async () => {
  await using core = await coreFolder();
  await core.loaded(caseFile('null-bar.csv'), '--as', 'HISTORICAL_PRICES', '--symbol', 'NULLS');
  const filter = 'filter=date,close,change,changePercent';
  assert.deepEqual(await core.get(`/stock/NULLS/chart/max?${filter}`), [
    { change: 0, changePercent: 0, close: 152.539993, date: '2017-05-18' },
    { change: 1.450012, changePercent: 0.00951, close: 153.990005, date: '2017-05-22' },
  ]);
  assert.deepEqual(await core.get(`/stock/NULLS/previous?${filter}`), {
    change: 1.450012,
    changePercent: 0.00951,
    close: 153.990005,
    date: '2017-05-22',
  });
  const quote = await core.get('/stock/NULLS/quote?filter=previousClose,change,latestPrice');
  assert.deepEqual(quote, { change: 1.450012, latestPrice: 153.990005, previousClose: 152.539993 });
  const stored = (await core.get('/data/CORE/HISTORICAL_PRICES/NULLS?last=9')) as readonly object[];
  assert.equal(stored.length, 3);
});

test('a bar with some of its prices is shown, and no change is computed from it', () => {
  const rows = [
    { date: '2024-01-02', close: 10 },
    { date: '2024-01-03', open: 11, close: null },
    { date: '2024-01-04', open: null, high: null, low: null, close: null, volume: 0 },
    { date: '2024-01-05', close: 12 },
    { date: '2024-01-08', open: 12, close: null },
  ];
  const bars = adjustBars(rows, NONE, '2024-02-01');
  assert.deepEqual(
    chartRows('A', bars, undefined, OPTIONS).map((row) => Reflect.get(row, 'change') as unknown),
    [0, null, 2, null],
  );
  assert.equal(Reflect.get(previousRow('A', bars.slice(0, 3)), 'change'), 2);
  const board = buildBoard(
    rows.map((row) => ({ ...row, symbol: 'A' })),
    [],
    '2024-02-01',
  );
  assert.deepEqual(
    board.map(({ changePercent }) => changePercent),
    [0.2],
  );
});

test('a dividend after a bar without a price is adjusted by the close before it', () => {
  const rows = [
    { date: '2024-01-02', close: 10 },
    { date: '2024-01-03', close: null },
    { date: '2024-01-04', close: 9 },
  ];
  const dividends = [{ exDate: '2024-01-04', amount: 1 }];
  const [first] = adjustBars(rows, { splits: [], dividends }, '2024-02-01');
  assert.equal(first?.full.close, 9);
});
