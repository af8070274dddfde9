// The input of option contracts: each contract with its values at the end of a day.
import {
  type Input,
  optionalProperty,
  requiredProperty,
  number,
  SYMBOL,
  text,
} from './inputRow.ts';

export const OPTIONS: Input = {
  id: 'OPTIONS',
  title: 'Contracts of options at the end of a day',
  mapping: { key: 'symbol', subkey: 'id', date: 'lastUpdated' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['id', 'string', 'MSFT20260220C00410000', 'Name of the contract.']),
    requiredProperty(['lastUpdated', 'date', '2026-01-30', 'Day of the prices.']),
    requiredProperty(['expirationDate', 'date', '2026-02-20', 'Last day on which it may be used.']),
    requiredProperty([
      'strikePrice',
      'number',
      410,
      'Price at which it buys or sells, in the currency.',
    ]),
    requiredProperty(['side', 'string', 'call', 'call or put.']),
    optionalProperty(['contractSize', 'integer', 100, 'Shares of one contract.']),
    text('type', 'equity', 'What it is an option of.'),
    number('closingPrice', 9.3, 'Last price of the day, of one share.'),
    number('bid', 9.15, 'Best bid at its end, of one share.'),
    number('ask', 9.45, 'Best ask at its end, of one share.'),
    optionalProperty(['volume', 'integer', 448, 'Contracts traded.']),
    optionalProperty(['openInterest', 'integer', 10_190, 'Contracts that are open.']),
    optionalProperty(['isAdjusted', 'boolean', false, 'Changed by a split or the like.']),
  ],
};
