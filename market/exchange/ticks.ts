// Trades and best offers of one session in the order of time, as ticks of a feed.
import type { QuoteTick, Tick, TradeTick } from '../live/tick.ts';
import { type SampledMarket, histories } from './sampledMarket.ts';
import { hoursOf } from './exchange.ts';
import type { Bar } from './history.ts';
import type { Listing } from './listings.ts';
import { sampleDetail, type Trade, sampleTrades } from './trades.ts';

interface Traded {
  readonly listing: Listing;
  readonly bar: Bar;
  readonly trade: Trade;
  readonly before: Trade | undefined;
  /** Epoch milliseconds of the opening. */
  readonly openMs: number;
}

/** The trades of the latest session, symbol by symbol, up to the current instant. */
export function* newestTrades(market: SampledMarket): Generator<Traded> {
  const { shape, session } = market;
  const { minutes, openMs } = hoursOf(session.opened);
  for (const [listing, bar] of barsOf(market)) {
    const trades = sampleTrades({ seed: shape.seed, at: listing.at }, bar, minutes);
    for (const [place, trade] of trades.entries()) {
      if (openMs + trade.offsetMs >= session.untilMs) break;
      yield { listing, bar, trade, before: trades[place - 1], openMs };
    }
  }
}

/** The bar of the latest session of each symbol with ticks. */
function* barsOf(market: SampledMarket): Generator<readonly [Listing, Bar]> {
  const { listings, shape, session } = market;
  const some = { ...market, listings: listings.filter(({ at }) => at < shape.tickSymbols) };
  for (const [listing, { bars }] of histories(some)) {
    const bar = bars.at(-1);
    if (bar?.day === session.opened) yield [listing, bar];
  }
}

interface Tape {
  readonly listing: Listing;
  readonly bar: Bar;
  readonly trades: readonly Trade[];
  /** Index of the next trade to be returned. */
  next: number;
}

/** A session that is returned in pieces, without repeats. */
export class SessionTape {
  readonly #tapes: readonly Tape[];
  readonly #seed: number;
  readonly #openMs: number;

  constructor(market: SampledMarket) {
    const { shape, session } = market;
    const { minutes, openMs } = hoursOf(session.opened);
    this.#seed = shape.seed;
    this.#openMs = openMs;
    this.#tapes = [...barsOf(market)].map(([listing, bar]) => ({
      listing,
      bar,
      next: 0,
      trades: sampleTrades(
        {
          seed: shape.seed,
          at: listing.at,
        },
        bar,
        minutes,
      ),
    }));
  }

  /** Ticks before an instant that were not returned yet, in the order of time. */
  until(ms: number): readonly Tick[] {
    const ticks: Tick[] = [];
    for (const tape of this.#tapes) {
      for (;;) {
        const trade = tape.trades[tape.next];
        if (trade === undefined || this.#openMs + trade.offsetMs >= ms) break;
        ticks.push(...this.#ticksOf(tape, trade));
        tape.next += 1;
      }
    }
    return ticks.sort((one, other) => one.timeMs - other.timeMs);
  }

  #ticksOf({ bar, listing, next, trades }: Tape, trade: Trade): readonly [QuoteTick, TradeTick] {
    const before = trades[next - 1];
    const offer = sampleDetail({ seed: this.#seed, at: listing.at }, bar, trade, before);
    const { symbol } = listing;
    return [
      {
        kind: 'quote',
        symbol,
        timeMs: this.#openMs + offer.quotedMs,
        bidPrice: offer.bid / 100,
        bidSize: offer.bidSize,
        askPrice: offer.ask / 100,
        askSize: offer.askSize,
      },
      {
        kind: 'trade',
        symbol,
        timeMs: this.#openMs + trade.offsetMs,
        price: trade.cents / 100,
        size: trade.size,
        tradeId: String(next + 1),
        venue: offer.venue,
        isOddLot: trade.size < 100,
        isISO: (next + 1) % 7 === 0,
        isSinglePriceCross: before === undefined,
      },
    ];
  }
}
