// The last sale visible to a caller: the latest of trades, minutes and days.
import { sessionOf } from '../../query/time/calendar.ts';
import type { Day } from '../../query/time/days.ts';
import type { Bar } from './adjust.ts';
import { endOfMinute } from './minuteBars.ts';
import { dayIn, greatest, instantIn, least, numberIn, type Row, sumOf } from './values.ts';
import { dayAt } from './exchangeTime.ts';

/** Data of the tape may be shown freely after this delay (SPEC.md "What the service does"). */
export const DELAY_MS = 15 * 60_000;

export interface Sale {
  readonly day: Day;
  readonly price: number;
  readonly size: number | null;
  readonly timeMs: number;
  readonly of: 'trade' | 'minute' | 'day';
}

/** Latest trades that are read of a symbol. */
export const TRADES_READ = 1_000;

export interface Ticks {
  /** Latest trades of a symbol, oldest first; at most `TRADES_READ`. */
  readonly trades: readonly Row[];
  /** Bars of its latest day with minutes, oldest first. */
  readonly minutes: readonly Row[];
}

const isRegular = (trade: Row): boolean => trade['isOutsideRegularHours'] !== true;
const isOddLot = (trade: Row): boolean => trade['isOddLot'] === true;

/** The last sale in regular hours at or before an instant; days count from their close on. */
export function lastSale(bars: readonly Bar[], ticks: Ticks, untilMs: number): Sale | undefined {
  const sales = [
    saleOfTrade(
      ticks.trades.filter((row) => isRegular(row) && !isOddLot(row)),
      untilMs,
    ),
    saleOfMinute(ticks.minutes, untilMs),
    saleOfDay(bars, untilMs),
  ].filter((sale) => sale !== undefined);
  return sales.reduce<Sale | undefined>(
    (best, one) => (best === undefined || sinceMs(one) >= sinceMs(best) ? one : best),
    undefined,
  );
}

/**
 * Time from which a sale is the last one: the official close at the instant of the session's end, also before
 * a tick of the same time; a trade within a minute before that minute's close.
 */
const sinceMs = ({ of, timeMs }: Sale): number => (of === 'minute' ? timeMs - 60_001 : timeMs);

export const lastOddLot = (ticks: Ticks, untilMs: number): Sale | undefined =>
  saleOfTrade(ticks.trades.filter(isOddLot), untilMs);

/** Shares of the last trade of the sale's day: a close and a minute have no size of their own. */
export function sizeOfSale({ trades }: Ticks, { day, size }: Sale, untilMs: number): number | null {
  if (size !== null) return size;
  const ofDay = trades.filter((row) => isRegular(row) && dayAt(instantIn(row, 'time')) === day);
  const lots = ofDay.filter((row) => !isOddLot(row));
  return saleOfTrade(lots.length > 0 ? lots : ofDay, untilMs)?.size ?? null;
}

export const lastExtended = (ticks: Ticks, untilMs: number): Sale | undefined =>
  saleOfTrade(
    ticks.trades.filter((row) => !isRegular(row)),
    untilMs,
  );

function saleOfTrade(trades: readonly Row[], untilMs: number): Sale | undefined {
  const row = trades.findLast((trade) => instantIn(trade, 'time') <= untilMs);
  const price = numberIn(row, 'price');
  if (row === undefined || price === null) return undefined;
  const timeMs = instantIn(row, 'time');
  return { day: dayAt(timeMs), price, size: numberIn(row, 'size'), timeMs, of: 'trade' };
}

function saleOfMinute(minutes: readonly Row[], untilMs: number): Sale | undefined {
  const row = minutes.findLast(
    (bar) => endOfMinute(bar) <= untilMs && numberIn(bar, 'close') !== null,
  );
  const price = numberIn(row, 'close');
  if (row === undefined || price === null) return undefined;
  return { day: dayIn(row, 'date'), price, size: null, timeMs: endOfMinute(row), of: 'minute' };
}

function saleOfDay(bars: readonly Bar[], untilMs: number): Sale | undefined {
  const bar = bars.findLast((one) => one.split.close !== null && closeOf(one.date) <= untilMs);
  const price = bar?.split.close ?? null;
  if (bar === undefined || price === null) return undefined;
  return { day: bar.date, price, size: null, timeMs: closeOf(bar.date), of: 'day' };
}

/** End of a day's session; for a day without one, 16:00 in winter time as a fallback. */
export const closeOf = (day: Day): number =>
  findSession(day)?.closeMs ?? Date.parse(`${day}T21:00:00Z`);

/** Cached sessions: a time zone lookup takes some 10 µs. */
const SESSIONS_MAX = 20_000;
const sessions = new Map<Day, ReturnType<typeof sessionOf>>();

/** The session of a day; undefined where there is none, and beyond the calendar. */
export function findSession(day: Day): ReturnType<typeof sessionOf> {
  if (sessions.has(day)) return sessions.get(day);
  const session = day < '1990' || day > '2030-12-31' ? undefined : sessionOf(day);
  if (sessions.size >= SESSIONS_MAX) sessions.clear();
  sessions.set(day, session);
  return session;
}

export interface DaySoFar {
  readonly open: number | null;
  readonly high: number | null;
  readonly low: number | null;
  readonly volume: number | null;
}

/** The visible part of a day's ticks; undefined where there are none. */
export function daySoFar(ticks: Ticks, day: Day, untilMs: number): DaySoFar | undefined {
  const minutes = ticks.minutes.filter(
    (row) => dayIn(row, 'date') === day && endOfMinute(row) <= untilMs,
  );
  if (minutes.length > 0) {
    const of = (name: string): readonly (number | null)[] =>
      minutes.map((row) => numberIn(row, name));
    return {
      open: of('open').find((value) => value !== null) ?? null,
      high: greatest(of('high')),
      low: least(of('low')),
      volume: sumOf(of('volume')),
    };
  }
  const trades = ticks.trades.filter((row) => {
    const timeMs = instantIn(row, 'time');
    return isRegular(row) && timeMs <= untilMs && dayAt(timeMs) === day;
  });
  if (trades.length === 0) return undefined;
  const prices = trades.map((row) => numberIn(row, 'price'));
  const size = sumOf(trades.map((row) => numberIn(row, 'size')));
  // With more trades than are read, figures of the whole day are unknown.
  const isWhole = trades[0] !== ticks.trades[0] || ticks.trades.length < TRADES_READ;
  return isWhole
    ? { open: prices[0] ?? null, high: greatest(prices), low: least(prices), volume: size }
    : { open: null, high: null, low: null, volume: null };
}
