// Inputs of money: rates of currencies, crypto currencies, and economic series by the original's ids.
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import {
  type Input,
  type InputId,
  optionalProperty,
  requiredProperty,
  number,
  text,
} from './inputRow.ts';

const FX_RATES: Input = {
  id: 'FX_RATES',
  title: 'Rates of currencies, one record a pair and day',
  mapping: { key: 'symbol', date: 'date' },
  weight: 1,
  properties: [
    requiredProperty([
      'symbol',
      'string',
      'USDCAD',
      'Two currencies: what one of the first is in the second.',
    ]),
    requiredProperty(['date', 'date', '2026-01-30', 'Day of the rate.']),
    requiredProperty(['rate', 'number', 1.31, 'Units of the second currency.']),
    optionalProperty([
      'timestamp',
      'integer',
      1_769_792_400_000,
      'When it was set, epoch milliseconds.',
    ]),
  ],
};

const CRYPTO: readonly Parameters<typeof text>[] = [
  ['primaryExchange', 'Kraken', 'Where it is traded.'],
  ['latestPrice', '42000.1', 'Last price, as a text or a number.'],
  ['latestVolume', '12.5', 'Volume of the day.'],
  ['bidPrice', '42000', 'Best bid.'],
  ['bidSize', '0.5', 'Units of it.'],
  ['askPrice', '42000.2', 'Best ask.'],
  ['askSize', '0.7', 'Units of it.'],
  ['high', '43000', 'Highest price of the day.'],
  ['low', '41000', 'Lowest price of the day.'],
  ['previousClose', '41800', 'Price a day before.'],
];

const CRYPTO_QUOTES: Input = {
  id: 'CRYPTO_QUOTES',
  title: 'Quotes of crypto currencies, the newest record of each is shown',
  mapping: { key: 'symbol', date: 'latestUpdate' },
  weight: 1,
  properties: [
    requiredProperty(['symbol', 'string', 'BTCUSD', 'Crypto currency and currency.']),
    requiredProperty(['latestUpdate', 'time', '2026-01-30T14:30:00Z', 'When it was so.']),
    ...CRYPTO.map((row) => text(...row)),
  ],
};

const CRYPTO_BOOKS: Input = {
  id: 'CRYPTO_BOOKS',
  title: 'Books of crypto currencies, the newest record of each is shown',
  mapping: { key: 'symbol', date: 'time' },
  weight: 1,
  properties: [
    requiredProperty(['symbol', 'string', 'BTCUSD', 'Crypto currency and currency.']),
    requiredProperty(['time', 'time', '2026-01-30T14:30:00Z', 'When it was so.']),
    optionalProperty([
      'bids',
      'list',
      '[{"price":"42000","size":"0.5","timestamp":1}]',
      'Best first.',
    ]),
    optionalProperty([
      'asks',
      'list',
      '[{"price":"42000.2","size":"0.7","timestamp":1}]',
      'Best first.',
    ]),
  ],
};

const BY_SERIES: ColumnMapping = { key: 'key', date: 'date' };

const series = (id: InputId, title: string, key: string): Input => ({
  id,
  title,
  mapping: BY_SERIES,
  weight: 1e3,
  properties: [
    requiredProperty(['key', 'string', key, 'Id of the series.']),
    requiredProperty(['date', 'date', '2026-01-30', 'Day of the value.']),
    number('value', 4.5, 'In the unit of the series.'),
  ],
});

/** Series of the whole market, whose latest values are data points of `market`. */
export const MARKET_SERIES = [
  'TREASURY',
  'RATES',
  'ENERGY',
  'MORTGAGE',
  'ECONOMIC',
] as const satisfies readonly InputId[];

export const MONEY: readonly Input[] = [
  FX_RATES,
  CRYPTO_QUOTES,
  CRYPTO_BOOKS,
  series('TREASURY', 'Treasury rates', 'DGS10'),
  series('RATES', 'Rates of deposits and credit cards', 'TERMCBCCALLNS'),
  series('ENERGY', 'Prices of energy', 'DCOILWTICO'),
  series('MORTGAGE', 'Mortgage rates', 'MORTGAGE30US'),
  series('ECONOMIC', 'Series of the economy', 'CPIAUCSL'),
];
