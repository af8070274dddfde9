// advanced-stats with values by hand: a company with four quarters, and one with three.
import { expect, test } from 'vitest';
import { advancedStats } from '../../market/derive/advancedStats.ts';
import type { Bar } from '../../market/derive/adjust.ts';

const TODAY = '2024-02-29';
const STATS = {
  companyName: 'Abecede',
  marketcap: 1e3,
  sharesOutstanding: 100,
  employees: 5,
  ttmEPS: 2,
  week52highSplitAdjustOnly: 12,
  week52lowSplitAdjustOnly: 8,
};
const quarter = (reportDate: string, factor: number) => ({
  period: 'quarterly',
  reportDate,
  totalRevenue: 100 * factor,
  grossProfit: 40 * factor,
  ebit: 20 * factor,
  netIncome: 10 * factor,
});
const INCOME = [
  quarter('2023-02-01', 1),
  quarter('2023-05-01', 1),
  quarter('2023-08-01', 1),
  { ...quarter('2023-08-01', 9), period: 'annual' },
  quarter('2023-11-01', 2),
  quarter('2024-02-01', 2),
  // Not reported yet.
  quarter('2024-05-01', 100),
];
const BALANCE = [
  {
    period: 'quarterly',
    reportDate: '2024-02-01',
    currentCash: 70,
    shortTermInvestments: 30,
    currentLongTermDebt: 20,
    longTermDebt: 180,
    shareholderEquity: 400,
  },
];
const CASH = INCOME.map(({ period, reportDate }) => ({ period, reportDate, depreciation: 5 }));

const bar = (date: string, low: number, high: number): Bar => {
  const prices = { open: null, high, low, close: high, volume: null };
  return { date, raw: prices, split: prices, full: { ...prices, high: high / 2 }, row: {} };
};
const BARS = [bar('2022-06-01', 1, 99), bar('2023-04-03', 8, 9), bar('2023-10-02', 9, 12)];

test('four reported quarters and the latest balance sheet are used', () => {
  const statements = { income: INCOME, balance: BALANCE, cash: CASH };
  expect(advancedStats(STATS, statements, BARS, TODAY)).toEqual({
    ...STATS,
    totalCash: 100,
    currentDebt: 20,
    revenue: 600,
    totalRevenue: 600,
    grossProfit: 240,
    EBITDA: 140,
    revenuePerShare: 6,
    revenuePerEmployee: 120,
    debtToEquity: 0.5,
    profitMargin: 0.1,
    enterpriseValue: 1100,
    enterpriseValueToRevenue: 1.833333,
    priceToSales: 1.666667,
    priceToBook: 2.5,
    forwardPERatio: null,
    pegRatio: null,
    peHigh: 6,
    peLow: 4,
    week52highDate: '2023-10-02',
    week52lowDate: '2023-04-03',
    week52highDateSplitAdjustOnly: '2023-10-02',
    week52lowDateSplitAdjustOnly: '2023-04-03',
    putCallRatio: null,
  });
});

test('with three quarters and no balance sheet nothing is made up', () => {
  const income = INCOME.slice(2, 5);
  const stats = advancedStats(STATS, { income, balance: [], cash: [] }, [], TODAY);
  for (const [name, value] of Object.entries(stats)) {
    const isKnown = Object.hasOwn(STATS, name) || name === 'peHigh' || name === 'peLow';
    if (!isKnown) expect(value, name).toBeNull();
  }
});
