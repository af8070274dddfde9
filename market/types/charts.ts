// Types that are bars: chart, historical-prices, previous, intraday-prices (INTERFACE.md 1).
import { addDays, type Day } from '../../query/time/days.ts';
import { type Actions, adjustBars, type Bar } from '../derive/adjust.ts';
import { type ChartOptions, chartRows, previousRow } from '../derive/dailyBars.ts';
import { endOfMinute, minuteRows } from '../derive/minuteBars.ts';
import { findPriceState } from '../derive/quote.ts';
import { dayIn, type Row } from '../derive/values.ts';
import {
  type TypeRequest,
  between,
  type Need,
  newest,
  type Read,
  allRecords,
} from './typeRequest.ts';
import { dynamicRange, minuteDay, type Span, spanOf } from './days.ts';
import { quoteInputs, quoteNeeds } from './prices.ts';

/** Days before a chart's first that are read as well: the previous bar is needed for its change. */
const BEFORE_DAYS = 14;

const actionNeeds = (key: string): readonly Need[] => [
  allRecords('SPLITS', key),
  allRecords('DIVIDENDS', key),
];

function actionsOf(key: string, read: Read): Actions {
  const [splits, dividends] = actionNeeds(key).map(read);
  return { splits: splits ?? [], dividends: dividends ?? [] };
}

export function chartNeeds(ask: TypeRequest): readonly Need[] {
  const span = spanOf(ask);
  if (span.kind === 'minutes') {
    return [minutesNeed(ask, span), ...(fromClose(ask) ? [daysBefore(ask, span)] : [])];
  }
  const ticks = ask.options.includeToday === true ? quoteNeeds(ask) : [];
  return [daysNeed(ask, span), ...actionNeeds(ask.symbol), ...ticks];
}

export function chart(ask: TypeRequest, read: Read): readonly object[] {
  const span = spanOf(ask);
  return span.kind === 'minutes' ? minuteChart(ask, span, read) : dayChart(ask, span, read);
}

/** `{range, data}`: drawn by clients that leave the range to the time of day. */
export const dynamicChart = (ask: TypeRequest, read: Read): object => ({
  range: dynamicRange(ask),
  data: chart(ask, read),
});

type DaySpan = Extract<Span, { kind: 'days' }>;
type MinuteSpan = Extract<Span, { kind: 'minutes' }>;

/** Always up to now: adjustments for later dividends need the closes of their days. */
function daysNeed({ symbol, today }: TypeRequest, { count, days }: DaySpan): Need {
  if (count !== undefined) return newest('HISTORICAL_PRICES', symbol, count + 1 + GAP_BARS);
  const from = days.from === undefined ? undefined : addDays(days.from, -BEFORE_DAYS);
  const to = [today, days.to, days.from].reduce<Day>(
    (last, day) => (day !== undefined && day > last ? day : last),
    today,
  );
  return between('HISTORICAL_PRICES', symbol, from, to);
}

function dayChart(ask: TypeRequest, span: DaySpan, read: Read): readonly object[] {
  const { options, symbol, today } = ask;
  const rows = read(daysNeed(ask, span));
  const actions = actionsOf(symbol, read);
  const { to } = span.days;
  const bars = adjustBars(rows, actions, today).filter(
    ({ date }) => to === undefined || date <= to,
  );
  const all = options.includeToday === true ? [...bars, ...barOfToday(ask, read, bars)] : bars;
  const last = span.count ?? options.chartLast ?? options.last;
  return chartRows(symbol, all, span.days.from, { ...chartOptions(ask), last });
}

const chartOptions = ({ options }: TypeRequest): Omit<ChartOptions, 'last'> => ({
  closeOnly: options.chartCloseOnly === true,
  simplify: options.chartSimplify === true,
  interval: options.chartInterval,
  fromClose: options.changeFromClose === true,
  order: options.sort ?? 'asc',
});

/** The day of the last price, if it has no bar yet. */
function barOfToday(ask: TypeRequest, read: Read, bars: readonly Bar[]): readonly Bar[] {
  const state = findPriceState(quoteInputs(ask, read), ask, ask.untilMs);
  if (state === undefined || state.sale.day <= (bars.at(-1)?.date ?? '')) return [];
  const { day, sale } = state;
  const prices = { ...day, close: sale.price };
  return [{ date: sale.day, raw: prices, split: prices, full: prices, row: {} }];
}

/** Rows without a price that are skipped: vendors have one for each day of a long suspension. */
const GAP_BARS = 20;

/** Today may have an unfinished one, and the previous bar is needed for the change. */
const previousNeed = ({ symbol }: TypeRequest): Need =>
  newest('HISTORICAL_PRICES', symbol, 3 + GAP_BARS);

export const previousNeeds = (ask: TypeRequest): readonly Need[] => [
  previousNeed(ask),
  ...actionNeeds(ask.symbol),
];

export function previous(ask: TypeRequest, read: Read): object | undefined {
  const rows = read(previousNeed(ask)).filter((row) => dayIn(row, 'date') < ask.today);
  const all = adjustBars(rows, actionsOf(ask.symbol, read), ask.today);
  const last = all.findLastIndex(({ split }) => split.close !== null);
  const bars = all.slice(0, last + 1);
  return bars.length === 0 ? undefined : previousRow(ask.symbol, bars);
}

export const minuteNeeds = (ask: TypeRequest): readonly Need[] => {
  const span = minuteSpan(ask);
  return [minutesNeed(ask, span), ...(fromClose(ask) ? [daysBefore(ask, span)] : [])];
};

export const minutes = (ask: TypeRequest, read: Read): readonly object[] =>
  minuteChart(ask, minuteSpan(ask), read);

/** The given days, or the day that is currently shown. */
function minuteSpan(ask: TypeRequest): MinuteSpan {
  const { from, on, range, to } = ask.options;
  const named = from ?? to ?? on ?? (range === undefined ? undefined : range);
  if (named === undefined) return { kind: 'minutes', days: minuteDay(ask), minutes: 1 };
  const { days } = spanOf(ask);
  return { kind: 'minutes', days, minutes: 1 };
}

const fromClose = ({ options }: TypeRequest): boolean => options.changeFromClose === true;

const minutesNeed = ({ symbol }: TypeRequest, { days }: MinuteSpan): Need =>
  between('INTRADAY_PRICES', symbol, days.from, days.to);

/** The close before a day. */
const daysBefore = ({ symbol }: TypeRequest, { days }: MinuteSpan): Need => ({
  input: 'HISTORICAL_PRICES',
  key: symbol,
  window: { kind: 'at', day: addDays(days.from ?? '1970-01-01', -1) },
});

function minuteChart(ask: TypeRequest, span: MinuteSpan, read: Read): readonly object[] {
  const { options } = ask;
  const rows = visible(read(minutesNeed(ask, span)), ask.untilMs);
  const before = fromClose(ask) ? read(daysBefore(ask, span)).at(-1) : undefined;
  const close = before?.['close'];
  return minuteRows(rows, {
    simplify: options.chartSimplify === true,
    interval: options.chartInterval,
    last: options.chartLast ?? options.last,
    fromClose: typeof close === 'number' ? close : null,
    minutes: span.minutes,
    order: options.sort ?? 'asc',
    plain: options.chartIEXOnly === true,
  });
}

/** Minutes that are over and visible to the caller. */
const visible = (rows: readonly Row[], untilMs: number): readonly Row[] =>
  rows.filter((row) => !(endOfMinute(row) > untilMs));
