// The types of the stock door: which dataset of CORE serves each, and the shape of its answer
// (INTERFACE.md 1). A type is there when one dataset's records are its answer as they are; what would
// have to be computed is not. docs/reference/stock.md tells operators what their datasets need.
import { areAnswers } from '../market/market.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Lake } from '../../store/lake/lake.ts';

interface Named {
  /** As clients write it in a path, and in `types` of a batch. */
  readonly name: string;
  /** Id of the dataset in CORE. */
  readonly dataset: string;
}

/** The newest record as an object. */
interface RecordType extends Named {
  readonly shape: 'record';
}

/** The record of one day as an object, the newest when none is named: `/{type}/{word}/{day}`. */
interface DayType extends Named {
  readonly shape: 'day';
  /** What stands before the day in a path. */
  readonly word: string;
}

/** All records of some days as an array. */
interface DaysType extends Named {
  readonly shape: 'days';
  /** Range code when the caller names no days. */
  readonly range: string;
  /** `next` in place of a range: the record that comes next, as an object. */
  readonly next?: true;
}

/** The newest records, newest first. */
interface NewestType extends Named {
  readonly shape: 'newest';
  /** How many when the caller does not say. */
  readonly last: number;
  /** Member that holds them, beside `symbol`; a bare array when left out. */
  readonly within?: string;
  /** The property that stands for its record in the array. */
  readonly only?: string;
  /** Members beside the array `within`, in place of the symbol. */
  readonly beside?: Readonly<Record<string, boolean>>;
  /**
   * The symbol that stands beside the records is not in them again (INTERFACE.md 1 "estimates"): what makes a
   * table of records and members beside them refuses a name twice.
   */
  readonly bare?: true;
  /** The dataset's subkey says of which period a record is: `quarterly` or `annual`. */
  readonly periods?: true;
  /** `/stock/market/{type}` is of all symbols. */
  readonly market?: true;
}

/** Records from today on, the next one first; of one symbol, or with `market` of all. */
interface ComingType extends Named {
  readonly shape: 'coming';
  readonly market: true;
  /** Only what comes today. */
  readonly today?: true;
  /** An object that holds the records twice, as the original had it. */
  readonly twice?: true;
}

/** Records of one day as an array, those of the newest when none is named: `/{type}/{day}`. */
interface ListedType extends Named {
  readonly shape: 'listed';
  readonly market: true;
}

export type StockType = RecordType | DayType | DaysType | NewestType | ComingType | ListedType;

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
const coming = (name: string, dataset: string): ComingType => ({
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

/** Peers of a symbol; each is a record of its own. */
const PEERS_MOST = 100;

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
  { ...newest('peers', 'PEERS', PEERS_MOST), only: 'peer' },
  {
    ...newest('relevant', 'PEERS', PEERS_MOST),
    only: 'peer',
    within: 'symbols',
    beside: { peers: true },
  },
  newest('recommendation-trends', 'RECOMMENDATION_TRENDS', 4),
  newest('fund-ownership', 'FUND_OWNERSHIP', 10),
  newest('institutional-ownership', 'INSTITUTIONAL_OWNERSHIP', 10),
  newest('insider-roster', 'INSIDER_ROSTER', 10),
  newest('insider-summary', 'INSIDER_SUMMARY', 10),
  coming('upcoming-earnings', 'EARNINGS_CALENDAR'),
  coming('upcoming-dividends', 'DIVIDENDS'),
  coming('upcoming-splits', 'SPLITS'),
  { ...coming('upcoming-ipos', 'IPOS'), twice: true },
  { ...coming('today-ipos', 'IPOS'), today: true, twice: true },
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

/** The type of a name, in any case, where this server's CORE has its dataset, by symbol. */
export function servedType(name: string, lake: Lake): StockType | undefined {
  const type = BY_NAME.get(name.toLowerCase());
  return type === undefined || servingDataset(type, lake) === undefined ? undefined : type;
}

/** The type of a name, in any case, whether this server has anything of it or not. */
export const typeNamed = (name: string): StockType | undefined => BY_NAME.get(name.toLowerCase());

/** The word that stands for all symbols. */
export const MARKET = 'MARKET';

/** Whether a type is of all symbols where their word stands in place of one. */
export const isOfMarket = (type: StockType, symbol: string): boolean =>
  symbol === MARKET && 'market' in type && type.market === true;

/** Whether its answer is an object that holds its records twice. */
export const isToldTwice = (type: StockType | undefined): boolean =>
  type?.shape === 'coming' && type.twice === true;

function servingDataset({ dataset }: StockType, { directory }: Lake): Dataset | undefined {
  const found = directory.dataset(CORE, dataset);
  return found === undefined || !areAnswers(found) ? undefined : found;
}
