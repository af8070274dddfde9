// Bars adjusted for splits and dividends. Traded prices are never changed: factors are computed at every read
// from the actions known then. The price before an ex-date is multiplied by the split's ratio, and by the
// share of the last close before it that a dividend leaves (the method of CRSP's "cumulative factor to adjust
// prices").
import type { Day } from '../../query/time/days.ts';
import { dayIn, numberIn, rounded, type Row } from './values.ts';

export interface Actions {
  readonly splits: readonly Row[];
  readonly dividends: readonly Row[];
}

export interface Prices {
  readonly open: number | null;
  readonly high: number | null;
  readonly low: number | null;
  readonly close: number | null;
  readonly volume: number | null;
}

export interface Bar {
  readonly date: Day;
  /** As traded. */
  readonly raw: Prices;
  /** In today's shares. */
  readonly split: Prices;
  /** In today's shares, with dividends reinvested. */
  readonly full: Prices;
  readonly row: Row;
}

/** Actions at the beginning of one day. */
interface ExDay {
  readonly date: Day;
  /** Shares before for each share after. */
  readonly ratio: number;
  /** In shares of that day. */
  readonly dividend: number;
}

interface CachedBars extends Actions {
  readonly today: Day;
  readonly bars: readonly Bar[];
}

/** Cache by records and actions: a quote, a chart and key figures need the same bars one after the other. */
const cache = new WeakMap<readonly Row[], CachedBars>();

const PRICE_NAMES = [
  'open',
  'high',
  'low',
  'close',
  'uOpen',
  'uHigh',
  'uLow',
  'uClose',
  'fOpen',
  'fHigh',
  'fLow',
  'fClose',
];

/** A row without any price is no bar: vendors write one for a day without trades. */
const hasPrice = (row: Row): boolean => PRICE_NAMES.some((name) => numberIn(row, name) !== null);

/**
 * @param rows daily bars, oldest first; rows without any price are left out
 * @param today actions of later days have not happened yet
 */
export function adjustBars(
  rows: readonly Row[],
  { dividends, splits }: Actions,
  today: Day,
): readonly Bar[] {
  const cached = cache.get(rows);
  const isSame = cached?.splits === splits && cached.dividends === dividends;
  if (isSame && cached.today === today) return cached.bars;
  const bars = barsOf(rows, { dividends, splits }, today);
  cache.set(rows, { dividends, splits, today, bars });
  return bars;
}

function barsOf(rows: readonly Row[], actions: Actions, today: Day): readonly Bar[] {
  const days = exDays(actions, today);
  const bars: Bar[] = [];
  let [price, payout, next] = [1, 1, days.length - 1];
  const priced = rows.filter(hasPrice);
  for (let at = priced.length - 1; at >= 0; at -= 1) {
    const row = priced[at] ?? {};
    const date = dayIn(row, 'date');
    for (let day = days[next]; day !== undefined && day.date > date; day = days[(next -= 1)]) {
      price *= day.ratio;
      payout *= dividendFactor(day, tradedClose(row, price));
    }
    bars.push(barOf(row, date, price, payout));
  }
  return bars.toReversed();
}

function exDays({ dividends, splits }: Actions, today: Day): readonly ExDay[] {
  const days = new Map<Day, ExDay>();
  const add = (row: Row, ratio: number, dividend: number): void => {
    const date = dayIn(row, 'exDate');
    if (date === '' || date > today) return;
    const existing = days.get(date) ?? { date, ratio: 1, dividend: 0 };
    days.set(date, {
      date,
      ratio: existing.ratio * ratio,
      dividend: existing.dividend + dividend,
    });
  };
  for (const row of splits) add(row, ratioOf(row) ?? 1, 0);
  for (const row of dividends) add(row, 1, Math.max(0, numberIn(row, 'amount') ?? 0));
  return [...days.values()].sort((one, other) => (one.date < other.date ? -1 : 1));
}

/** Shares before for each share after, of a split; null when it is not stated. */
function ratioOf(split: Row): number | null {
  const [from, to] = [numberIn(split, 'fromFactor'), numberIn(split, 'toFactor')];
  const ratio = from !== null && to !== null && to !== 0 ? from / to : numberIn(split, 'ratio');
  return ratio !== null && ratio > 0 ? ratio : null;
}

/** Factor from a price of a day to one in today's shares. */
export function splitFactor(splits: readonly Row[], day: Day, today: Day): number {
  return splits
    .filter((row) => dayIn(row, 'exDate') > day && dayIn(row, 'exDate') <= today)
    .reduce((product, row) => product * (ratioOf(row) ?? 1), 1);
}

/** Share of the last close before it that a dividend leaves; a dividend as large as the price is ignored. */
function dividendFactor({ dividend, ratio }: ExDay, close: number | null): number {
  if (dividend === 0 || close === null || close <= 0) return 1;
  const left = 1 - dividend / (close * ratio);
  return left > 0 ? left : 1;
}

/** @param price factor of all splits after the bar */
function tradedClose(row: Row, price: number): number | null {
  const unadjusted = numberIn(row, 'uClose');
  if (unadjusted !== null) return unadjusted;
  const close = numberIn(row, 'close');
  return close !== null && row['isSplitAdjusted'] === true ? close / price : close;
}

/** Clients know them as uOpen and fOpen too: as traded, and adjusted for dividends. */
const NAMES = [
  ['open', 'uOpen', 'fOpen'],
  ['high', 'uHigh', 'fHigh'],
  ['low', 'uLow', 'fLow'],
  ['close', 'uClose', 'fClose'],
  ['volume', 'uVolume', 'fVolume'],
] as const;

interface CachedBar {
  readonly price: number;
  readonly payout: number;
  readonly bar: Bar;
}

/** Bars by their record: a backtest adjusts the same days again for each of its instants. */
const barCache = new WeakMap<Row, CachedBar>();

function barOf(row: Row, date: Day, price: number, payout: number): Bar {
  const cached = barCache.get(row);
  if (cached?.price === price && cached.payout === payout) return cached.bar;
  const bar = computeBar(row, date, price, payout);
  barCache.set(row, { price, payout, bar });
  return bar;
}

function computeBar(row: Row, date: Day, price: number, payout: number): Bar {
  const isAdjusted = row['isSplitAdjusted'] === true || numberIn(row, 'uClose') !== null;
  const [raw, split, full] = [emptyPrices(), emptyPrices(), emptyPrices()];
  for (const [name, uName, fName] of NAMES) {
    const value = numberIn(row, name);
    const factor = name === 'volume' ? 1 / price : price;
    const traded = isAdjusted ? scaled(value, 1 / factor, name) : value;
    raw[name] = numberIn(row, uName) ?? traded;
    split[name] = isAdjusted ? value : scaled(value, factor, name);
    const paid = name === 'volume' ? split[name] : scaled(split[name], payout, name);
    full[name] = numberIn(row, fName) ?? paid;
  }
  return { date, raw, split, full, row };
}

const emptyPrices = (): { -readonly [Name in keyof Prices]: Prices[Name] } => {
  return { open: null, high: null, low: null, close: null, volume: null };
};

function scaled(value: number | null, factor: number, name: string): number | null {
  if (value === null || factor === 1) return value;
  return name === 'volume' ? Math.round(value * factor) : rounded(value * factor);
}
