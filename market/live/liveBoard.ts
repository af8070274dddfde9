// The board of last values: applies ticks of feeds to symbols, and publishes changes. A tick changes one
// symbol and is published to its topics; a message is built only for topics with listeners.
import type { Row } from '../derive/values.ts';
import { deepJson, deepTopic, STATE_CHANNELS } from './deepMessages.ts';
import { bookOf, deepTradeOf, lastOf, stateOf, topsOf } from './liveMessages.ts';
import { addLevel, addQuote, settleOffers, replaceBook } from './liveBook.ts';
import { type LiveSymbol, newSymbol, TRADES_SHOWN } from './liveSymbol.ts';
import { addLateTrade, addTrade, isRegular, replaceTrades } from './liveTrades.ts';
import type { LevelTick, Tick, TradeTick } from './tick.ts';

/** Symbols on the board; ticks of further ones are counted and dropped. */
const SYMBOLS_MAX = 50_000;
/** Topic of everything that changes a quote. */
export const QUOTE_TOPIC = 'quote';

export type Publish = (topic: string, symbol: string, make: () => string | undefined) => void;

export class LiveBoard {
  readonly #sink: Publish;
  /** Earlier ticks are being applied: they are not published. */
  #isPast = false;
  readonly #symbols = new Map<string, LiveSymbol>();
  #seq = 0;
  #clears = 0;
  #dropped = 0;
  /** Of the market as a whole. */
  #systemEvent: Row = {};

  constructor(publish: Publish) {
    this.#sink = publish;
  }

  get(symbol: string): LiveSymbol | undefined {
    return this.#symbols.get(symbol);
  }

  symbols(): readonly string[] {
    return [...this.#symbols.keys()];
  }

  get systemEvent(): Row {
    return this.#systemEvent;
  }

  state(): { readonly symbols: number; readonly messages: number; readonly dropped: number } {
    return { symbols: this.#symbols.size, messages: this.#seq, dropped: this.#dropped };
  }

  /** Clears all symbols, for another day or a restarted feed. */
  clear(): void {
    this.#symbols.clear();
    this.#systemEvent = {};
    this.#clears += 1;
  }

  /** Number of calls of `clear`. */
  get clears(): number {
    return this.#clears;
  }

  /** Copies a symbol without messages from a board that was filled with earlier ticks. */
  adopt(symbol: string, past: LiveBoard): void {
    const live = past.get(symbol);
    if (live === undefined || this.#findOrAdd(symbol)?.seq !== 0) return;
    this.#seq += 1;
    this.#symbols.set(symbol, { ...live, seq: this.#seq });
  }

  /** Applies earlier ticks without publishing them. */
  catchUp(ticks: readonly Tick[]): void {
    this.#isPast = true;
    for (const tick of ticks) this.apply(tick);
    this.#isPast = false;
  }

  /**
   * Adds a trade that is older than its symbol's latest: its day is corrected, and no trade is published.
   * @returns false where it is older than the trades that are kept of the symbol
   */
  addLate(tick: TradeTick): boolean {
    const live = this.#symbols.get(tick.symbol);
    if (live === undefined || !addLateTrade(live, tick)) return false;
    this.#publish(QUOTE_TOPIC, tick.symbol, NOTHING);
    return true;
  }

  /** Corrects a symbol whose stored records differ from its ticks, by a board built from these records. */
  correct(symbol: string, board: LiveBoard, what: 'BOOK' | 'QUOTES' | 'TRADES'): void {
    const live = this.#symbols.get(symbol);
    if (live === undefined) return;
    const right = board.get(symbol) ?? newSymbol(symbol);
    this.#seq += 1;
    live.seq = this.#seq;
    if (what === 'TRADES') {
      const isOther = replaceTrades(live, right);
      if (isOther) this.#publish('last', symbol, () => JSON.stringify(lastOf(live)));
      if (isOther) this.#publishTop(live);
      else this.#publish(QUOTE_TOPIC, symbol, NOTHING);
      return;
    }
    if (what === 'BOOK') replaceBook(live, right);
    else [live.quoted, live.quotedMs] = [right.quoted, right.quotedMs];
    const isOther = settleOffers(live);
    if (what === 'BOOK') this.#deep(live, 'book', 'book', () => bookOf(live));
    if (isOther && what === 'BOOK') this.#publishTop(live);
    else if (isOther) this.#publishOffers(live);
  }

  apply(tick: Tick): void {
    if (tick.kind === 'state' && tick.state === 'systemEvent') this.#systemEvent = tick.value;
    const live = this.#findOrAdd(tick.symbol);
    if (live === undefined) return;
    this.#seq += 1;
    live.seq = this.#seq;
    live.updatedMs = Math.max(live.updatedMs, tick.timeMs);
    if (tick.kind === 'quote') {
      if (addQuote(live, tick)) this.#publishOffers(live);
    } else if (tick.kind === 'level') {
      this.#level(live, tick);
    } else if (tick.kind === 'state') {
      live.states.set(tick.state, tick.value);
      const [channel, type] = STATE_CHANNELS[tick.state];
      this.#deep(live, channel, type, () => stateOf(live, tick.state));
    } else if (tick.kind === 'trade') {
      this.#trade(live, tick);
    } else {
      this.#broken(live, { ...tick, kind: 'trade' });
    }
  }

  #publish(topic: string, symbol: string, make: () => string | undefined): void {
    if (!this.#isPast) this.#sink(topic, symbol, make);
  }

  #findOrAdd(symbol: string): LiveSymbol | undefined {
    const existing = this.#symbols.get(symbol);
    if (existing !== undefined) return existing;
    if (this.#symbols.size >= SYMBOLS_MAX) {
      this.#dropped += 1;
      return undefined;
    }
    const created = newSymbol(symbol);
    this.#symbols.set(symbol, created);
    return created;
  }

  /** Without levels of a book, the best offers are the book. */
  #publishOffers(live: LiveSymbol): void {
    if (live.bookMs === 0) this.#deep(live, 'book', 'book', () => bookOf(live));
    this.#publishTop(live);
  }

  #publishTop(live: LiveSymbol): void {
    const { symbol } = live;
    this.#publish('tops', symbol, () => JSON.stringify(topsOf(live)));
    this.#publish(QUOTE_TOPIC, symbol, NOTHING);
  }

