// Types of current prices: quote and its attributes, price, delayed-quote, ohlc, book (INTERFACE.md 1).
import { TRADES_READ } from '../derive/lastSale.ts';
import {
  buildDelayedQuote,
  buildOhlc,
  type QuoteInputs,
  buildQuote,
  currentSystemEvent,
} from '../derive/quote.ts';
import { numberIn, type Row, textIn, tradeIdIn } from '../derive/values.ts';
import { type TypeRequest, type Need, newest, type Read, allRecords } from './typeRequest.ts';

/** Bars of a year and some days: the base of yearly changes lies before it. */
export const YEAR_BARS = 270;
/** Minutes of a session with its extended hours. */
const DAY_MINUTES = 960;
/** Latest changes of the best bid and ask: those of the last instant are among them. */
const QUOTES_READ = 100;

interface QuoteNeeds {
  readonly days: Need;
  readonly splits: Need;
  readonly dividends: Need;
  readonly company: Need;
  readonly symbol: Need;
  readonly trades: Need;
  readonly minutes: Need;
  readonly quotes: Need;
}

const needsOf = ({ symbol: key }: TypeRequest): QuoteNeeds => ({
  days: newest('HISTORICAL_PRICES', key, YEAR_BARS),
  splits: allRecords('SPLITS', key),
  dividends: allRecords('DIVIDENDS', key),
  company: newest('COMPANY', key, 1),
  symbol: newest('SYMBOLS', key, 1),
  trades: newest('TRADES', key, TRADES_READ),
  minutes: newest('INTRADAY_PRICES', key, DAY_MINUTES),
  quotes: newest('QUOTES', key, QUOTES_READ),
});

export const quoteNeeds = (ask: TypeRequest): readonly Need[] => Object.values(needsOf(ask));

export function quoteInputs(ask: TypeRequest, read: Read): QuoteInputs {
  const needs = needsOf(ask);
  return {
    days: read(needs.days),
    splits: read(needs.splits),
    dividends: read(needs.dividends),
    company: read(needs.company).at(-1),
    symbol: read(needs.symbol).at(-1),
    trades: read(needs.trades),
    minutes: read(needs.minutes),
    quotes: read(needs.quotes),
  };
}

const momentOf = ({ nowMs, today, untilMs }: TypeRequest) => ({ nowMs, today, untilMs });

export const quote = (ask: TypeRequest, read: Read): Row | undefined =>
  inPercent(ask, buildQuote(ask.symbol, quoteInputs(ask, read), momentOf(ask)));

const PERCENTAGES = ['changePercent', 'extendedChangePercent', 'iexMarketPercent', 'ytdChange'];

/** Converts shares of 1 to percent if `displayPercent` is set. */
export function inPercent(
  { options }: TypeRequest,
  row: Row | undefined,
  names: readonly string[] = PERCENTAGES,
): Row | undefined {
  if (options.displayPercent !== true || row === undefined) return row;
  const changed = names.flatMap((name): readonly (readonly [string, number])[] => {
    const value = numberIn(row, name);
    return value === null ? [] : [[name, Math.round(value * 1e7) / 1e5]];
  });
  return { ...row, ...Object.fromEntries(changed) };
}

export const price = (ask: TypeRequest, read: Read): number | undefined =>
  numberIn(quote(ask, read), 'latestPrice') ?? undefined;

export const delayedQuote = (ask: TypeRequest, read: Read): Row | undefined =>
  buildDelayedQuote(ask.symbol, quoteInputs(ask, read), momentOf(ask), ask.options.oddLot === true);

export const ohlc = (ask: TypeRequest, read: Read): Row | undefined =>
  buildOhlc(ask.symbol, quoteInputs(ask, read), momentOf(ask));

/** Trades in a book. */
const BOOK_TRADES = 20;

/** Without the depth of an exchange a book contains only its best bid and ask. */
export function book(ask: TypeRequest, read: Read): Row | undefined {
  const inputs = quoteInputs(ask, read);
  const own = quote(ask, read);
  if (own === undefined) return undefined;
  const best = inputs.quotes.findLast((row) => timeOf(row) <= ask.untilMs);
  const trades = inputs.trades.filter((row) => timeOf(row) <= ask.untilMs).slice(-BOOK_TRADES);
  return {
    quote: own,
    bids: levelOf(best, 'bid'),
    asks: levelOf(best, 'ask'),
    // An empty market has no trades at all (INTERFACE.md 1 "book").
    ...(trades.length === 0 ? {} : { trades: trades.toReversed().map(tradeOf) }),
    systemEvent: currentSystemEvent(ask),
  };
}

const timeOf = (row: Row): number => Date.parse(textIn(row, 'time') ?? '');

function levelOf(best: Row | undefined, side: 'bid' | 'ask'): readonly object[] {
  const [price, size] = [numberIn(best, `${side}Price`), numberIn(best, `${side}Size`)];
  if (best === undefined || price === null || price <= 0) return [];
  return [{ price, size, timestamp: timeOf(best) }];
}

const tradeOf = (row: Row): object => ({
  price: numberIn(row, 'price'),
  size: numberIn(row, 'size'),
  tradeId: tradeIdIn(row['tradeId']),
  isISO: row['isISO'] === true,
  isOddLot: row['isOddLot'] === true,
  isOutsideRegularHours: row['isOutsideRegularHours'] === true,
  isSinglePriceCross: row['isSinglePriceCross'] === true,
  isTradeThroughExempt: row['isTradeThroughExempt'] === true,
  timestamp: timeOf(row),
});
