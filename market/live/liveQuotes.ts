// Quotes as they change: the days, actions and companies of the inputs, read once, with the ticks of the
// board in place of what the inputs know of today. Callers who may read different inputs see different
// quotes, and have topics of their own.
import { dayAt } from '../derive/words.ts';
import { type QuoteInputs, quoteOf, type QuoteParts } from '../derive/quote.ts';
import type { Row } from '../derive/values.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Ask, Need, Read } from '../types/ask.ts';
import { quoteInputs, quoteNeeds } from '../types/prices.ts';
import type { LiveBoard } from './liveBoard.ts';
import { type LiveSymbol, tradeRow } from './liveSymbol.ts';

/** Symbols whose inputs are kept for quotes: of more the streams of all symbols tell nothing. */
const BASES_MAX = 5_000;
/** Symbols that are read at once. */
const READ_AT_ONCE = 50;

/** What a caller may read of the inputs. */
export interface QuoteRights {
  readonly tableIds: readonly number[];
  readonly read: (needs: readonly Need[]) => Promise<Read>;
}

/** Callers who read the same inputs. */
interface QuoteView {
  readonly topic: string;
  readonly rights: QuoteRights;
  readonly bases: Map<string, QuoteInputs>;
  /** Asked for by ticks, and not read yet. */
  readonly wanted: Set<string>;
  isReading: boolean;
}

interface LiveQuoteParts {
  readonly board: LiveBoard;
  readonly clock: Clock;
  readonly hub: Hub;
  readonly onFault: (reason: unknown) => void;
}

export class LiveQuotes {
  readonly #parts: LiveQuoteParts;
  readonly #views = new Map<string, QuoteView>();

  constructor(parts: LiveQuoteParts) {
    this.#parts = parts;
  }

  /** @param rights of whoever asks first: others of the same rights read by them */
  view(rights: QuoteRights): QuoteView {
    const name = rights.tableIds.join();
    const known = this.#views.get(name);
    if (known !== undefined) return known;
    const made: QuoteView = {
      topic: `quote/${name}`,
      rights,
      isReading: false,
      bases: new Map(),
      wanted: new Set(),
    };
    this.#views.set(name, made);
    return made;
  }

  /** Reads what quotes of these symbols are made of, where that is not known yet. */
  async prepare(view: QuoteView, symbols: readonly string[]): Promise<void> {
    const missing = symbols.filter((symbol) => !view.bases.has(symbol));
    for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
      const some = missing.slice(at, at + READ_AT_ONCE);
      const asks = some.map((symbol) => this.#askOf(symbol));
      const read = await view.rights.read(asks.flatMap(quoteNeeds));
      for (const ask of asks) {
        if (view.bases.size >= BASES_MAX) break;
        view.bases.set(ask.symbol, quoteInputs(ask, read));
      }
    }
  }

  /** A tick changed the symbol. */
  changed(symbol: string): void {
    for (const view of this.#views.values()) {
      if (!this.#parts.hub.listens(view.topic, symbol)) continue;
      if (view.bases.has(symbol)) {
        this.#parts.hub.publish(view.topic, symbol, () => this.json(view, symbol));
      } else if (view.bases.size + view.wanted.size < BASES_MAX) {
        view.wanted.add(symbol);
        void this.#readWanted(view);
      }
    }
  }

  /** Records of these tables changed: quotes are made anew of what there is then. */
  forget(tableIds: readonly number[]): void {
    for (const view of this.#views.values()) {
      if (!tableIds.some((id) => view.rights.tableIds.includes(id))) continue;
      for (const symbol of view.bases.keys()) {
        if (this.#parts.hub.listens(view.topic, symbol)) view.wanted.add(symbol);
      }
      view.bases.clear();
      void this.#readWanted(view);
    }
  }

  /** The quote now, by the symbol's own clock: that of its last tick. */
  json(view: QuoteView, symbol: string): string | undefined {
    const quote = this.row(view, symbol);
    return quote === undefined ? undefined : JSON.stringify(quote);
  }

  /** The same as an object, or parts of it; undefined also where its inputs were not read yet. */
  row(view: QuoteView, symbol: string, parts?: QuoteParts): Row | undefined {
    const base = view.bases.get(symbol);
    if (base === undefined) return undefined;
    const live = this.#parts.board.get(symbol);
    const nowMs = Math.floor(live?.updatedMs ?? this.#parts.clock());
    const moment = { nowMs, untilMs: nowMs, today: dayAt(nowMs) };
    const inputs = live === undefined ? base : withTicks(base, live, nowMs);
    return quoteOf(symbol, inputs, moment, parts);
  }

  #askOf(symbol: string): Ask {
    const nowMs = this.#parts.clock();
    return { symbol, nowMs, untilMs: nowMs, today: dayAt(nowMs), options: {} };
  }

  async #readWanted(view: QuoteView): Promise<void> {
    if (view.isReading) return;
    view.isReading = true;
    try {
      while (view.wanted.size > 0) {
        const symbols = [...view.wanted];
        view.wanted.clear();
        await this.prepare(view, symbols);
        for (const symbol of symbols) {
          if (!view.bases.has(symbol)) continue;
          this.#parts.hub.publish(view.topic, symbol, () => this.json(view, symbol));
        }
      }
    } catch (error) {
      this.#parts.onFault(error);
    } finally {
      view.isReading = false;
    }
  }
}

/** The day so far of the board, where it has come further than the inputs knew. */
function withTicks(base: QuoteInputs, live: LiveSymbol, nowMs: number): QuoteInputs {
  const trades = [...live.byMinute, live.lastExtended, live.lastOddLot, live.last]
    .filter((tick) => tick !== undefined)
    .sort((one, other) => one.timeMs - other.timeMs);
  const { day } = live;
  const quote: Row = {
    symbol: live.symbol,
    time: nowMs,
    bidPrice: live.bidPrice,
    bidSize: live.bidSize,
    askPrice: live.askPrice,
    askSize: live.askSize,
  };
  const bar: Row | undefined =
    day === undefined
      ? undefined
      : {
          date: day.date,
          minute: MIDNIGHT,
          open: day.open,
          high: day.high,
          low: day.low,
          close: null,
          volume: day.volume,
        };
  return {
    ...base,
    trades: trades.map(tradeRow),
    minutes: bar === undefined ? [] : [bar],
    quotes: live.bidPrice > 0 || live.askPrice > 0 ? [quote] : base.quotes,
  };
}

/** A bar of the whole day so far, which is over for whoever asks; what was traded last, trades tell. */
const MIDNIGHT = '00:00';
