// Members of stream messages and of REST states (INTERFACE.md 1 "tops", "last", "deep"; 2.3).
import { type Row, tradeIdIn } from '../derive/values.ts';
import { type LiveSymbol, TRADES_SHOWN } from './liveSymbol.ts';
import type { StateName, TradeTick } from './tick.ts';

export const topsOf = (live: LiveSymbol): Row => ({
  symbol: live.symbol,
  sector: '',
  securityType: '',
  bidPrice: live.bidPrice,
  bidSize: live.bidSize,
  askPrice: live.askPrice,
  askSize: live.askSize,
  lastUpdated: Math.floor(live.updatedMs),
  lastSalePrice: live.last?.price ?? 0,
  lastSaleSize: live.last?.size ?? 0,
  lastSaleTime: Math.floor(live.last?.timeMs ?? 0),
  volume: live.day?.volume ?? 0,
  seq: live.seq,
});

export const lastOf = ({ last, seq, symbol }: LiveSymbol): Row => ({
  symbol,
  price: last?.price ?? 0,
  size: last?.size ?? 0,
  time: Math.floor(last?.timeMs ?? 0),
  seq,
});

export const deepTradeOf = (tick: TradeTick): Row => ({
  price: tick.price,
  size: tick.size,
  tradeId: tradeIdIn(tick.tradeId),
  isISO: tick.isISO === true,
  isOddLot: tick.isOddLot === true,
  isOutsideRegularHours: tick.isOutsideRegularHours === true,
  isSinglePriceCross: tick.isSinglePriceCross === true,
  isTradeThroughExempt: tick.isTradeThroughExempt === true,
  timestamp: Math.floor(tick.timeMs),
});

/** Prices of one side in a message. */
const LEVELS_SHOWN = 100;

function sideOf(levels: LiveSymbol['bids'], best: 1 | -1): readonly Row[] {
  return [...levels]
    .sort(([one], [other]) => best * (one - other))
    .slice(0, LEVELS_SHOWN)
    .map(([price, { size, timeMs }]) => ({ price, size, timestamp: Math.floor(timeMs) }));
}

/** Without levels of a book it is the best bid and ask. */
export function bookOf(live: LiveSymbol): {
  readonly bids: readonly Row[];
  readonly asks: readonly Row[];
} {
  if (live.bookMs > 0) return { bids: sideOf(live.bids, -1), asks: sideOf(live.asks, 1) };
  const timestamp = Math.floor(live.updatedMs);
  const best = (price: number, size: number): readonly Row[] =>
    price > 0 ? [{ price, size, timestamp }] : [];
  return {
    bids: best(live.bidPrice, live.bidSize),
    asks: best(live.askPrice, live.askSize),
  };
}

/** A state without messages. */
const EMPTY_STATES: Readonly<Record<StateName, Row>> = {
  tradingStatus: {},
  opHaltStatus: {},
  ssrStatus: {},
  securityEvent: {},
  officialPrice: {},
  auction: {},
  systemEvent: {},
};

export const stateOf = (live: LiveSymbol | undefined, name: StateName): Row =>
  live?.states.get(name) ?? EMPTY_STATES[name];

/** `/deep` of a symbol. */
export const deepOf = (live: LiveSymbol, systemEvent: Row): Row => ({
  symbol: live.symbol,
  // A single feed does not know its share of the market.
  marketPercent: null,
  volume: live.day?.volume ?? 0,
  lastSalePrice: live.last?.price ?? 0,
  lastSaleSize: live.last?.size ?? 0,
  lastSaleTime: Math.floor(live.last?.timeMs ?? 0),
  lastUpdated: Math.floor(live.updatedMs),
  ...bookOf(live),
  systemEvent,
  tradingStatus: stateOf(live, 'tradingStatus'),
  opHaltStatus: stateOf(live, 'opHaltStatus'),
  ssrStatus: stateOf(live, 'ssrStatus'),
  securityEvent: stateOf(live, 'securityEvent'),
  trades: live.trades.slice(-TRADES_SHOWN).map(deepTradeOf).toReversed(),
  tradeBreaks: live.breaks.slice(-TRADES_SHOWN).map(deepTradeOf).toReversed(),
});
