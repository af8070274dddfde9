// The board of last values: what feeds told of each symbol, and who is told of it. A tick changes one symbol
// and goes to its topics; what a message says is made only where someone listens.
import type { Row } from '../derive/values.ts';
import { deepJson, deepTopic, STATE_CHANNELS } from './deepMessages.ts';
import { bookOf, deepTradeOf, lastOf, stateOf, topsOf } from './liveMessages.ts';
import { addLevel, addQuote, settleOffers, takeBook } from './liveBook.ts';
import { type LiveSymbol, newSymbol, TRADES_SHOWN } from './liveSymbol.ts';
import { addLateTrade, addTrade, isRegular, takeTrades } from './liveTrades.ts';
import type { LevelTick, Tick, TradeTick } from './tick.ts';

/** Symbols of which anything is kept; ticks of more are counted and dropped. */
const SYMBOLS_MAX = 50_000;
/** Topic of everything that changes a quote. */
export const QUOTE_TOPIC = 'quote';

export type Publish = (topic: string, symbol: string, make: () => string | undefined) => void;

export class LiveBoard {
  readonly #tell: Publish;
  /** What happened before is being told: it is known, and no news. */
  #isPast = false;
  readonly #symbols = new Map<string, LiveSymbol>();
  #seq = 0;
  #clears = 0;
  #dropped = 0;
  /** Of the market as a whole. */
  #systemEvent: Row = {};

  constructor(publish: Publish) {
    this.#tell = publish;
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

  /** Another day begins, or a feed anew: nothing is known of any symbol. */
  clear(): void {
    this.#symbols.clear();
    this.#systemEvent = {};
    this.#clears += 1;
  }

  /** How often it was cleared. */
  get clears(): number {
    return this.#clears;
  }

  /** A symbol that nobody told of yet stands as on a board that was told its past. */
  adopt(symbol: string, past: LiveBoard): void {
    const live = past.get(symbol);
    if (live === undefined || this.#of(symbol)?.seq !== 0) return;
    this.#seq += 1;
    this.#symbols.set(symbol, { ...live, seq: this.#seq });
  }

  /** Ticks that are news to nobody. */
  catchUp(ticks: readonly Tick[]): void {
    this.#isPast = true;
    for (const tick of ticks) this.apply(tick);
    this.#isPast = false;
  }

  /**
   * A trade that is older than its symbol's newest: its day is corrected, and nobody is told of a trade.
   * @returns false where it is older than what is remembered of the symbol
   */
  addLate(tick: TradeTick): boolean {
    const live = this.#symbols.get(tick.symbol);
    if (live === undefined || !addLateTrade(live, tick)) return false;
    this.#publish(QUOTE_TOPIC, tick.symbol, NOTHING);
    return true;
  }

  /** Records of a symbol were others than was told: it stands as on a board that was told right. */
  correct(symbol: string, board: LiveBoard, what: 'BOOK' | 'QUOTES' | 'TRADES'): void {
    const live = this.#symbols.get(symbol);
    if (live === undefined) return;
    const right = board.get(symbol) ?? newSymbol(symbol);
    this.#seq += 1;
    live.seq = this.#seq;
    if (what === 'TRADES') {
      const isOther = takeTrades(live, right);
      if (isOther) this.#publish('last', symbol, () => JSON.stringify(lastOf(live)));
      if (isOther) this.#tellTop(live);
      else this.#publish(QUOTE_TOPIC, symbol, NOTHING);
      return;
    }
    if (what === 'BOOK') takeBook(live, right);
    else [live.quoted, live.quotedMs] = [right.quoted, right.quotedMs];
    const isOther = settleOffers(live);
    if (what === 'BOOK') this.#deep(live, 'book', 'book', () => bookOf(live));
    if (isOther && what === 'BOOK') this.#tellTop(live);
    else if (isOther) this.#tellOffers(live);
  }

  apply(tick: Tick): void {
    if (tick.kind === 'state' && tick.state === 'systemEvent') this.#systemEvent = tick.value;
    const live = this.#of(tick.symbol);
    if (live === undefined) return;
    this.#seq += 1;
    live.seq = this.#seq;
    live.updatedMs = Math.max(live.updatedMs, tick.timeMs);
    if (tick.kind === 'quote') {
      if (addQuote(live, tick)) this.#tellOffers(live);
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
    if (!this.#isPast) this.#tell(topic, symbol, make);
  }

  #of(symbol: string): LiveSymbol | undefined {
    const known = this.#symbols.get(symbol);
    if (known !== undefined) return known;
    if (this.#symbols.size >= SYMBOLS_MAX) {
      this.#dropped += 1;
      return undefined;
    }
    const made = newSymbol(symbol);
    this.#symbols.set(symbol, made);
    return made;
  }

  /** Of who has no levels of a book they are its book. */
  #tellOffers(live: LiveSymbol): void {
    if (live.bookMs === 0) this.#deep(live, 'book', 'book', () => bookOf(live));
    this.#tellTop(live);
  }

  #tellTop(live: LiveSymbol): void {
    const { symbol } = live;
    this.#publish('tops', symbol, () => JSON.stringify(topsOf(live)));
    this.#publish(QUOTE_TOPIC, symbol, NOTHING);
  }

  #trade(live: LiveSymbol, tick: TradeTick): void {
    const { symbol } = live;
    addTrade(live, tick);
    if (live.last === tick) this.#publish('last', symbol, () => JSON.stringify(lastOf(live)));
    this.#deep(live, 'trades', 'trades', () => deepTradeOf(tick));
    this.#tellTop(live);
  }

  /** What it closed, and the volume of the day, are corrected as far as that is known. */
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
    this.#tellTop(live);
  }

  #level(live: LiveSymbol, tick: LevelTick): void {
    addLevel(live, tick);
    if (tick.isPart === true) return;
    const isOther = settleOffers(live);
    this.#deep(live, 'book', 'book', () => bookOf(live));
    if (isOther) this.#tellTop(live);
  }

  /** One message, in the topics of its channel and of all channels. */
  #deep({ seq, symbol }: LiveSymbol, channel: string, type: string, make: () => object): void {
    let json: string | undefined;
    const envelope = (): string => (json ??= deepJson({ seq, symbol }, type, make()));
    this.#publish(deepTopic(channel), symbol, envelope);
    this.#publish(deepTopic('deep'), symbol, envelope);
  }
}

/** Who makes quotes of it knows what they say. */
const NOTHING = (): undefined => undefined;
