// State of one symbol after its ticks: best bid and ask, last sale, the day so far, its book.
import type { Day } from '../../query/time/days.ts';
import type { Row } from '../derive/values.ts';
import type { StateName, TradeTick } from './tick.ts';

/** Latest trades of a symbol in messages. */
export const TRADES_SHOWN = 20;

/** Minutes whose last trade is kept: more than the delay of prices. */
export const MINUTES_KEPT = 20;

interface Level {
  readonly size: number;
  readonly timeMs: number;
}

/** Prices of one side of a book; the worst ones beyond are dropped. */
export const LEVELS_MAX = 5_000;

/** Best bid and ask; 0 for none. */
export interface Offers {
  readonly bidPrice: number;
  readonly bidSize: number;
  readonly askPrice: number;
  readonly askSize: number;
}

export interface LiveSymbol {
  readonly symbol: string;
  /** Sequence number of the last message, among all symbols. */
  seq: number;
  updatedMs: number;
  /** Time of the last quote. */
  quotedMs: number;
  quoted: Offers;
  bidPrice: number;
  bidSize: number;
  askPrice: number;
  askSize: number;
  /** In regular hours and of a round lot: the last price. */
  last: TradeTick | undefined;
  /** The last one of each of the latest minutes, for delayed prices. */
  readonly byMinute: TradeTick[];
  lastOddLot: TradeTick | undefined;
  lastExtended: TradeTick | undefined;
  day: LiveDay | undefined;
  /** Latest last. */
  readonly trades: TradeTick[];
  readonly breaks: TradeTick[];
  /** Time of the last change of its book; 0 for none. */
  bookMs: number;
  /** Best prices of its book, 0 for none. */
  bookBid: number;
  bookAsk: number;
  readonly bids: Map<number, Level>;
  readonly asks: Map<number, Level>;
  readonly states: Map<StateName, Readonly<Record<string, unknown>>>;
}

/** Regular hours of a day so far. */
interface LiveDay {
  readonly date: Day;
  /** Time of the opening. */
  openMs: number;
  open: number | null;
  high: number | null;
  low: number | null;
  volume: number;
}

const NO_OFFERS: Offers = { bidPrice: 0, bidSize: 0, askPrice: 0, askSize: 0 };

export const newSymbol = (symbol: string): LiveSymbol => ({
  symbol,
  seq: 0,
  updatedMs: 0,
  quotedMs: 0,
  ...NO_OFFERS,
  quoted: NO_OFFERS,
  bookMs: 0,
  bookBid: 0,
  bookAsk: 0,
  last: undefined,
  lastOddLot: undefined,
  lastExtended: undefined,
  day: undefined,
  trades: [],
  breaks: [],
  byMinute: [],
  bids: new Map(),
  asks: new Map(),
  states: new Map(),
});

/** As a record of the input TRADES. */
export const tradeRow = (tick: TradeTick): Row => ({
  symbol: tick.symbol,
  time: tick.timeMs,
  tradeId: tick.tradeId,
  price: tick.price,
  size: tick.size,
  venue: tick.venue,
  isOddLot: tick.isOddLot === true,
  isISO: tick.isISO === true,
  isOutsideRegularHours: tick.isOutsideRegularHours === true,
  isSinglePriceCross: tick.isSinglePriceCross === true,
  isTradeThroughExempt: tick.isTradeThroughExempt === true,
});
