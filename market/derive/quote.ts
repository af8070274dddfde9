// The quote of a symbol at an instant (INTERFACE.md 1 "quote", "delayed-quote", "ohlc", "book"): from its
// days, and from current minutes, trades and best bids if there are any.
import { previousSession } from '../../query/time/calendar.ts';
import type { Day } from '../../query/time/days.ts';
import { addMonths } from '../../query/time/days.ts';
import { type Actions, adjustBars, type Bar, splitFactor } from './adjust.ts';
import {
  closeOf,
  type DaySoFar,
  daySoFar,
  DELAY_MS,
  findSession,
  lastExtended,
  lastOddLot,
  lastSale,
  type Sale,
  sizeOfSale,
  type Ticks,
} from './lastSale.ts';
import {
  difference,
  greatest,
  instantIn,
  least,
  meanOf,
  numberIn,
  rounded,
  type Row,
  shareOf,
  textIn,
} from './values.ts';
import { longDay, timeLabel } from './exchangeTime.ts';

export interface QuoteInputs extends Ticks, Actions {
  /** Latest daily bars, oldest first: a year of them. */
  readonly days: readonly Row[];
  readonly company: Row | undefined;
  readonly symbol: Row | undefined;
  /** Latest best bids and asks. */
  readonly quotes: readonly Row[];
}

export interface Moment {
  readonly nowMs: number;
  /** Later events are not visible yet; equal to now for real-time data. */
  readonly untilMs: number;
  /** The exchange's day. */
  readonly today: Day;
}

/** Sessions of the average volume (INTERFACE.md 1: avgTotalVolume). */
const AVERAGE_SESSIONS = 30;
const EXTENDED_HOURS_MS = 4 * 3_600_000;

/** State of a symbol's prices. */
interface PriceState {
  readonly sale: Sale;
  /** Of the sale's day: its official bar, or the day so far. */
  readonly day: DaySoFar;
  readonly isOfficial: boolean;
  /** The last bar before the sale's day. */
  readonly before: Bar | undefined;
  readonly bars: readonly Bar[];
}

/** Undefined without a visible sale. */
export function findPriceState(
  inputs: QuoteInputs,
  { today, ...moment }: Moment,
  untilMs = moment.untilMs,
): PriceState | undefined {
  const bars = adjustBars(inputs.days, inputs, today);
  const rawSale = lastSale(bars, inputs, untilMs);
  if (rawSale === undefined) return undefined;
  const factor = rawSale.of === 'day' ? 1 : splitFactor(inputs.splits, rawSale.day, today);
  const sale = { ...rawSale, price: rounded(rawSale.price * factor) };
  const official = bars.findLast((bar) => bar.date === sale.day && closeOf(bar.date) <= untilMs);
  const soFar = official === undefined ? daySoFar(inputs, sale.day, untilMs) : official.split;
  return {
    sale,
    day: official?.split ?? inShares(soFar, factor),
    isOfficial: official !== undefined,
    before: bars.findLast(({ date, split }) => date < sale.day && split.close !== null),
    bars,
  };
}

const NO_DAY: DaySoFar = { open: null, high: null, low: null, volume: null };

function inShares(day: DaySoFar | undefined, factor: number): DaySoFar {
  if (day === undefined || factor === 1) return day ?? NO_DAY;
  const times = (value: number | null): number | null =>
    value === null ? null : rounded(value * factor);
  const volume = day.volume === null ? null : Math.round(day.volume / factor);
  return { open: times(day.open), high: times(day.high), low: times(day.low), volume };
}

/** Describes the last price: INTERFACE.md 1 lists the words. */
function sourceOf(
  { isOfficial, sale }: PriceState,
  { nowMs, today, untilMs }: Moment,
): readonly [calculation: string, source: string, time: string] {
  if (!isOfficial && sale.of !== 'day') {
    return untilMs < nowMs
      ? ['sip', '15 minute delayed price', timeLabel(sale.timeMs)]
      : ['realtime', 'Real time price', timeLabel(sale.timeMs)];
  }
  const session = findSession(today) === undefined ? previousSession(today) : today;
  const latest = closeOf(session) <= nowMs ? session : previousSession(session);
  const day = longDay(sale.day);
  return sale.day >= latest && !isOpenAt(nowMs, today)
    ? ['close', 'Close', day]
    : ['previousclose', 'Previous close', day];
}

export function isOpenAt(nowMs: number, today: Day): boolean {
  const session = findSession(today);
  return session !== undefined && session.openMs <= nowMs && nowMs < session.closeMs;
}

