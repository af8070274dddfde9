// Quotes as they change: days, actions and companies of the inputs, read once, with today's ticks of the
// board. Callers with rights to different inputs have different quotes, and separate topics.
import { dayAt } from '../derive/exchangeTime.ts';
import { type QuoteInputs, buildQuote, type QuoteParts } from '../derive/quote.ts';
import type { Row } from '../derive/values.ts';
import type { Hub } from '../../store/bus/hub.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { TypeRequest, Need, Read } from '../types/typeRequest.ts';
import { quoteInputs, quoteNeeds } from '../types/prices.ts';
import type { LiveBoard } from './liveBoard.ts';
import { type LiveSymbol, tradeRow } from './liveSymbol.ts';

/** Symbols with cached inputs for quotes; further ones are missing in streams of all symbols. */
const BASES_MAX = 5_000;
/** Symbols of one read. */
const BATCH_SIZE = 50;

/** Rights of a caller to the inputs. */
export interface QuoteRights {
  readonly tableIds: readonly number[];
  readonly read: (needs: readonly Need[]) => Promise<Read>;
}

/** Callers with equal rights. */
interface QuoteView {
  readonly topic: string;
  readonly rights: QuoteRights;
  readonly bases: Map<string, QuoteInputs>;
  /** Requested by ticks, and not read yet. */
  readonly requested: Set<string>;
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

  /** @param rights of the first caller: others with equal rights read by them */
  view(rights: QuoteRights): QuoteView {
    const name = rights.tableIds.join();
    const existing = this.#views.get(name);
    if (existing !== undefined) return existing;
    const created: QuoteView = {
      topic: `quote/${name}`,
      rights,
      isReading: false,
      bases: new Map(),
      requested: new Set(),
    };
    this.#views.set(name, created);
    return created;
  }

  /** Reads the inputs of quotes of these symbols, unless they are cached. */
  async prepare(view: QuoteView, symbols: readonly string[]): Promise<void> {
    const missing = symbols.filter((symbol) => !view.bases.has(symbol));
    for (let at = 0; at < missing.length; at += BATCH_SIZE) {
      const some = missing.slice(at, at + BATCH_SIZE);
      const asks = some.map((symbol) => this.#createRequest(symbol));
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
      if (!this.#parts.hub.hasSubscribers(view.topic, symbol)) continue;
      if (view.bases.has(symbol)) {
        this.#parts.hub.publish(view.topic, symbol, () => this.json(view, symbol));
      } else if (view.bases.size + view.requested.size < BASES_MAX) {
        view.requested.add(symbol);
        void this.#readRequested(view);
      }
    }
  }

  /** Records of these tables changed: quotes are computed from new reads. */
  forget(tableIds: readonly number[]): void {
    for (const view of this.#views.values()) {
      if (!tableIds.some((id) => view.rights.tableIds.includes(id))) continue;
      for (const symbol of view.bases.keys()) {
        if (this.#parts.hub.hasSubscribers(view.topic, symbol)) view.requested.add(symbol);
      }
      view.bases.clear();
      void this.#readRequested(view);
    }
  }

  /** The current quote, by the symbol's own clock: the time of its last tick. */
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
    return buildQuote(symbol, inputs, moment, parts);
  }

  #createRequest(symbol: string): TypeRequest {
    const nowMs = this.#parts.clock();
    return { symbol, nowMs, untilMs: nowMs, today: dayAt(nowMs), options: {} };
  }

  async #readRequested(view: QuoteView): Promise<void> {
    if (view.isReading) return;
    view.isReading = true;
    try {
      while (view.requested.size > 0) {
        const symbols = [...view.requested];
        view.requested.clear();
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

/** Adds the board's day so far, if it is later than the inputs. */
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

/** A bar of the whole day so far, which is over for every caller; the last sale is taken from trades. */
const MIDNIGHT = '00:00';
