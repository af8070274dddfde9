// Row of the table of inputs: its properties, each with type, unit and example.
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';

/** `instant`: a time that the stock endpoints return as epoch ms, as the original did. */
export type InputType =
  'string' | 'number' | 'integer' | 'boolean' | 'date' | 'time' | 'instant' | 'list';

export interface InputProperty {
  readonly name: string;
  readonly type: InputType;
  /** A record is meaningless without it. */
  readonly required?: true;
  /** With its unit. */
  readonly help: string;
  readonly example: string | number | boolean;
}

/** Inputs that the synthetic exchange fills. */
export const FILLED = [
  'COMPANY',
  'SYMBOLS',
  'HISTORICAL_PRICES',
  'INTRADAY_PRICES',
  'SPLITS',
  'DIVIDENDS',
  'TRADES',
  'QUOTES',
  'VENUES',
  'EARNINGS',
  'INCOME',
  'BALANCE_SHEET',
  'CASH_FLOW',
  'PEERS',
  'FX_RATES',
  'CRYPTO_QUOTES',
  'CRYPTO_BOOKS',
  'TREASURY',
  'RATES',
  'ENERGY',
  'MORTGAGE',
  'ECONOMIC',
  'SENTIMENT',
  'SENTIMENT_MINUTES',
  'OPTIONS',
  'EXCHANGE_STATS',
  'FINANCIALS',
  'ESTIMATES',
  'NEWS',
  'EARNINGS_CALENDAR',
  'LOGO',
  'PRICE_TARGET',
  'RECOMMENDATION_TRENDS',
  'IPOS',
  'INSIDER_TRANSACTIONS',
  'INSIDER_SUMMARY',
  'INSIDER_ROSTER',
  'FUND_OWNERSHIP',
  'INSTITUTIONAL_OWNERSHIP',
] as const;

export type FilledId = (typeof FILLED)[number];

/** Inputs that exist once their owner loads them. */
type LoadedId =
  | 'BOOK'
  | 'FUNDAMENTALS'
  | 'FUNDAMENTAL_VALUATIONS'
  | 'REPORTED_FINANCIALS'
  | 'CEO_COMPENSATION'
  | 'SHORT_INTEREST'
  | 'THRESHOLD_SECURITIES'
  | 'FUTURES'
  | 'FUTURES_PRICES'
  | 'DIVIDENDS_FORECAST'
  | 'ADVANCED_DIVIDENDS'
  | 'ADVANCED_SPLITS'
  | 'ADVANCED_BONUS'
  | 'ADVANCED_DISTRIBUTION'
  | 'ADVANCED_RETURN_OF_CAPITAL'
  | 'ADVANCED_RIGHTS'
  | 'ADVANCED_RIGHT_TO_PURCHASE'
  | 'ADVANCED_SECURITY_RECLASSIFICATION'
  | 'ADVANCED_SECURITY_SWAP'
  | 'ADVANCED_SPINOFF';

export type InputId = FilledId | LoadedId;

export interface Input {
  /** Id of its dataset in CORE. */
  readonly id: InputId;
  readonly title: string;
  readonly mapping: ColumnMapping;
  /** Messages for each record, unless the owner sets another weight. */
  readonly weight: number;
  readonly properties: readonly InputProperty[];
  /** Computed members of answers, which are served as stored where records contain them. */
  readonly carried?: readonly string[];
}

type Row = readonly [
  name: string,
  type: InputType,
  example: string | number | boolean,
  help: string,
];

export const requiredProperty = ([name, type, example, help]: Row): InputProperty => ({
  name,
  type,
  example,
  help,
  required: true,
});
export const optionalProperty = ([name, type, example, help]: Row): InputProperty => ({
  name,
  type,
  example,
  help,
});

export const SYMBOL = requiredProperty(['symbol', 'string', 'MSFT', 'Ticker, in upper case.']);

export const text = (name: string, example: string, help: string): InputProperty =>
  optionalProperty([name, 'string', example, help]);
export const number = (name: string, example: number, help: string): InputProperty =>
  optionalProperty([name, 'number', example, help]);