/** Members of a quote that are expensive to compute, grouped by their sources. */
const PARTS = {
  source: ['calculationPrice', 'latestSource', 'latestTime', 'highSource', 'lowSource'],
  feed: ['iexRealtimePrice', 'iexRealtimeSize', 'iexLastUpdated'],
  delayed: ['delayedPrice', 'delayedPriceTime', 'oddLotDelayedPrice', 'oddLotDelayedPriceTime'],
  extended: ['extendedPrice', 'extendedChange', 'extendedChangePercent', 'extendedPriceTime'],
  average: ['avgTotalVolume'],
  year: ['week52High', 'week52Low', 'ytdChange'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The groups that are computed. */
export type QuoteParts = Readonly<Record<keyof typeof PARTS, boolean>>;

const WHOLE: QuoteParts = {
  source: true,
  feed: true,
  delayed: true,
  extended: true,
  average: true,
  year: true,
};

/** The groups that these members need. */
export const selectQuoteParts = (members: ReadonlySet<string>): QuoteParts => {
  const has = (part: keyof typeof PARTS): boolean => PARTS[part].some((one) => members.has(one));
  return {
    source: has('source'),
    feed: has('feed'),
    delayed: has('delayed'),
    extended: has('extended'),
    average: has('average'),
    year: has('year'),
  };
};

const NOTHING: Row = {};
const NO_SOURCE = [null, null, null] as const;

/**
 * Builds the quote object; undefined without known prices of the symbol.
 * @param parts all by default; the members of other groups are missing or null
 */
export function buildQuote(
  symbol: string,
  inputs: QuoteInputs,
  moment: Moment,
  parts: QuoteParts = WHOLE,
): Row | undefined {
  const state = findPriceState(inputs, moment);
  if (state === undefined) return undefined;
  const { before, day, isOfficial, sale } = state;
  const [calculationPrice, latestSource, latestTime] = parts.source
    ? sourceOf(state, moment)
    : NO_SOURCE;
  const session = findSession(sale.day);
  const previousClose = before?.split.close ?? null;
  const close = isOfficial ? sale.price : null;
  const official = isOfficial ? 'official' : null;
  const shares = numberIn(inputs.company, 'sharesOutstanding');
  const eps = numberIn(inputs.company, 'ttmEPS');
  return {
    ...namesOf(symbol, inputs),
    calculationPrice,
    open: day.open,
    openTime: day.open === null ? null : (session?.openMs ?? null),
    openSource: day.open === null ? null : 'official',
    close,
    closeTime: isOfficial ? closeOf(sale.day) : null,
    closeSource: official,
    high: day.high,
    highTime: isOfficial ? closeOf(sale.day) : null,
    highSource: day.high === null ? null : latestSource,
    low: day.low,
    lowTime: isOfficial ? closeOf(sale.day) : null,
    lowSource: day.low === null ? null : latestSource,
    latestPrice: sale.price,
    latestSource,
    latestTime,
    latestUpdate: sale.timeMs,
    latestVolume: day.volume,
    ...(parts.feed ? ofFeed(inputs, moment) : NOTHING),
    ...(parts.delayed ? delayedOf(inputs, moment) : NOTHING),
    ...(parts.extended ? extendedOf(inputs, moment, close ?? previousClose, sale) : NOTHING),
    previousClose,
    previousVolume: before?.split.volume ?? null,
    change: difference(previousClose, sale.price),
    changePercent: shareOf(previousClose, sale.price),
    volume: day.volume,
    ...exchangeOf(inputs, moment, parts.average ? averageVolume(state) : null),
    marketCap: shares === null ? null : Math.round(shares * sale.price),
    peRatio: eps === null || eps === 0 ? null : rounded(sale.price / eps, 2),
    ...(parts.year ? yearOf(state, moment) : NOTHING),
    lastTradeTime: sale.timeMs,
    currency: textIn(inputs.company, 'currency') ?? textIn(inputs.symbol, 'currency') ?? 'USD',
    isUSMarketOpen: isOpenAt(moment.nowMs, moment.today),
    sector: textIn(inputs.company, 'sector'),
  };
}

const namesOf = (symbol: string, { company, symbol: listed }: QuoteInputs): Row => ({
  symbol,
  companyName:
    textIn(company, 'companyName') ?? textIn(company, 'securityName') ?? textIn(listed, 'name'),
  primaryExchange: textIn(company, 'exchange') ?? textIn(listed, 'exchangeName'),
});

/** The last price of the feed itself, if there are trades. */
function ofFeed(inputs: QuoteInputs, { nowMs, untilMs }: Moment): Row {
  const trade = untilMs < nowMs ? undefined : lastSale([], { ...inputs, minutes: [] }, nowMs);
  return {
    iexRealtimePrice: trade?.price ?? null,
    iexRealtimeSize: trade?.size ?? null,
    iexLastUpdated: trade?.timeMs ?? null,
  };
}

function delayedOf(inputs: QuoteInputs, moment: Moment): Row {
  const untilMs = Math.min(moment.untilMs, moment.nowMs - DELAY_MS);
  const sale = findPriceState(inputs, moment, untilMs)?.sale;
  const odd = lastOddLot(inputs, untilMs);
  return {
    delayedPrice: sale?.price ?? null,
    delayedPriceTime: sale?.timeMs ?? null,
    oddLotDelayedPrice: odd?.price ?? null,
    oddLotDelayedPriceTime: odd?.timeMs ?? null,
  };
}

/** In extended hours, until the next session is near: INTERFACE.md 1 has them relative to the close. */
function extendedOf(
  inputs: QuoteInputs,
  { nowMs, today, untilMs }: Moment,
  close: number | null,
  sale: Sale,
): Row {
  const trade = isOpenAt(nowMs, today) ? undefined : lastExtended(inputs, untilMs);
  const isNewer = trade !== undefined && trade.timeMs > sale.timeMs - EXTENDED_HOURS_MS;
  const price = isNewer ? trade.price : null;
  return {
    extendedPrice: price,
    extendedChange: difference(price === null ? null : close, price),
    extendedChangePercent: shareOf(close, price),
    extendedPriceTime: isNewer ? trade.timeMs : null,
  };
}

/** Of the feed's venue: best bid and ask, if there are any. */
function exchangeOf(
  { quotes }: QuoteInputs,
  { nowMs, untilMs }: Moment,
  avgTotalVolume: number | null,
): Row {
  // The best bid and ask of a feed is real time or missing.
  const best =
    untilMs < nowMs ? undefined : quotes.findLast((row) => instantIn(row, 'time') <= nowMs);
  return {
    iexMarketPercent: null,
    iexVolume: null,
    avgTotalVolume,
    iexBidPrice: numberIn(best, 'bidPrice'),
    iexBidSize: numberIn(best, 'bidSize'),
    iexAskPrice: numberIn(best, 'askPrice'),
    iexAskSize: numberIn(best, 'askSize'),
    iexOpen: null,
    iexOpenTime: null,
    iexClose: null,
    iexCloseTime: null,
  };
}

function averageVolume({ bars, sale }: PriceState): number | null {
  const recent = bars.filter(({ date }) => date <= sale.day).slice(-AVERAGE_SESSIONS);
  const average = meanOf(recent.map(({ split }) => split.volume));
  return average === null ? null : Math.round(average);
}

/** Of the last year, including the day of the last sale. */
function yearOf({ bars, day, sale }: PriceState, { today }: Moment): Row {
  const { base, high, low } = yearBefore(bars, today, sale.day);
  return {
    week52High: greatest([high, day.high, sale.price]),
    week52Low: least([low, day.low, sale.price]),
    ytdChange: shareOf(base, sale.price),
  };
}

interface YearBefore {
  readonly name: string;
  readonly high: number | null;
  readonly low: number | null;
  /** The last close of the previous year. */
  readonly base: number | null;
}

/** Cached by the array of bars: each tick of a day needs the same year. */
const yearsBefore = new WeakMap<readonly Bar[], YearBefore>();

function yearBefore(bars: readonly Bar[], today: Day, saleDay: Day): YearBefore {
  const name = `${today} ${saleDay}`;
  const cached = yearsBefore.get(bars);
  if (cached?.name === name) return cached;
  const since = addMonths(today, -12);
  const year = bars.filter(({ date }) => date > since && date < saleDay);
  const lastYear = `${Number(today.slice(0, 4)) - 1}-12-31`;
  const entry = {
    name,
    high: greatest(year.map(({ split }) => split.high ?? split.close)),
    low: least(year.map(({ split }) => split.low ?? split.close)),
    base:
      bars.findLast(({ date, split }) => date <= lastYear && split.close !== null)?.split.close ??
      null,
  };
  yearsBefore.set(bars, entry);
  return entry;
}

/** `delayed-quote`; undefined without a visible sale. */
export function buildDelayedQuote(
  symbol: string,
  inputs: QuoteInputs,
  moment: Moment,
  oddLot: boolean,
): Row | undefined {
  const untilMs = Math.min(moment.untilMs, moment.nowMs - DELAY_MS);
  const state = findPriceState(inputs, moment, untilMs);
  if (state === undefined) return undefined;
  const sale = (oddLot ? lastOddLot(inputs, untilMs) : undefined) ?? state.sale;
  return {
    symbol,
    delayedPrice: sale.price,
    delayedSize: sizeOfSale(inputs, sale, untilMs),
    delayedPriceTime: sale.timeMs,
    high: state.day.high,
    low: state.day.low,
    totalVolume: state.day.volume,
    processedTime: sale.timeMs + DELAY_MS,
  };
}

/** `ohlc`; undefined without a day. */
export function buildOhlc(symbol: string, inputs: QuoteInputs, moment: Moment): Row | undefined {
  const state = findPriceState(inputs, moment);
  if (state === undefined) return undefined;
  const { day, isOfficial, sale } = state;
  return {
    open: { price: day.open, time: findSession(sale.day)?.openMs ?? null },
    close: { price: isOfficial ? sale.price : null, time: isOfficial ? closeOf(sale.day) : null },
    high: day.high,
    low: day.low,
    volume: day.volume,
    symbol,
  };
}

/** Current state of the market, for the book. */
export function currentSystemEvent({ nowMs, today }: Pick<Moment, 'nowMs' | 'today'>): Row {
  const session = findSession(today);
  if (session === undefined || nowMs < session.openMs) return {};
  const isOpen = nowMs < session.closeMs;
  return { systemEvent: isOpen ? 'R' : 'M', timestamp: isOpen ? session.openMs : session.closeMs };
}