  #trade(live: LiveSymbol, tick: TradeTick): void {
    const { symbol } = live;
    addTrade(live, tick);
    if (live.last === tick) this.#publish('last', symbol, () => JSON.stringify(lastOf(live)));
    this.#deep(live, 'trades', 'trades', () => deepTradeOf(tick));
    this.#publishTop(live);
  }

  /** Corrects the last price and the day's volume as far as the trade is known. */
  #broken(live: LiveSymbol, tick: TradeTick): void {
    live.breaks.push(tick);
    if (live.breaks.length > TRADES_SHOWN * 2) live.breaks.splice(0, TRADES_SHOWN);
    const at = live.trades.findIndex(({ tradeId }) => tradeId === tick.tradeId);
    const [broken] = at < 0 ? [] : live.trades.splice(at, 1);
    if (broken !== undefined && live.day !== undefined && isRegular(broken)) {
      live.day.volume = Math.max(0, live.day.volume - broken.size);
    }
    if (live.last?.tradeId === tick.tradeId) {
      live.last = live.trades.findLast((one) => isRegular(one) && one.isOddLot !== true);
      this.#publish('last', live.symbol, () => JSON.stringify(lastOf(live)));
    }
    this.#deep(live, 'trade-breaks', 'tradebreak', () => deepTradeOf(tick));
    this.#publishTop(live);
  }

  #level(live: LiveSymbol, tick: LevelTick): void {
    addLevel(live, tick);
    if (tick.isPart === true) return;
    const isOther = settleOffers(live);
    this.#deep(live, 'book', 'book', () => bookOf(live));
    if (isOther) this.#publishTop(live);
  }

  /** Publishes one message to the topics of its channel and of all channels. */
  #deep({ seq, symbol }: LiveSymbol, channel: string, type: string, make: () => object): void {
    let json: string | undefined;
    const envelope = (): string => (json ??= deepJson({ seq, symbol }, type, make()));
    this.#publish(deepTopic(channel), symbol, envelope);
    this.#publish(deepTopic('deep'), symbol, envelope);
  }
}

/** The publisher of quotes builds their messages itself. */
const NOTHING = (): undefined => undefined;
