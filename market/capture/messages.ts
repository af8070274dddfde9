// Decodes messages of a capture to ticks (INTERFACE.md 7.1). Unknown types are skipped, and messages may have
// additional bytes at their end: only the known part is read.
import { lookupTable } from '../../store/base/lookupTable.ts';
import type { StateName, StateTick, Tick } from '../live/tick.ts';
import { numberAt } from './segments.ts';

/** Size of each known type in its smallest version; a shorter message is damaged. */
const BYTES: ReadonlyMap<number, number> = new Map(
  Object.entries({
    S: 10,
    D: 31,
    H: 22,
    O: 18,
    P: 19,
    E: 18,
    Q: 42,
    T: 38,
    B: 38,
    X: 26,
    A: 80,
  }).map(([name, bytes]) => [name.charCodeAt(0), bytes]),
);
const [BUY, SELL] = ['8'.charCodeAt(0), '5'.charCodeAt(0)];
const LEVEL_BYTES = 30;
const [QUOTE, TRADE, BREAK] = ['Q', 'T', 'B'].map((name) => name.charCodeAt(0));

/** A tick with the part of its time beyond epoch milliseconds. */
interface Captured {
  readonly tick: Tick;
  /** 0 to 999,999. */
  readonly nanoseconds: number;
}

const SYMBOL_AT = 10;
/** Cached texts of symbols; a listing has some 10,000. */
const SYMBOLS_MAX = 100_000;

export class MessageReader {
  readonly #symbols = new Map<number, Map<number, string>>();
  #size = 0;

  /** Undefined for an unknown type, `damaged` for a message that is too short. */
  read(bytes: Buffer, at: number, end: number): Captured | undefined | 'damaged' {
    const type = bytes.readUInt8(at);
    const isLevel = type === BUY || type === SELL;
    const least = isLevel ? LEVEL_BYTES : BYTES.get(type);
    if (least === undefined) return undefined;
    if (end - at < least) return 'damaged';
    const high = bytes.readInt32LE(at + 6);
    const low = bytes.readUInt32LE(at + 2);
    const [timeMs, nanoseconds] = timeOf(high, low);
    const tick = isLevel
      ? this.#level(bytes, at, type, timeMs)
      : type === QUOTE
        ? this.#quote(bytes, at, timeMs)
        : type === TRADE || type === BREAK
          ? this.#trade(bytes, at, type, timeMs)
          : this.#state(bytes, at, String.fromCharCode(type), timeMs);
    return tick === undefined ? undefined : { tick, nanoseconds };
  }

  #symbol(bytes: Buffer, at: number): string {
    const [low, high] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    const cached = this.#symbols.get(low)?.get(high);
    if (cached !== undefined) return cached;
    const symbol = bytes.toString('latin1', at, at + 8).trimEnd();
    if (this.#size < SYMBOLS_MAX) {
      const own = this.#symbols.get(low) ?? new Map<number, string>();
      this.#symbols.set(low, own.set(high, symbol));
      this.#size += 1;
    }
    return symbol;
  }

  // Members one by one: spreading parts costs as much as reading the message.

  #quote(bytes: Buffer, at: number, timeMs: number): Tick {
    return {
      kind: 'quote',
      symbol: this.#symbol(bytes, at + SYMBOL_AT),
      timeMs,
      bidSize: bytes.readUInt32LE(at + 18),
      bidPrice: priceAt(bytes, at + 22),
      askPrice: priceAt(bytes, at + 30),
      askSize: bytes.readUInt32LE(at + 38),
    };
  }

  #trade(bytes: Buffer, at: number, type: number, timeMs: number): Tick {
    const flags = bytes.readUInt8(at + 1);
    return {
      kind: type === TRADE ? 'trade' : 'break',
      symbol: this.#symbol(bytes, at + SYMBOL_AT),
      timeMs,
      size: bytes.readUInt32LE(at + 18),
      price: priceAt(bytes, at + 22),
      tradeId: String(numberAt(bytes, at + 30)),
      isISO: (flags & 0x80) !== 0,
      isOutsideRegularHours: (flags & 0x40) !== 0,
      isOddLot: (flags & 0x20) !== 0,
      isTradeThroughExempt: (flags & 0x10) !== 0,
      isSinglePriceCross: (flags & 0x08) !== 0,
    };
  }

  #level(bytes: Buffer, at: number, type: number, timeMs: number): Tick {
    return {
      kind: 'level',
      symbol: this.#symbol(bytes, at + SYMBOL_AT),
      timeMs,
      side: type === BUY ? 'bid' : 'ask',
      size: bytes.readUInt32LE(at + 18),
      price: priceAt(bytes, at + 22),
      isPart: (bytes.readUInt8(at + 1) & 1) === 0,
    };
  }

  #state(bytes: Buffer, at: number, type: string, timeMs: number): Tick | undefined {
    const decoder = STATES.get(type);
    if (decoder === undefined) return undefined;
    const flag = String.fromCharCode(bytes.readUInt8(at + 1));
    const symbol = type === 'S' ? '' : this.#symbol(bytes, at + SYMBOL_AT);
    const value = decoder.value(flag, bytes, at, timeMs);
    return { kind: 'state', symbol, timeMs, state: decoder.state, value };
  }
}

