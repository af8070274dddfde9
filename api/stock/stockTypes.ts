// The types of the stock door: which dataset of CORE serves each, and the shape of its answer
// (INTERFACE.md 1). A type is there when one dataset's records are its answer as they are; what would
// have to be computed is not. docs/stock.md tells operators what their datasets need.
import { CORE, type Dataset } from '../../store/datasets/datasets.ts';
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
  /** Not one of today: the last day that is over. */
  readonly closed?: true;
}

/** All records of some days as an array. */
interface DaysType extends Named {
  readonly shape: 'days';
  /** Range code when the caller names no days. */
  readonly range: string;
  /** Newest first when left out. */
  readonly order?: 'asc';
}

/** The newest records, newest first. */
interface NewestType extends Named {
  readonly shape: 'newest';
  /** How many when the caller does not say. */
  readonly last: number;
  /** Member that holds them, beside `symbol`; a bare array when left out. */
  readonly within?: string;
  /** The dataset's subkey says of which period a record is: `quarterly` or `annual`. */
  readonly periods?: true;
}

export type StockType = RecordType | DaysType | NewestType;

export const STOCK_TYPES: readonly StockType[] = [
  { name: 'company', dataset: 'COMPANY', shape: 'record' },
  { name: 'quote', dataset: 'QUOTE', shape: 'record' },
  { name: 'delayed-quote', dataset: 'DELAYED_QUOTE', shape: 'record' },
  { name: 'book', dataset: 'BOOK', shape: 'record' },
  { name: 'ohlc', dataset: 'OHLC', shape: 'record' },
  { name: 'logo', dataset: 'LOGO', shape: 'record' },
  { name: 'stats', dataset: 'STATS', shape: 'record' },
  { name: 'advanced-stats', dataset: 'ADVANCED_STATS', shape: 'record' },
  { name: 'price-target', dataset: 'PRICE_TARGET', shape: 'record' },
  { name: 'previous', dataset: 'HISTORICAL_PRICES', shape: 'record', closed: true },
  { name: 'chart', dataset: 'HISTORICAL_PRICES', shape: 'days', range: '1m', order: 'asc' },
  {
    name: 'historical-prices',
    dataset: 'HISTORICAL_PRICES',
    shape: 'days',
    range: '1m',
    order: 'asc',
  },
  {
    name: 'intraday-prices',
    dataset: 'INTRADAY_PRICES',
    shape: 'days',
    range: 'today',
    order: 'asc',
  },
  { name: 'dividends', dataset: 'DIVIDENDS', shape: 'days', range: '1m' },
  { name: 'splits', dataset: 'SPLITS', shape: 'days', range: '1m' },
  { name: 'insider-transactions', dataset: 'INSIDER_TRANSACTIONS', shape: 'days', range: '1y' },
  { name: 'news', dataset: 'NEWS', shape: 'newest', last: 10 },
  { name: 'largest-trades', dataset: 'LARGEST_TRADES', shape: 'newest', last: 10 },
  ...[
    ['earnings', 'EARNINGS', 'earnings'],
    ['estimates', 'ESTIMATES', 'estimates'],
    ['financials', 'FINANCIALS', 'financials'],
    ['income', 'INCOME', 'income'],
    ['balance-sheet', 'BALANCE_SHEET', 'balancesheet'],
    ['cash-flow', 'CASH_FLOW', 'cashflow'],
  ].map(([name = '', dataset = '', within = '']): StockType => ({
    ...{ name, dataset, within, shape: 'newest', last: 1, periods: true },
  })),
];

const BY_NAME: ReadonlyMap<string, StockType> = new Map(
  STOCK_TYPES.map((type) => [type.name, type]),
);

/** The type of a name, in any case, where this server's CORE has its dataset, by symbol. */
export function servedType(name: string, lake: Lake): StockType | undefined {
  const type = BY_NAME.get(name.toLowerCase());
  return type === undefined || servingDataset(type, lake) === undefined ? undefined : type;
}

function servingDataset({ dataset }: StockType, { directory }: Lake): Dataset | undefined {
  const found = directory.dataset(CORE, dataset);
  return found?.mapping.key === undefined ? undefined : found;
}
