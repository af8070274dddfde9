// How an input of the market is stated: its properties, each with type, unit and example.
import type { ColumnMapping } from '../../store/datasets/datasets.ts';

export type InputType = 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'time' | 'list';

export interface InputProperty {
  readonly name: string;
  readonly type: InputType;
  /** Without it a record says nothing. */
  readonly required?: true;
  /** With its unit. */
  readonly help: string;
  readonly example: string | number | boolean;
}

export type InputId =
  | 'COMPANY'
  | 'SYMBOLS'
  | 'HISTORICAL_PRICES'
  | 'INTRADAY_PRICES'
  | 'SPLITS'
  | 'DIVIDENDS'
  | 'TRADES'
  | 'QUOTES'
  | 'VENUES'
  | 'EARNINGS'
  | 'INCOME'
  | 'BALANCE_SHEET'
  | 'CASH_FLOW'
  | 'PEERS'
  | 'FX_RATES'
  | 'CRYPTO_QUOTES'
  | 'CRYPTO_BOOKS'
  | 'TREASURY'
  | 'RATES'
  | 'ENERGY'
  | 'MORTGAGE'
  | 'ECONOMIC'
  | 'SENTIMENT'
  | 'SENTIMENT_MINUTES'
  | 'OPTIONS'
  | 'EXCHANGE_STATS';

export interface Input {
  /** Of its dataset in CORE. */
  readonly id: InputId;
  readonly title: string;
  readonly mapping: ColumnMapping;
  /** Messages for each record, where its owner does not say. */
  readonly weight: number;
  readonly properties: readonly InputProperty[];
  /** Members of answers that are computed, but served as they stand where records carry them. */
  readonly carried?: readonly string[];
}

type Row = readonly [
  name: string,
  type: InputType,
  example: string | number | boolean,
  help: string,
];

export const needed = ([name, type, example, help]: Row): InputProperty => ({
  ...{ name, type, example, help, required: true },
});
export const known = ([name, type, example, help]: Row): InputProperty => ({
  name,
  type,
  example,
  help,
});

export const SYMBOL = needed(['symbol', 'string', 'MSFT', 'Ticker, in upper case.']);

export const text = (name: string, example: string, help: string): InputProperty =>
  known([name, 'string', example, help]);
export const number = (name: string, example: number, help: string): InputProperty =>
  known([name, 'number', example, help]);
