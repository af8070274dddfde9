// Applies a trade to its symbol: the last sale, those of the last minutes, and the day so far. A late trade
// is inserted at its time, so that the order of arrival does not matter.
import { dayAt } from '../derive/exchangeTime.ts';
import { type LiveSymbol, MINUTES_KEPT, TRADES_SHOWN } from './liveSymbol.ts';
import type { TradeTick } from './tick.ts';

/** Latest trades that are kept, to detect duplicates. */
const TRADES_KEPT = TRADES_SHOWN * 2;

/** Adds a trade that is the latest of its symbol. */
export function addTrade(live: LiveSymbol, tick: TradeTick): void {
  live.trades.push(tick);
  if (live.trades.length > TRADES_KEPT) live.trades.splice(0, TRADES_SHOWN);
  addToDay(live, tick);
  if (tick.isOutsideRegularHours === true) live.lastExtended = tick;
  else if (tick.isOddLot === true) live.lastOddLot = tick;
  else keepLast(live, tick);
}

/**
 * Adds a trade that is older than the latest.
 * @returns false where a duplicate can't be excluded: it is older than the kept trades
 */
export function addLateTrade(live: LiveSymbol, tick: TradeTick): boolean {
  const { trades } = live;
  const [oldest] = trades;
  if (oldest === undefined || tick.timeMs <= oldest.timeMs) return false;
  trades.splice(trades.findLastIndex(({ timeMs }) => timeMs <= tick.timeMs) + 1, 0, tick);
  if (trades.length > TRADES_KEPT) trades.splice(0, TRADES_SHOWN);
  addToDay(live, tick);
  const isNewer = (existing: TradeTick | undefined): boolean =>
    existing === undefined || existing.timeMs <= tick.timeMs;
  if (tick.isOutsideRegularHours === true) {
    if (isNewer(live.lastExtended)) live.lastExtended = tick;
  } else if (tick.isOddLot === true) {
    if (isNewer(live.lastOddLot)) live.lastOddLot = tick;
  } else if (isNewer(live.last)) keepLast(live, tick);
  else keepMinute(live.byMinute, tick);
  return true;
}

/** Compares a trade with the kept one of the same time and id; undefined without one. */
export function compareWithKept(live: LiveSymbol, tick: TradeTick): 'same' | 'other' | undefined {
  const existing = live.trades.find(
    ({ timeMs, tradeId }) => timeMs === tick.timeMs && tradeId === tick.tradeId,
  );
  if (existing === undefined) return undefined;
  return serializeTrade(existing) === serializeTrade(tick) ? 'same' : 'other';
}

const serializeTrade = (tick: TradeTick | undefined): string =>
  tick === undefined
    ? ''
    : JSON.stringify([
        tick.timeMs,
        tick.tradeId,
        tick.price,
        tick.size,
        isRegular(tick),
        tick.isOddLot === true,
      ]);

/** Replaces the trades by those of another board. @returns whether the last sale changed */
export function replaceTrades(live: LiveSymbol, past: LiveSymbol): boolean {
  const isOther = serializeTrade(live.last) !== serializeTrade(past.last);
  live.last = past.last;
  live.lastOddLot = past.lastOddLot;
  live.lastExtended = past.lastExtended;
  live.day = past.day;
  live.trades.splice(0, live.trades.length, ...past.trades);
  live.byMinute.splice(0, live.byMinute.length, ...past.byMinute);
  return isOther;
}

function keepLast(live: LiveSymbol, tick: TradeTick): void {
  const { byMinute } = live;
  const before = byMinute.at(-1);
  if (before !== undefined && minuteOf(before) === minuteOf(tick)) byMinute.pop();
  byMinute.push(tick);
  if (byMinute.length > MINUTES_KEPT) byMinute.shift();
  live.last = tick;
}

/** Stores the trade if it is the last one of its minute. */
function keepMinute(byMinute: TradeTick[], tick: TradeTick): void {
  const at = byMinute.findLastIndex((one) => minuteOf(one) <= minuteOf(tick));
  const existing = byMinute[at];
  if (existing !== undefined && minuteOf(existing) === minuteOf(tick)) {
    if (existing.timeMs <= tick.timeMs) byMinute[at] = tick;
    return;
  }
  byMinute.splice(at + 1, 0, tick);
  if (byMinute.length > MINUTES_KEPT) byMinute.shift();
}

const minuteOf = ({ timeMs }: TradeTick): number => Math.floor(timeMs / 60_000);

export const isRegular = (tick: TradeTick): boolean => tick.isOutsideRegularHours !== true;

function addToDay(live: LiveSymbol, tick: TradeTick): void {
  if (!isRegular(tick)) return;
  const { price, size, timeMs } = tick;
  const date = dayAt(timeMs);
  if (live.day === undefined || live.day.date < date) {
    live.day = { date, openMs: timeMs, open: null, high: null, low: null, volume: 0 };
  }
  const { day } = live;
  if (day.date !== date) return;
  day.volume += size;
  if (day.open === null || timeMs < day.openMs) [day.open, day.openMs] = [price, timeMs];
  day.high = Math.max(day.high ?? price, price);
  day.low = Math.min(day.low ?? price, price);
}
