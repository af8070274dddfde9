// Applies levels of a book, and quotes, to a symbol. The newer of both determines its best offers, the book
// if both are of the same time: the order of arrival does not matter.
import { dayAt } from '../derive/exchangeTime.ts';
import { LEVELS_MAX, type LiveSymbol, type Offers } from './liveSymbol.ts';
import type { LevelTick, QuoteTick } from './tick.ts';

type Levels = LiveSymbol['bids'];

/** A book without updates for this long may be of another day. */
const DAY_APART_MS = 3 * 3_600_000;

/** @returns whether its best offers are those of the quote */
export function addQuote(live: LiveSymbol, tick: QuoteTick): boolean {
  const { askPrice, askSize, bidPrice, bidSize, timeMs } = tick;
  live.quotedMs = timeMs;
  live.quoted = { bidPrice, bidSize, askPrice, askSize };
  if (hasBook(live)) return false;
  take(live, live.quoted);
  return true;
}

/** Best offers are computed at the end of an event. */
export function addLevel(live: LiveSymbol, { price, side, size, timeMs }: LevelTick): void {
  if (timeMs - live.bookMs > DAY_APART_MS && dayAt(timeMs) !== dayAt(live.bookMs)) {
    // Books begin empty each day.
    clearBook(live);
  }
  live.bookMs = Math.max(live.bookMs, timeMs);
  const levels = side === 'bid' ? live.bids : live.asks;
  if (size <= 0) levels.delete(price);
  else if (levels.has(price) || levels.size < LEVELS_MAX) levels.set(price, { size, timeMs });
  if (side === 'bid') live.bookBid = bestOf(levels, price, live.bookBid, (a, b) => a > b);
  else live.bookAsk = bestOf(levels, price, live.bookAsk, (a, b) => a < b);
}

/** @returns whether the best offers changed */
export function settleOffers(live: LiveSymbol): boolean {
  const { askPrice, askSize, bidPrice, bidSize } = live;
  take(live, hasBook(live) ? bestOffers(live) : live.quoted);
  return (
    bidPrice !== live.bidPrice ||
    bidSize !== live.bidSize ||
    askPrice !== live.askPrice ||
    askSize !== live.askSize
  );
}

/** Replaces the book by that of another board. */
export function replaceBook(live: LiveSymbol, right: LiveSymbol): void {
  clearBook(live);
  [live.bookMs, live.bookBid, live.bookAsk] = [right.bookMs, right.bookBid, right.bookAsk];
  for (const [price, level] of right.bids) live.bids.set(price, level);
  for (const [price, level] of right.asks) live.asks.set(price, level);
}

function clearBook(live: LiveSymbol): void {
  live.bids.clear();
  live.asks.clear();
  [live.bookBid, live.bookAsk] = [0, 0];
}

const hasBook = ({ bookMs, quotedMs }: LiveSymbol): boolean => bookMs > 0 && bookMs >= quotedMs;

const bestOffers = ({ asks, bids, bookAsk, bookBid }: LiveSymbol): Offers => ({
  bidPrice: bookBid,
  bidSize: bids.get(bookBid)?.size ?? 0,
  askPrice: bookAsk,
  askSize: asks.get(bookAsk)?.size ?? 0,
});

function take(live: LiveSymbol, { askPrice, askSize, bidPrice, bidSize }: Offers): void {
  live.bidPrice = bidPrice;
  live.bidSize = bidSize;
  live.askPrice = askPrice;
  live.askSize = askSize;
}

/** The best price after a change; all levels are searched only if the best one was removed. 0 for none. */
function bestOf(
  levels: Levels,
  changed: number,
  best: number,
  isBetter: (one: number, other: number) => boolean,
): number {
  if (levels.has(changed)) return best === 0 || isBetter(changed, best) ? changed : best;
  if (changed !== best) return best;
  let bestPrice = 0;
  for (const price of levels.keys())
    if (bestPrice === 0 || isBetter(price, bestPrice)) bestPrice = price;
  return bestPrice;
}
