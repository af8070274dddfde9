// Lists the loaded types of the stock endpoints, with their dataset of CORE and the form of their answer
// (INTERFACE.md 1). The records of one dataset are the answer of a type; computed types are not listed here.
// docs/reference/stock.md describes the datasets for operators.
import { hasAnswerRecords } from '../market/market.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Lake } from '../../store/lake/lake.ts';

interface Named {
  /** The name in a path, and in `types` of a batch. */
  readonly name: string;
  /** Id of the dataset in CORE. */
  readonly dataset: string;
}

/** The latest record as an object. */
interface RecordType extends Named {
  readonly shape: 'record';
}

/** The record of one day as an object, the latest by default: `/{type}/{word}/{day}`. */
interface DayType extends Named {
  readonly shape: 'day';
  /** The path part before the day. */
  readonly word: string;
}

/** All records of some days as an array. */
interface DaysType extends Named {
  readonly shape: 'days';
  /** The default range code. */
  readonly range: string;
  /** Supports `next` instead of a range: the next record, as an object. */
  readonly next?: true;
}

/** The latest records, newest first. */
interface NewestType extends Named {
  readonly shape: 'newest';
  /** The default count. */
  readonly last: number;
  /** The member that contains the records, beside `symbol`; a bare array when left out. */
  readonly within?: string;
  /** The only property of each record that is returned. */
  readonly only?: string;
  /** Members beside the array `within`, instead of the symbol. */
  readonly beside?: Readonly<Record<string, boolean>>;
  /**
   * The symbol is beside the records, not in them (INTERFACE.md 1 "estimates"): clients that build a table of
   * records and members beside them refuse a repeated name.
   */
  readonly bare?: true;
  /** The dataset's subkey is the period of a record: `quarterly` or `annual`. */
  readonly periods?: true;
  /** `/stock/market/{type}` is of all symbols. */
  readonly market?: true;
}

/** Records from today on, the next one first; of one symbol, or with `market` of all symbols. */
interface UpcomingType extends Named {
  readonly shape: 'coming';
  readonly market: true;
  /** Only records of today. */
  readonly today?: true;
  /** The answer is an object with raw and formatted records, as in the original. */
  readonly twice?: true;
}

/** Records of one day as an array, of the latest day by default: `/{type}/{day}`. */
interface ListedType extends Named {
  readonly shape: 'listed';
  readonly market: true;
}

export type StockType = RecordType | DayType | DaysType | NewestType | UpcomingType | ListedType;

const record = (name: string, dataset: string): StockType => ({ name, dataset, shape: 'record' });
const newest = (name: string, dataset: string, last: number): NewestType => ({
  name,
  dataset,
  shape: 'newest',
  last,
});
const listed = (name: string, dataset: string): ListedType => ({
  name,
  dataset,
  shape: 'listed',
  market: true,
});
const upcoming = (name: string, dataset: string): UpcomingType => ({
  name,
  dataset,
  shape: 'coming',
  market: true,
});
const statement = (name: string, dataset: string, within: string): NewestType => ({
  name,
  dataset,
  within,
  shape: 'newest',
  last: 1,
  periods: true,
});

/** Maximum peers of a symbol; each is a record of its own. */
const PEERS_MAX = 100;

export const STOCK_TYPES: readonly StockType[] = [
  record('company', 'COMPANY'),
  record('quote', 'QUOTE'),
  record('delayed-quote', 'DELAYED_QUOTE'),
  record('book', 'BOOK'),
  record('ohlc', 'OHLC'),
  record('logo', 'LOGO'),
  record('stats', 'STATS'),
  record('advanced-stats', 'ADVANCED_STATS'),
  record('price-target', 'PRICE_TARGET'),
  record('ceo-compensation', 'CEO_COMPENSATION'),
  listed('short-interest', 'SHORT_INTEREST'),
  listed('threshold-securities', 'THRESHOLD_SECURITIES'),
  { name: 'dividends', dataset: 'DIVIDENDS', shape: 'days', range: '1m', next: true },
  { name: 'splits', dataset: 'SPLITS', shape: 'days', range: '1m', next: true },
  { name: 'insider-transactions', dataset: 'INSIDER_TRANSACTIONS', shape: 'days', range: '1y' },
  { name: 'sentiment', dataset: 'SENTIMENT', shape: 'day', word: 'daily' },
  { ...newest('news', 'NEWS', 10), market: true },
  newest('largest-trades', 'LARGEST_TRADES', 10),
  { ...newest('peers', 'PEERS', PEERS_MAX), only: 'peer' },
  {
    ...newest('relevant', 'PEERS', PEERS_MAX),
    only: 'peer',
    within: 'symbols',
    beside: { peers: true },
  },
  newest('recommendation-trends', 'RECOMMENDATION_TRENDS', 4),
  newest('fund-ownership', 'FUND_OWNERSHIP', 10),
  newest('institutional-ownership', 'INSTITUTIONAL_OWNERSHIP', 10),
  newest('insider-roster', 'INSIDER_ROSTER', 10),
  newest('insider-summary', 'INSIDER_SUMMARY', 10),
  upcoming('upcoming-earnings', 'EARNINGS_CALENDAR'),
  upcoming('upcoming-dividends', 'DIVIDENDS'),
  upcoming('upcoming-splits', 'SPLITS'),
  { ...upcoming('upcoming-ipos', 'IPOS'), twice: true },
  { ...upcoming('today-ipos', 'IPOS'), today: true, twice: true },
  { ...statement('earnings', 'EARNINGS', 'earnings'), bare: true },
  { ...statement('estimates', 'ESTIMATES', 'estimates'), bare: true },
  statement('financials', 'FINANCIALS', 'financials'),
  statement('fundamentals', 'FUNDAMENTALS', 'fundamentals'),
  statement('income', 'INCOME', 'income'),
  statement('balance-sheet', 'BALANCE_SHEET', 'balancesheet'),
  statement('cash-flow', 'CASH_FLOW', 'cashflow'),
];

const BY_NAME: ReadonlyMap<string, StockType> = new Map(
  STOCK_TYPES.map((type) => [type.name, type]),
);

/** Finds a type by name, in any case, if this server's CORE has its dataset, by symbol. */
export function findServedType(name: string, lake: Lake): StockType | undefined {
  const type = BY_NAME.get(name.toLowerCase());
  return type === undefined || servingDataset(type, lake) === undefined ? undefined : type;
}

/** Finds a type by name, in any case, even without data on this server. */
export const findStockType = (name: string): StockType | undefined =>
  BY_NAME.get(name.toLowerCase());

/** The path segment for all symbols. */
export const MARKET = 'MARKET';

/** Whether a type supports the whole market, and the symbol requests it. */
export const isMarketRequest = (type: StockType, symbol: string): boolean =>
  symbol === MARKET && 'market' in type && type.market === true;

/** Whether the answer is an object with raw and formatted records. */
export const hasRawAndView = (type: StockType | undefined): boolean =>
  type?.shape === 'coming' && type.twice === true;

function servingDataset({ dataset }: StockType, { directory }: Lake): Dataset | undefined {
  const served = directory.dataset(CORE, dataset);
  return served === undefined || !hasAnswerRecords(served) ? undefined : served;
}
