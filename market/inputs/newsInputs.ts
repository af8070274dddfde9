// Reports and plans of companies: news, opinions of analysts, offerings, calendars. Served as stored.
import { type Input, optionalProperty, number, SYMBOL, text } from './inputRow.ts';

const moment = (name: string, help: string) =>
  optionalProperty([name, 'instant', '2026-01-29T21:05:00Z', help]);

export const REPORTED: readonly Input[] = [
  {
    id: 'NEWS',
    title: 'News, one record each',
    mapping: { key: 'symbol', subkey: 'uuid', date: 'datetime' },
    weight: 1,
    properties: [
      SYMBOL,
      text('uuid', '7f0ff1e2', 'Distinguishes news of one time.'),
      optionalProperty(['datetime', 'instant', '2026-01-29T21:05:00Z', 'When it was published.']),
      text('headline', 'Example Corp reports its fourth quarter', 'Headline.'),
      text('source', 'Example Wire', 'Who published it.'),
      text('url', 'https://example.com/news/1', 'Address of the full text.'),
      text('summary', 'Revenue grew.', 'In short.'),
      text('related', 'MSFT,GOOG', 'Symbols, with commas between.'),
      text('image', 'https://example.com/news/1.png', 'Picture.'),
      text('lang', 'en', 'Language, two letters.'),
      optionalProperty(['hasPaywall', 'boolean', false, 'Whether reading it is to be paid.']),
    ],
  },
  {
    id: 'LOGO',
    title: 'Logos',
    mapping: { key: 'symbol' },
    weight: 1,
    properties: [SYMBOL, text('url', 'https://example.com/logo.png', 'Where the picture is.')],
  },
  {
    id: 'PRICE_TARGET',
    title: 'Prices that analysts expect',
    mapping: { key: 'symbol', date: 'updatedDate' },
    weight: 500,
    properties: [
      SYMBOL,
      optionalProperty(['updatedDate', 'date', '2026-01-30', 'Day of the newest opinion.']),
      number('priceTargetAverage', 120.5, 'Average, in the currency.'),
      number('priceTargetHigh', 150, 'Highest, in the currency.'),
      number('priceTargetLow', 90, 'Lowest, in the currency.'),
      optionalProperty(['numberOfAnalysts', 'integer', 24, 'Analysts.']),
      text('currency', 'USD', 'Currency.'),
    ],
  },
  {
    id: 'RECOMMENDATION_TRENDS',
    title: 'What analysts recommend, one record a span of time',
    mapping: { key: 'symbol', date: 'consensusStartDate' },
    weight: 1_000,
    properties: [
      SYMBOL,
      optionalProperty(['consensusStartDate', 'instant', '2026-01-05T00:00:00Z', 'First day.']),
      moment('consensusEndDate', 'Last day; empty as long as it is not over.'),
      moment('corporateActionsAppliedDate', 'Up to when splits are taken out.'),
      ...['Buy', 'Overweight', 'Hold', 'Underweight', 'Sell', 'None'].map((name) =>
        optionalProperty([`rating${name}`, 'integer', 4, `Analysts: ${name.toLowerCase()}.`]),
      ),
      number('ratingScaleMark', 1.9, 'Average from 1, buy, to 3, sell.'),
    ],
  },
  {
    id: 'EARNINGS_CALENDAR',
    title: 'Days of reports to come',
    mapping: { key: 'symbol', date: 'reportDate' },
    weight: 5,
    properties: [
      SYMBOL,
      optionalProperty(['reportDate', 'date', '2026-02-12', 'Day of the report.']),
      text('announceTime', 'AMC', 'BTO before the opening, AMC after the close, DMT between.'),
      text('fiscalPeriod', 'Q4 2025', 'Period.'),
    ],
  },
  {
    id: 'IPOS',
    title: 'Offerings of shares',
    mapping: { key: 'symbol', date: 'offeringDate' },
    weight: 100,
    properties: [
      SYMBOL,
      optionalProperty(['offeringDate', 'date', '2026-02-12', 'First day of trade.']),
      text('companyName', 'Example Corp', 'Company.'),
      number('priceLow', 14, 'Lowest price of a share, in the currency.'),
      number('priceHigh', 16, 'Highest price of a share, in the currency.'),
      number('offerAmount', 150_000_000, 'Sum, in the currency.'),
      number('sharesOffered', 10_000_000, 'Shares.'),
      number('sharesOutstanding', 40_000_000, 'Shares outstanding afterwards.'),
      text('percentOffered', '25%', 'What is offered of them, in words.'),
      text('market', 'NASDAQ', 'Where they are listed.'),
      text('status', 'Expected', 'How far it is.'),
    ],
  },
];
