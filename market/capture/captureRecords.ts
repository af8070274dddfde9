// Converts a capture to records of CORE's inputs: trades without broken ones, best offers, and the minute and
// daily bars of the trades.
import type { Day } from '../../query/time/days.ts';
import type { InputId } from '../inputs/inputRow.ts';
import { addLevel, settleOffers } from '../live/liveBook.ts';
import { type LiveSymbol, newSymbol } from '../live/liveSymbol.ts';
import type { LevelTick, QuoteTick, Tick, TradeTick } from '../live/tick.ts';
import { clockAt, dayAt } from '../derive/exchangeTime.ts';
import type { Place } from './capture.ts';

/** Inputs that a capture fills, in the order of loading. */
export const CAPTURE_INPUTS = [
  ...(['TRADES', 'QUOTES', 'BOOK', 'INTRADAY_PRICES', 'HISTORICAL_PRICES'] as const),
] as const satisfies readonly InputId[];
type CaptureInput = (typeof CAPTURE_INPUTS)[number];

type Write = (input: CaptureInput, line: string) => void;

export const HEADERS: Readonly<Record<CaptureInput, string>> = {
  TRADES:
    'symbol,time,tradeId,price,size,venue,isOddLot,isISO,isOutsideRegularHours,isSinglePriceCross,' +
    'isTradeThroughExempt,nanoseconds\n',
  QUOTES: 'symbol,time,sequence,bidPrice,bidSize,askPrice,askSize,venue,nanoseconds\n',
  BOOK: 'symbol,time,sequence,side,price,size,isPart,venue,nanoseconds\n',
  INTRADAY_PRICES:
    'symbol,date,minute,open,high,low,close,average,volume,notional,numberOfTrades\n',
  HISTORICAL_PRICES: 'symbol,date,open,high,low,close,volume\n',
};

/**
 * Symbols whose books are followed, to derive best offers; for further ones a level's offers are used alone.
 */
const SYMBOLS_MAX = 50_000;

/** The exchange of these captures. */
const VENUE = 'IEXG';

interface Bar {
  readonly symbol: string;
  readonly date: Day;
  readonly minute: string;
  readonly open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  notional: number;
  trades: number;
}

export class CaptureRecords {
  readonly #write: Write;
  /** Trades that were broken later, by `tradeKey`. */
  readonly #broken: ReadonlySet<string>;
  readonly #symbols = new Map<string, LiveSymbol>();
  readonly #minutes = new Map<string, Bar>();
  readonly #days = new Map<string, Bar>();
  readonly #clocks = new Map<number, readonly [date: Day, minute: string]>();

  readonly #keepsBars: boolean;

  /** @param keepsBars false: no bars are computed, and no trades kept for them */
  constructor(broken: ReadonlySet<string>, write: Write, keepsBars = true) {
    this.#broken = broken;
    this.#write = write;
    this.#keepsBars = keepsBars;
  }

  add(tick: Tick, place: Place): void {
    if (tick.kind === 'trade') {
      if (!this.#broken.has(tradeKey(tick))) this.#trade(tick, place);
    } else if (tick.kind === 'quote') {
      this.#quote(tick, place);
    } else if (tick.kind === 'level') {
      this.#level(tick, place);
    }
  }

  /** Writes bars, after all ticks. */
  end(): void {
    for (const bar of this.#minutes.values()) {
      const { close, date, high, low, minute, open, symbol } = bar;
      const average = Math.round((bar.notional / bar.volume) * 1_000) / 1_000;
      const prices = [open, high, low, close, average].join(',');
      const notional = Math.round(bar.notional * 1_000) / 1_000;
      const rest = [bar.volume, notional, bar.trades].join(',');
      this.#write('INTRADAY_PRICES', `${symbol},${date},${minute},${prices},${rest}\n`);
    }
    for (const { close, date, high, low, open, symbol, volume } of this.#days.values()) {
      const prices = [open, high, low, close].join(',');
      this.#write('HISTORICAL_PRICES', `${symbol},${date},${prices},${volume}\n`);
    }
  }

  /** Also writes the best offers, if they changed at the end of the event. */
  #level(tick: LevelTick, place: Place): void {
    const { isPart = false, price, side, size, symbol, timeMs } = tick;
    const what = [symbol, timeText(timeMs), place.sequence, side, price, size, isPart, VENUE];
    this.#write('BOOK', `${what.join(',')},${place.nanoseconds}\n`);
    const live = this.#symbols.get(symbol) ?? newSymbol(symbol);
    if (this.#symbols.size < SYMBOLS_MAX) this.#symbols.set(symbol, live);
    addLevel(live, tick);
    if (isPart || !settleOffers(live)) return;
    const { askPrice, askSize, bidPrice, bidSize } = live;
    const offers = { bidPrice, bidSize, askPrice, askSize };
    this.#quote({ kind: 'quote', symbol, timeMs, ...offers }, place);
  }

  #quote(tick: QuoteTick, { nanoseconds, sequence }: Place): void {
    const { askPrice, askSize, bidPrice, bidSize, symbol, timeMs } = tick;
    const offers = [bidPrice, bidSize, askPrice, askSize, VENUE].join(',');
    this.#write('QUOTES', `${symbol},${timeText(timeMs)},${sequence},${offers},${nanoseconds}\n`);
  }

