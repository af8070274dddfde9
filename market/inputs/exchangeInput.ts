// The input of a whole exchange: its daily volumes.
import { type Input, optionalProperty, requiredProperty, number } from './inputRow.ts';

export const EXCHANGE_STATS: Input = {
  id: 'EXCHANGE_STATS',
  title: 'What was traded on the exchange, one record a day',
  mapping: { date: 'date' },
  weight: 1,
  properties: [
    requiredProperty(['date', 'date', '2026-01-30', 'Trading day.']),
    requiredProperty(['volume', 'number', 128_048_723, 'Shares traded.']),
    optionalProperty(['symbolsTraded', 'integer', 5500, 'Symbols that were traded.']),
    number('routedVolume', 38_314_207, 'Shares that were sent on to other exchanges.'),
    number('litVolume', 30_520_534, 'Shares traded against orders that were shown.'),
    number('notional', 4_175_710_684.39, 'Sum of price times size, in the currency.'),
    number('marketShare', 0.01769, 'Of the volume of the whole market, 0 to 1.'),
    optionalProperty(['isHalfday', 'boolean', false, 'Whether the day closed early.']),
  ],
};
