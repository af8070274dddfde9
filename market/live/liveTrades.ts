// What a trade changes of its symbol: the last sale, those of the last minutes, and the day so far. One that
// comes after newer ones is put where it belongs, so that the order of coming is of no account.
import { dayAt } from '../derive/words.ts';
import { type LiveSymbol, MINUTES_KEPT, TRADES_SHOWN } from './liveSymbol.ts';
import type { TradeTick } from './tick.ts';

/** Newest trades that are kept, to know one that comes again. */
const TRADES_KEPT = TRADES_SHOWN * 2;

/** The newest of its symbol. */
export function addTrade(live: LiveSymbol, tick: TradeTick): void {
  live.trades.push(tick);
  if (live.trades.length > TRADES_KEPT) live.trades.splice(0, TRADES_SHOWN);
  addToDay(live, tick);
  if (tick.isOutsideRegularHours === true) live.lastExtended = tick;
  else if (tick.isOddLot === true) live.lastOddLot = tick;
  else keepLast(live, tick);
}

/**
 * One that is older than the newest.
 * @returns false where nobody can say whether it is known: it is older than those that are kept
 */
export function addLateTrade(live: LiveSymbol, tick: TradeTick): boolean {
  const { trades } = live;
  const [oldest] = trades;
  if (oldest === undefined || tick.timeMs <= oldest.timeMs) return false;
  trades.splice(trades.findLastIndex(({ timeMs }) => timeMs <= tick.timeMs) + 1, 0, tick);
  if (trades.length > TRADES_KEPT) trades.splice(0, TRADES_SHOWN);
  addToDay(live, tick);
  const isNewer = (known: TradeTick | undefined): boolean =>
    known === undefined || known.timeMs <= tick.timeMs;
  if (tick.isOutsideRegularHours === true) {
    if (isNewer(live.lastExtended)) live.lastExtended = tick;
  } else if (tick.isOddLot === true) {
    if (isNewer(live.lastOddLot)) live.lastOddLot = tick;
  } else if (isNewer(live.last)) keepLast(live, tick);
  else keepMinute(live.byMinute, tick);
  return true;
}

/** What is known of a trade's time and id: as it is told, otherwise, or nothing. */
export function knownAs(live: LiveSymbol, tick: TradeTick): 'same' | 'other' | undefined {
  const known = live.trades.find(
    ({ timeMs, tradeId }) => timeMs === tick.timeMs && tradeId === tick.tradeId,
  );
  if (known === undefined) return undefined;
  return saidOf(known) === saidOf(tick) ? 'same' : 'other';
}

const saidOf = (tick: TradeTick | undefined): string =>
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

/** Trades as they stand elsewhere, in place of what was told. @returns whether the last sale is another */
export function takeTrades(live: LiveSymbol, past: LiveSymbol): boolean {
  const isOther = saidOf(live.last) !== saidOf(past.last);
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

/** The last one of its minute, if it is. */
function keepMinute(byMinute: TradeTick[], tick: TradeTick): void {
  const at = byMinute.findLastIndex((one) => minuteOf(one) <= minuteOf(tick));
  const known = byMinute[at];
  if (known !== undefined && minuteOf(known) === minuteOf(tick)) {
    if (known.timeMs <= tick.timeMs) byMinute[at] = tick;
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