  #trade(tick: TradeTick, { nanoseconds }: Place): void {
    const { isOddLot = false, isISO = false, isOutsideRegularHours = false, price, size } = tick;
    const { isSinglePriceCross = false, isTradeThroughExempt = false, symbol, timeMs } = tick;
    const what = [symbol, timeText(timeMs), tick.tradeId, price, size, VENUE].join(',');
    const flags = [isOddLot, isISO, isOutsideRegularHours, isSinglePriceCross];
    this.#write('TRADES', `${what},${flags.join(',')},${isTradeThroughExempt},${nanoseconds}\n`);
    if (isOutsideRegularHours || !this.#keepsBars) return;
    const [date, minute] = this.#clock(timeMs);
    addTo(this.#minutes, `${symbol} ${date} ${minute}`, { symbol, date, minute, price, size });
    addTo(this.#days, `${symbol} ${date}`, { symbol, date, minute, price, size });
  }

  /** Time at the exchange; looked up once for each minute. */
  #clock(timeMs: number): readonly [date: Day, minute: string] {
    const place = Math.floor(timeMs / 60_000);
    const cached = this.#clocks.get(place);
    if (cached !== undefined) return cached;
    const entry = [dayAt(timeMs), clockAt(timeMs).slice(0, 5)] as const;
    this.#clocks.set(place, entry);
    return entry;
  }
}

/** Converts a line to a record in JSON. */
export function recordOfLine(input: CaptureInput, line: string): string {
  const cells = line.trimEnd().split(',');
  const names = HEADERS[input].trimEnd().split(',');
  const members = names.map((name, at) => [name, valueOf(name, cells[at] ?? '')]);
  return JSON.stringify(Object.fromEntries(members));
}

const TEXTS: ReadonlySet<string> = new Set([
  'symbol',
  'time',
  'date',
  'minute',
  'tradeId',
  'sequence',
  'venue',
  'side',
]);

function valueOf(name: string, cell: string): string | number | boolean {
  if (TEXTS.has(name)) return cell;
  return name.startsWith('is') ? cell === 'true' : Number(cell);
}

/** Trade ids are unique within a day. */
export const tradeKey = ({
  symbol,
  timeMs,
  tradeId,
}: Pick<TradeTick, 'symbol' | 'timeMs' | 'tradeId'>): string =>
  `${symbol} ${Math.floor(timeMs / 86_400_000)} ${tradeId}`;

const timeText = (ms: number): string => new Date(ms).toISOString();

function addTo(
  bars: Map<string, Bar>,
  name: string,
  {
    date,
    minute,
    price,
    size,
    symbol,
  }: Pick<Bar, 'symbol' | 'date' | 'minute'> & {
    readonly price: number;
    readonly size: number;
  },
): void {
  const bar = bars.get(name);
  if (bar === undefined) {
    const of = { symbol, date, minute, open: price, high: price, low: price, close: price };
    bars.set(name, { ...of, volume: size, notional: price * size, trades: 1 });
    return;
  }
  bar.high = Math.max(bar.high, price);
  bar.low = Math.min(bar.low, price);
  bar.close = price;
  bar.volume += size;
  bar.notional += price * size;
  bar.trades += 1;
}
