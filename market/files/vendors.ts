// Vendors of prices: how their files are recognized, the meaning of their columns, the adjustment of their
// prices and the spelling of symbols. A vendor needs only a row of the table.
import type { InputId } from '../inputs/inputRow.ts';
import { normalizeColumn } from './columnNames.ts';

/** Normalized column name -> property. */
type Columns = Readonly<Record<string, string>>;

export interface Vendor {
  readonly id: string;
  readonly title: string;
  /** `split-adjusted`: open, high, low, close and volume are adjusted for splits. */
  readonly prices: 'traded' | 'split-adjusted';
  /**
   * Normalized columns that only files of this vendor have together; empty: its files can't be distinguished.
   */
  readonly headers: readonly string[];
  /** Columns beyond the usual names. */
  readonly columns?: Partial<Record<InputId, Columns>>;
  /** Suffix of its symbols: `.US`. */
  readonly suffix?: string;
}

const ADJUSTED_BARS: Columns = {
  adjopen: 'fOpen',
  adjhigh: 'fHigh',
  adjlow: 'fLow',
  adjclose: 'fClose',
  adjvolume: 'fVolume',
};

export const VENDORS: readonly Vendor[] = [
  {
    id: 'alphavantage',
    title: 'Alpha Vantage',
    prices: 'traded',
    headers: ['timestamp open high low close adjustedclose volume dividendamount splitcoefficient'],
  },
  {
    id: 'ariva',
    title: 'Ariva',
    prices: 'traded',
    headers: ['datum erster hoch tief schlusskurs stuecke volumen'],
    columns: { HISTORICAL_PRICES: { stuecke: 'volume', volumen: 'turnover' } },
  },
  {
    id: 'binance',
    title: 'Binance',
    prices: 'traded',
    headers: [
      'opentime open high low close volume closetime quoteassetvolume numberoftrades',
      'opentime open high low close volume closetime quotevolume count',
    ],
    columns: { INTRADAY_PRICES: { count: 'numberOfTrades', quotevolume: 'notional' } },
  },
  { id: 'boursorama', title: 'Boursorama', prices: 'split-adjusted', headers: [] },
  { id: 'ccxt', title: 'CCXT', prices: 'traded', headers: [] },
  { id: 'consors', title: 'Consorsbank', prices: 'split-adjusted', headers: [] },
  { id: 'degiro', title: 'Degiro', prices: 'split-adjusted', headers: [] },
  {
    id: 'eodhd',
    title: 'EODHD',
    prices: 'traded',
    headers: [
      'date open high low close adjustedclose volume',
      'timestamp gmtoffset datetime open high low close volume',
    ],
    suffix: '.US',
  },
  {
    id: 'ibkr',
    title: 'Interactive Brokers',
    prices: 'split-adjusted',
    headers: ['date open high low close volume average barcount'],
    columns: { INTRADAY_PRICES: { barcount: 'numberOfTrades' } },
  },
  {
    id: 'investing',
    title: 'Investing.com',
    prices: 'split-adjusted',
    headers: [
      'date price open high low vol change',
      'datum zuletzt eroffn hoch tief vol',
      'date dernier ouv plushaut plusbas vol',
      'fecha ultimo apertura maximo minimo vol',
    ],
  },
  { id: 'kraken', title: 'Kraken', prices: 'traded', headers: [] },
  { id: 'marketwatch', title: 'MarketWatch', prices: 'split-adjusted', headers: [] },
  {
    id: 'nasdaq',
    title: 'Nasdaq.com',
    prices: 'split-adjusted',
    headers: ['date closelast volume open high low'],
  },
  {
    id: 'polygon',
    title: 'Polygon',
    prices: 'traded',
    headers: ['ticker volume open close high low windowstart transactions'],
  },
  {
    id: 'stooq',
    title: 'Stooq',
    prices: 'split-adjusted',
    headers: ['ticker per date time open high low close vol openint'],
    suffix: '.US',
  },
  {
    id: 'tiingo',
    title: 'Tiingo',
    prices: 'traded',
    headers: ['date close high low open volume adjclose adjhigh adjlow adjopen adjvolume divcash'],
    columns: { HISTORICAL_PRICES: ADJUSTED_BARS },
  },
  { id: 'wsj', title: 'WSJ', prices: 'split-adjusted', headers: [] },
  {
    id: 'yahoo',
    title: 'Yahoo Finance',
    prices: 'split-adjusted',
    headers: [
      'date open high low close adjclose volume',
      'date open high low close volume dividends stocksplits',
    ],
  },
];

export const VENDOR_IDS: readonly string[] = VENDORS.map(({ id }) => id);

export const findVendor = (id: string | undefined): Vendor | undefined =>
  VENDORS.find((vendor) => vendor.id === id);

/** The only vendor whose files have such columns; undefined for none or several. */
export function recogniseVendor(columns: readonly string[]): Vendor | undefined {
  const letters = new Set(columns.map(normalizeColumn));
  const candidates = VENDORS.flatMap((vendor) => {
    const sizes = vendor.headers
      .map((header) => header.split(' '))
      .filter((header) => header.every((name) => letters.has(name)))
      .map((header) => header.length);
    return sizes.length === 0 ? [] : [{ vendor, size: Math.max(...sizes) }];
  });
  const most = Math.max(0, ...candidates.map(({ size }) => size));
  const best = candidates.filter(({ size }) => size === most);
  return best.length === 1 ? best[0]?.vendor : undefined;
}
