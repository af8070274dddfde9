// Key figures of prices and statements together (INTERFACE.md 1 "advanced-stats"). Values without a source in
// the statements are null.
import { addMonths, type Day } from '../../query/time/days.ts';
import type { Bar, Prices } from './adjust.ts';
import { dayIn, greatest, least, numberIn, rounded, type Row, sumOf, textIn } from './values.ts';

interface Statements {
  /** Latest last, of quarters and years. */
  readonly income: readonly Row[];
  readonly balance: readonly Row[];
  readonly cash: readonly Row[];
}

const QUARTERS = 4;

/** The last four quarters reported by a day; none where fewer were. */
function lastYear(rows: readonly Row[], today: Day): readonly Row[] {
  const reported = rows.filter(
    (row) => textIn(row, 'period') === 'quarterly' && dayIn(row, 'reportDate') <= today,
  );
  return reported.length < QUARTERS ? [] : reported.slice(-QUARTERS);
}

function totalOf(rows: readonly Row[], name: string): number | null {
  const values = rows.map((row) => numberIn(row, name));
  return values.length === 0 || values.includes(null) ? null : sumOf(values);
}

const over = (one: number | null, other: number | null, decimals = 6): number | null =>
  one === null || other === null || other === 0 ? null : rounded(one / other, decimals);

const plus = (...values: readonly (number | null)[]): number | null =>
  values.every((value) => value === null) ? null : sumOf(values);

/**
 * @param stats the answer of `/stats`
 * @param bars of the last year at least, oldest first
 */
export function advancedStats(
  stats: Row,
  { balance, cash, income }: Statements,
  bars: readonly Bar[],
  today: Day,
): Row {
  const [year, flows] = [lastYear(income, today), lastYear(cash, today)];
  const sheet = balance.findLast((row) => dayIn(row, 'reportDate') <= today);
  const of = (name: string): number | null => numberIn(stats, name);
  const revenue = totalOf(year, 'totalRevenue');
  const [profit, ebit] = [totalOf(year, 'netIncome'), totalOf(year, 'ebit')];
  const depreciation = totalOf(flows, 'depreciation');
  const totalCash = plus(numberIn(sheet, 'currentCash'), numberIn(sheet, 'shortTermInvestments'));
  const currentDebt = numberIn(sheet, 'currentLongTermDebt');
  const debt = plus(currentDebt, numberIn(sheet, 'longTermDebt'));
  const equity = numberIn(sheet, 'shareholderEquity');
  const worth = of('marketcap');
  const enterpriseValue = worth === null ? null : worth + (debt ?? 0) - (totalCash ?? 0);
  return {
    ...stats,
    totalCash,
    currentDebt,
    revenue,
    totalRevenue: revenue,
    grossProfit: totalOf(year, 'grossProfit'),
    EBITDA: ebit === null ? null : ebit + (depreciation ?? 0),
    revenuePerShare: over(revenue, of('sharesOutstanding')),
    revenuePerEmployee: over(revenue, of('employees'), 2),
    debtToEquity: over(debt, equity),
    profitMargin: over(profit, revenue),
    enterpriseValue: debt === null && totalCash === null ? null : enterpriseValue,
    enterpriseValueToRevenue: over(enterpriseValue, revenue),
    priceToSales: over(worth, revenue),
    priceToBook: over(worth, equity),
    forwardPERatio: null,
    pegRatio: null,
    peHigh: over(of('week52highSplitAdjustOnly'), of('ttmEPS'), 2),
    peLow: over(of('week52lowSplitAdjustOnly'), of('ttmEPS'), 2),
    ...datesOf(bars, today),
    putCallRatio: null,
  };
}

/** Days of the highest and lowest prices of a year. */
function datesOf(bars: readonly Bar[], today: Day): Row {
  const since = addMonths(today, -12);
  const year = bars.filter(({ date }) => date > since && date <= today);
  const high = (of: (bar: Bar) => Prices): Day | null => {
    const value = (bar: Bar): number | null => of(bar).high ?? of(bar).close;
    const most = greatest(year.map(value));
    return year.findLast((bar) => most !== null && value(bar) === most)?.date ?? null;
  };
  const low = (of: (bar: Bar) => Prices): Day | null => {
    const value = (bar: Bar): number | null => of(bar).low ?? of(bar).close;
    const fewest = least(year.map(value));
    return year.findLast((bar) => fewest !== null && value(bar) === fewest)?.date ?? null;
  };
  const [full, split] = [(bar: Bar) => bar.full, (bar: Bar) => bar.split];
  return {
    week52highDate: high(full),
    week52lowDate: low(full),
    week52highDateSplitAdjustOnly: high(split),
    week52lowDateSplitAdjustOnly: low(split),
  };
}
