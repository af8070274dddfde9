// Key figures of a symbol (INTERFACE.md 1 "stats"), from its days, actions and company. Windows end at the
// last close; a window of n months begins at the last close on or before the same day n months ago.
import { addDays, addMonths, type Day } from '../../query/time/days.ts';
import { adjustBars, type Bar, splitFactor } from './adjust.ts';
import { type QuoteInputs, type Moment, findPriceState } from './quote.ts';
import {
  dayIn,
  greatest,
  least,
  meanOf,
  numberIn,
  rounded,
  type Row,
  shareOf,
  textIn,
} from './values.ts';

interface StatsInputs extends QuoteInputs {
  /** The last bars on or before days of long ago, oldest first, including the first of all. */
  readonly anchors: readonly Row[];
  /** Latest daily bars of the benchmark, oldest first. */
  readonly benchmark: readonly Row[];
  readonly benchmarkSplits: readonly Row[];
  readonly benchmarkDividends: readonly Row[];
}

/** Sessions of the moving averages and of average volumes. */
const [SHORT_AVERAGE, LONG_AVERAGE] = [50, 200];
const [TEN, THIRTY] = [10, 30];
/** Sessions of beta's year, and the fewest for a meaningful value. */
const BETA_SESSIONS = 252;
const BETA_LEAST = 20;

/** Undefined without known prices of the symbol. */
export function computeStats(inputs: StatsInputs, moment: Moment): Row | undefined {
  const state = findPriceState(inputs, moment);
  if (state === undefined) return undefined;
  const { today } = moment;
  const bars = state.bars.filter(({ date }) => date <= state.sale.day);
  const anchors = adjustBars(inputs.anchors, inputs, today);
  const price = state.sale.price;
  const { company } = inputs;
  const shares = numberIn(company, 'sharesOutstanding');
  const dividends = paidIn(inputs, today);
  const eps = numberIn(company, 'ttmEPS');
  return {
    companyName: textIn(company, 'companyName') ?? textIn(inputs.symbol, 'name'),
    marketcap: shares === null ? null : Math.round(shares * price),
    ...yearOf(bars, today),
    sharesOutstanding: shares,
    float: numberIn(company, 'float'),
    avg10Volume: wholeMean(bars.slice(-TEN)),
    avg30Volume: wholeMean(bars.slice(-THIRTY)),
    day200MovingAvg: closeMean(bars, LONG_AVERAGE),
    day50MovingAvg: closeMean(bars, SHORT_AVERAGE),
    employees: numberIn(company, 'employees'),
    ttmEPS: eps,
    ttmDividendRate: rounded(dividends, 4),
    dividendYield: price === 0 ? null : rounded(dividends / price, 6),
    nextDividendDate: nextExDate(inputs.dividends, today),
    exDividendDate: lastExDate(inputs.dividends, today),
    nextEarningsDate: textIn(company, 'nextEarningsDate'),
    peRatio: eps === null || eps === 0 ? null : rounded(price / eps, 2),
    beta: betaOf(bars, inputs, today),
    ...changesOf(price, [...anchors, ...bars], today, bars),
  };
}

function yearOf(bars: readonly Bar[], today: Day): Row {
  const since = addMonths(today, -12);
  const year = bars.filter(({ date }) => date > since);
  const [highs, lows] = [
    year.map(({ full }) => full.high ?? full.close),
    year.map(({ full }) => full.low ?? full.close),
  ];
  const base = bars.findLast(({ date, split }) => date <= since && split.close !== null);
  return {
    week52high: greatest(highs),
    week52low: least(lows),
    week52highSplitAdjustOnly: greatest(year.map(({ split }) => split.high ?? split.close)),
    week52lowSplitAdjustOnly: least(year.map(({ split }) => split.low ?? split.close)),
    week52change: shareOf(base?.split.close ?? null, bars.at(-1)?.split.close ?? null),
  };
}

const wholeMean = (bars: readonly Bar[]): number | null => {
  const mean = meanOf(bars.map(({ split }) => split.volume));
  return mean === null ? null : Math.round(mean);
};

/** Null with fewer sessions: an average of fewer is another figure. */
function closeMean(bars: readonly Bar[], sessions: number): number | null {
  const closes = bars.map(({ split }) => split.close).filter((close) => close !== null);
  if (closes.length < sessions) return null;
  const mean = meanOf(closes.slice(-sessions));
  return mean === null ? null : rounded(mean);
}

