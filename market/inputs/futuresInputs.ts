// Contracts of futures, and their days.
import { type Input, optionalProperty, requiredProperty, number, text } from './inputRow.ts';

export const FUTURES: readonly Input[] = [
  {
    id: 'FUTURES',
    title: 'Contracts of futures',
    mapping: { key: 'symbol' },
    weight: 1,
    properties: [
      requiredProperty(['symbol', 'string', 'NGH26', 'Name of the contract.']),
      requiredProperty(['underlying', 'string', 'NG', 'What it is a future of.']),
      text('description', 'Natural gas, March 2026', 'In words.'),
      text('exchange', 'NYMEX', 'Exchange.'),
      text('region', 'US', 'Country, two letters.'),
      text('currency', 'USD', 'Currency.'),
      number('contractSize', 10_000, 'Units of one contract.'),
      text('unit', 'MMBtu', 'Unit of the underlying.'),
      optionalProperty(['expirationDate', 'date', '2026-02-25', 'Last day of trade.']),
    ],
  },
  {
    id: 'FUTURES_PRICES',
    title: 'Days of contracts of futures',
    mapping: { key: 'symbol', date: 'date' },
    weight: 10,
    properties: [
      requiredProperty(['symbol', 'string', 'NGH26', 'Name of the contract.']),
      requiredProperty(['date', 'date', '2026-01-30', 'Trading day.']),
      number('open', 3.1, 'First price, in the currency.'),
      number('high', 3.25, 'Highest price, in the currency.'),
      number('low', 3.05, 'Lowest price, in the currency.'),
      requiredProperty(['close', 'number', 3.2, 'Settlement, in the currency.']),
      number('volume', 120_000, 'Contracts traded.'),
      number('openInterest', 310_000, 'Contracts that are open.'),
    ],
  },
];
