// Owners of companies, and trades of insiders. Served as stored.
import { type Input, type InputId, optionalProperty } from './inputRow.ts';
import { number, SYMBOL, text } from './inputRow.ts';

const holders = (id: InputId, title: string): Input => ({
  id,
  title,
  weight: 1e4,
  mapping: {
    key: 'symbol',
    subkey: 'entityProperName',
    date: 'reportDate',
  },
  properties: [
    SYMBOL,
    optionalProperty(['entityProperName', 'string', 'Example Fund', 'Holder.']),
    optionalProperty(['reportDate', 'instant', '2025-12-31T00:00:00Z', 'Day that it holds for.']),
    number('reportedHolding', 1e6, 'Shares, as reported.'),
    number('reportedMv', 10325e4, 'What they were worth, in the currency.'),
    number('adjHolding', 1e6, 'Shares, with splits taken out.'),
    number('adjMv', 10325e4, 'What these are worth, in the currency.'),
  ],
});

export const OWNERS: readonly Input[] = [
  holders('FUND_OWNERSHIP', 'Funds that hold shares'),
  holders('INSTITUTIONAL_OWNERSHIP', 'Institutions that hold shares'),
  {
    id: 'INSIDER_ROSTER',
    title: 'Insiders and what they hold',
    mapping: { key: 'symbol', subkey: 'entityName', date: 'reportDate' },
    weight: 5_000,
    properties: [
      SYMBOL,
      optionalProperty(['entityName', 'string', 'Ada Example', 'Insider.']),
      optionalProperty(['reportDate', 'instant', '2026-01-29T00:00:00Z', 'Day that it holds for.']),
      number('position', 120_000, 'Shares.'),
    ],
  },
  {
    id: 'INSIDER_SUMMARY',
    title: 'What insiders bought and sold in half a year',
    mapping: { key: 'symbol', subkey: 'fullName' },
    weight: 5_000,
    properties: [
      SYMBOL,
      optionalProperty(['fullName', 'string', 'Ada Example', 'Insider.']),
      text('reportedTitle', 'Chief Executive Officer', 'Office.'),
      number('netTransacted', -2_000, 'Shares bought less those sold.'),
      number('totalBought', 0, 'Shares bought.'),
      number('totalSold', -2_000, 'Shares sold.'),
    ],
  },
  {
    id: 'INSIDER_TRANSACTIONS',
    title: 'What insiders bought and sold, one record each',
    mapping: { key: 'symbol', subkey: 'transactionId', date: 'effectiveDate' },
    weight: 50,
    properties: [
      SYMBOL,
      optionalProperty(['effectiveDate', 'instant', '2026-01-29T00:00:00Z', 'Day of it.']),
      text('transactionId', '1', 'Distinguishes transactions of one day.'),
      text('fullName', 'Ada Example', 'Insider.'),
      text('reportedTitle', 'Chief Executive Officer', 'Office.'),
      text('directIndirect', 'D', 'D directly owned, I indirectly.'),
      number('transactionShares', -2_000, 'Shares; below 0 where they were sold.'),
      number('tranPrice', 103.25, 'Price of a share, in the currency.'),
      number('tranValue', -206_500, 'Sum, in the currency.'),
      text('transactionCode', 'S', 'Code of form 4: P bought, S sold, M exercised.'),
      number('conversionOrExercisePrice', 0, 'Price of an option, in the currency.'),
      optionalProperty(['filingDate', 'date', '2026-01-30', 'Day of the filing.']),
      optionalProperty(['is10b51', 'boolean', false, 'By a plan of rule 10b5-1.']),
      number('postShares', 118_000, 'Shares afterwards.'),
    ],
  },
];
