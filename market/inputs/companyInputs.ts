// Further data of companies: owners, leaders, short interest and expectations. Served as stored.
import {
  type Input,
  optionalProperty,
  requiredProperty,
  number,
  SYMBOL,
  text,
} from './inputRow.ts';

const ESTIMATES: Input = {
  id: 'ESTIMATES',
  title: 'Earnings that are expected, one record a period',
  mapping: { key: 'symbol', subkey: 'period', date: 'reportDate' },
  weight: 10_000,
  properties: [
    SYMBOL,
    optionalProperty(['period', 'string', 'quarterly', 'quarterly or annual.']),
    optionalProperty(['reportDate', 'date', '2026-04-28', 'Day of the report that is expected.']),
    number('consensusEPS', 1.15, 'Earnings per share, in the currency.'),
    text('announceTime', 'AMC', 'BTO before the opening, AMC after the close, DMT between.'),
    optionalProperty(['numberOfEstimates', 'integer', 12, 'Analysts.']),
    text('fiscalPeriod', 'Q1 2026', 'Period.'),
    optionalProperty(['fiscalEndDate', 'date', '2026-03-31', 'Last day of the period.']),
    text('currency', 'USD', 'Currency.'),
  ],
};

const CEO_COMPENSATION: Input = {
  id: 'CEO_COMPENSATION',
  title: 'What chief executives earn, one record a year',
  mapping: { key: 'symbol', subkey: 'year' },
  weight: 20,
  properties: [
    SYMBOL,
    requiredProperty(['year', 'integer', 2025, 'Year.']),
    text('name', 'Ada Example', 'Chief executive.'),
    text('companyName', 'Example Corp', 'Company.'),
    text('location', 'Springfield, CA', 'Where it is.'),
    ...[
      ['salary', 900_000, 'Salary'] as const,
      ['bonus', 100_000, 'Bonus'] as const,
      ['stockAwards', 2_000_000, 'Shares'] as const,
      ['optionAwards', 500_000, 'Options'] as const,
      ['nonEquityIncentives', 300_000, 'Incentives in cash'] as const,
      ['pensionAndDeferred', 50_000, 'Pension'] as const,
      ['otherComp', 20_000, 'Everything else'] as const,
      ['total', 3_870_000, 'Sum'] as const,
    ].map(([name, example, help]) => number(name, example, `${help}, in dollars.`)),
  ],
};

const SHORT_INTEREST: Input = {
  id: 'SHORT_INTEREST',
  title: 'Shares that were sold short, one record a settlement',
  mapping: { key: 'symbol', date: 'settlementDate' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['settlementDate', 'date', '2026-01-30', 'Day that it holds for.']),
    text('securityName', 'Example Corp Common Stock', 'Name of the security.'),
    number('currentShortInterest', 1_200_000, 'Shares sold short.'),
    number('previousShortInterest', 1_100_000, 'Shares sold short at the settlement before.'),
    number('averageDailyVolume', 400_000, 'Shares traded a day.'),
    number('daysToCover', 3, 'Days of that volume that buy them back.'),
    text('stockSplitFlag', '', 'S where a split lies between both.'),
    text('revisionFlag', '', 'R where it was corrected.'),
  ],
};

const THRESHOLD_SECURITIES: Input = {
  id: 'THRESHOLD_SECURITIES',
  title: 'Securities that many failed to deliver (Regulation SHO), one record a day',
  mapping: { key: 'symbol', date: 'date' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['date', 'date', '2026-01-30', 'Day.']),
    text('securityName', 'Example Corp Common Stock', 'Name of the security.'),
    text('regShoThresholdFlag', 'Y', 'Y: on the list.'),
    text('rule4320', 'N', 'Y: by rule 4320.'),
  ],
};

export const OF_COMPANIES: readonly Input[] = [
  ESTIMATES,
  CEO_COMPENSATION,
  SHORT_INTEREST,
  THRESHOLD_SECURITIES,
];