/** Milliseconds, and the nanoseconds beyond them: 64 bits do not fit a number. */
function timeOf(high: number, low: number): readonly [ms: number, nanoseconds: number] {
  // high * 2^32 = (high * 4294) ms + high * 967296 ns; every part is below 2^53.
  const ns = high * 967_296 + low;
  const ms = Math.floor(ns / 1_000_000);
  return [high * 4_294 + ms, ns - ms * 1_000_000];
}

/** In ten thousandths. */
const priceAt = (bytes: Buffer, at: number): number => numberAt(bytes, at) / 10_000;

const textAt = (bytes: Buffer, at: number, length: number): string =>
  bytes.toString('latin1', at, at + length);

interface StateDecoder {
  readonly state: StateName;
  readonly value: (
    flag: string,
    bytes: Buffer,
    at: number,
    timestamp: number,
  ) => StateTick['value'];
}

const AUCTIONS = lookupTable<string>({
  O: 'Open',
  C: 'Close',
  I: 'IPO',
  H: 'Halt',
  V: 'Volatility',
});
const SIDES = lookupTable<string>({ B: 'buy', S: 'sell', N: 'none' });

const STATES: ReadonlyMap<string, StateDecoder> = new Map<string, StateDecoder>([
  [
    'S',
    {
      state: 'systemEvent',
      value: (systemEvent, _b, _a, timestamp) => ({ systemEvent, timestamp }),
    },
  ],
  [
    'H',
    {
      state: 'tradingStatus',
      value: (status, bytes, at, timestamp) => ({
        status,
        reason: textAt(bytes, at + 18, 4),
        timestamp,
      }),
    },
  ],
  [
    'O',
    {
      state: 'opHaltStatus',
      value: (flag, _b, _a, timestamp) => ({ isHalted: flag === 'O', timestamp }),
    },
  ],
  [
    'P',
    {
      state: 'ssrStatus',
      value: (flag, bytes, at, timestamp) => ({
        isSSR: flag.charCodeAt(0) === 1,
        detail: textAt(bytes, at + 18, 1),
        timestamp,
      }),
    },
  ],
  [
    'E',
    {
      state: 'securityEvent',
      value: (flag, _b, _a, timestamp) => ({
        securityEvent: flag === 'O' ? 'MarketOpen' : 'MarketClose',
        timestamp,
      }),
    },
  ],
  [
    'X',
    {
      state: 'officialPrice',
      value: (flag, bytes, at, timestamp) => ({
        priceType: flag === 'Q' ? 'Open' : 'Close',
        price: priceAt(bytes, at + 18),
        timestamp,
      }),
    },
  ],
  ['A', { state: 'auction', value: auctionOf }],
]);

/** Values of a state, by its name: decoded from a message of zeros. */
export const ZERO_STATES: ReadonlyMap<StateName, StateTick['value']> = new Map(
  [...STATES.values()].map(({ state, value }) => [state, value('O', Buffer.alloc(80), 0, 0)]),
);

function auctionOf(flag: string, bytes: Buffer, at: number, timestamp: number): StateTick['value'] {
  const side = String.fromCharCode(bytes.readUInt8(at + 42));
  const seconds = bytes.readUInt32LE(at + 44);
  return {
    auctionType: AUCTIONS[flag] ?? flag,
    pairedShares: bytes.readUInt32LE(at + 18),
    imbalanceShares: bytes.readUInt32LE(at + 38),
    imbalanceSide: SIDES[side] ?? side,
    referencePrice: priceAt(bytes, at + 22),
    indicativePrice: priceAt(bytes, at + 30),
    auctionBookPrice: priceAt(bytes, at + 48),
    collarReferencePrice: priceAt(bytes, at + 56),
    lowerCollarPrice: priceAt(bytes, at + 64),
    upperCollarPrice: priceAt(bytes, at + 72),
    extensionNumber: bytes.readUInt8(at + 43),
    startTime: new Date(seconds * 1_000).toISOString().slice(11, 19),
    lastUpdate: timestamp,
  };
}