/** Dividends of the last twelve months, per share of today. */
function paidIn({ dividends, splits }: QuoteInputs, today: Day): number {
  const since = addMonths(today, -12);
  return dividends
    .filter((row) => dayIn(row, 'exDate') > since && dayIn(row, 'exDate') <= today)
    .reduce((sum, row) => {
      const factor = splitFactor(splits, dayIn(row, 'exDate'), today);
      return sum + Math.max(0, numberIn(row, 'amount') ?? 0) * factor;
    }, 0);
}

const exDates = (dividends: readonly Row[]): readonly Day[] =>
  dividends.map((row) => dayIn(row, 'exDate')).sort();

const nextExDate = (dividends: readonly Row[], today: Day): Day | null =>
  exDates(dividends).find((day) => day > today) ?? null;

const lastExDate = (dividends: readonly Row[], today: Day): Day | null =>
  exDates(dividends).findLast((day) => day <= today) ?? null;

/** Covariance of daily returns with the benchmark's over the benchmark's variance, of a year of sessions. */
function betaOf(bars: readonly Bar[], inputs: StatsInputs, today: Day): number | null {
  const { benchmark, benchmarkDividends: dividends, benchmarkSplits: splits } = inputs;
  const market = returnsOf(adjustBars(benchmark, { splits, dividends }, today));
  const pairs = [...returnsOf(bars)]
    .slice(-BETA_SESSIONS)
    .flatMap(([day, own]): readonly (readonly [number, number])[] => {
      const other = market.get(day);
      return other === undefined ? [] : [[own, other]];
    });
  if (pairs.length < BETA_LEAST) return null;
  const mean = (at: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
  const [own, other] = [mean(0), mean(1)];
  const covariance = pairs.reduce((sum, [a, b]) => sum + (a - own) * (b - other), 0);
  const variance = pairs.reduce((sum, [, b]) => sum + (b - other) ** 2, 0);
  return variance === 0 ? null : rounded(covariance / variance, 6);
}

/** Day -> return of the fully adjusted close since the previous bar. */
function returnsOf(bars: readonly Bar[]): ReadonlyMap<Day, number> {
  const returns = new Map<Day, number>();
  let before: number | null = null;
  for (const { date, full } of bars) {
    if (before !== null && before !== 0 && full.close !== null) {
      returns.set(date, full.close / before - 1);
    }
    if (full.close !== null) before = full.close;
  }
  return returns;
}

/** Members of changes, with the beginning of their windows. */
const WINDOWS: readonly (readonly [name: string, since: (today: Day) => Day])[] = [
  ['year5ChangePercent', (today) => addMonths(today, -60)],
  ['year2ChangePercent', (today) => addMonths(today, -24)],
  ['year1ChangePercent', (today) => addMonths(today, -12)],
  ['ytdChangePercent', (today) => `${Number(today.slice(0, 4)) - 1}-12-31`],
  ['month6ChangePercent', (today) => addMonths(today, -6)],
  ['month3ChangePercent', (today) => addMonths(today, -3)],
  ['month1ChangePercent', (today) => addMonths(today, -1)],
  ['day30ChangePercent', (today) => addDays(today, -30)],
];

/** Days before today whose last bars must be among the anchors. */
export const anchorDays = (today: Day): readonly Day[] => [
  addMonths(today, -60),
  addMonths(today, -24),
];

/** Sessions of the shortest window. */
const DAYS = 5;

function changesOf(price: number, all: readonly Bar[], today: Day, bars: readonly Bar[]): Row {
  const sorted = all.toSorted((one, other) => (one.date < other.date ? -1 : 1));
  const closeAt = (day: Day): number | null =>
    sorted.findLast(({ date, split }) => date <= day && split.close !== null)?.split.close ?? null;
  const isNow = bars.at(-1)?.split.close === price;
  const five = bars.at(isNow ? -1 - DAYS : -DAYS)?.split.close ?? null;
  return {
    maxChangePercent: shareOf(sorted[0]?.split.close ?? null, price),
    ...Object.fromEntries(
      WINDOWS.map(([name, since]) => [name, shareOf(closeAt(since(today)), price)]),
    ),
    day5ChangePercent: shareOf(five, price),
  };
}
