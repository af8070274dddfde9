// Inputs of the market: datasets that an owner may load into workspace CORE, each with its schema. Everything
// about inputs derives from this table: defaults of a new dataset of its name, the page
// docs/market-inputs.md, mappings of files, the synthetic exchange.
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import {
  type Input,
  type InputId,
  type InputProperty,
  type InputType,
  optionalProperty,
  requiredProperty,
  number,
  SYMBOL,
  text,
} from './inputRow.ts';
import { ACTIONS } from './actionInputs.ts';
import { OF_COMPANIES } from './companyInputs.ts';
import { FUTURES } from './futuresInputs.ts';
import { MONEY } from './moneyInputs.ts';
import { EXCHANGE_STATS } from './exchangeInput.ts';
import { REPORTED } from './newsInputs.ts';
import { OPTIONS } from './optionInput.ts';
import { OWNERS } from './ownerInputs.ts';
import { SENTIMENT, SENTIMENT_MINUTES } from './sentimentInput.ts';
import { STATEMENTS } from './statements.ts';

const COMPANY: Input = {
  id: 'COMPANY',
  title: 'Companies: one record each',
  mapping: { key: 'symbol' },
  weight: 1,
  properties: [
    SYMBOL,
    text('companyName', 'Example Corp', 'Name.'),
    text('exchange', 'NASDAQ', 'Primary exchange, as it is to be shown.'),
    text('industry', 'Semiconductors', 'Industry.'),
    text('website', 'https://example.com', 'Home page.'),
    text('description', 'Makes examples.', 'What it does.'),
    text('CEO', 'Ada Example', 'Chief executive.'),
    text('securityName', 'Example Corp Common Stock', 'Name of the security.'),
    text('issueType', 'cs', 'Kind of security: ad re ce si lp cs et wt oef cef ps ut temp.'),
    text('sector', 'Technology', 'Sector.'),
    optionalProperty(['primarySicCode', 'integer', 3674, 'Standard industrial classification.']),
    optionalProperty(['employees', 'integer', 1200, 'People.']),
    optionalProperty(['tags', 'list', '["Technology"]', 'Tags.']),
    text('address', '1 Example Street', 'Street.'),
    text('address2', '', 'More of the street.'),
    text('state', 'CA', 'State.'),
    text('city', 'Springfield', 'City.'),
    text('zip', '90210', 'Postal code.'),
    text('country', 'US', 'Country, two letters.'),
    text('phone', '1.555.0100', 'Telephone.'),
    number(
      'sharesOutstanding',
      150_000_000,
      'Shares: market capitalisation is computed with them.',
    ),
    number('float', 140_000_000, 'Shares that are traded freely.'),
    number('ttmEPS', 4.2, 'Earnings per share of the last twelve months, in the currency.'),
    optionalProperty(['nextEarningsDate', 'date', '2026-02-12', 'Day of the next report.']),
    text('currency', 'USD', 'Currency of its prices; USD when left out.'),
  ],
};

const SYMBOLS: Input = {
  id: 'SYMBOLS',
  title: 'Symbols and their identifiers, each for the days on which it was that security',
  mapping: { key: 'symbol', date: 'validFrom' },
  weight: 1,
  properties: [
    SYMBOL,
    optionalProperty([
      'validFrom',
      'date',
      '2004-08-19',
      'First day on which the symbol is this security.',
    ]),
    optionalProperty(['validTo', 'date', '2014-04-02', 'Last day of it; empty as long as it is.']),
    text('name', 'Example Corp', 'Name of the security.'),
    text('exchange', 'NAS', 'Exchange: NAS, NYS, PSE, ASE, ….'),
    text('exchangeName', 'NASDAQ', 'Name of the exchange.'),
    text('exchangeSuffix', '', 'What follows its symbols elsewhere, such as -CT.'),
    text('exchangeSegment', 'XNGS', 'Code of its segment.'),
    text('exchangeSegmentName', 'Nasdaq Global Select', 'Name of its segment.'),
    text('type', 'cs', 'Kind of security, as issueType of COMPANY.'),
    text('region', 'US', 'Country, two letters.'),
    text('currency', 'USD', 'Currency.'),
    optionalProperty(['isEnabled', 'boolean', true, 'Whether it is traded.']),
    text('figi', 'BBG000BPH459', 'FIGI.'),
    text('isin', 'US5949181045', 'ISIN.'),
    text('cusip', '594918104', 'CUSIP.'),
    text('ric', 'MSFT.OQ', 'RIC.'),
    text('cik', '789019', 'Number at the SEC.'),
    text('lei', 'INR2EJN1ERAN0W5ZP974', 'Legal entity identifier.'),
  ],
};

const price = (name: string, example: number, help: string): InputProperty =>
  number(name, example, `${help}, in the currency of the symbol.`);

const HISTORICAL_PRICES: Input = {
  id: 'HISTORICAL_PRICES',
  title: 'Daily bars as they were traded: neither splits nor dividends are taken out',
  mapping: { key: 'symbol', date: 'date' },
  weight: 10,
  properties: [
    SYMBOL,
    requiredProperty(['date', 'date', '2026-01-30', 'Trading day.']),
    price('open', 101.5, 'First price'),
    price('high', 104, 'Highest price'),
    price('low', 101, 'Lowest price'),
    requiredProperty(['close', 'number', 103.25, 'Last price, in the currency of the symbol.']),
    number('volume', 1_250_000, 'Shares traded.'),
    optionalProperty([
      ...(['isSplitAdjusted', 'boolean', false] as const),
      'Whether splits are taken out of open, high, low, close and volume already.',
    ]),
  ],
  // If uClose is there, the close counts as adjusted.
  carried: [
    'uOpen',
    'uHigh',
    'uLow',
    'uClose',
    'uVolume',
    'fOpen',
    'fHigh',
    'fLow',
    'fClose',
    'fVolume',
    'change',
    'changePercent',
    'changeOverTime',
    'marketChangeOverTime',
    'label',
  ],
};

const INTRADAY_PRICES: Input = {
  id: 'INTRADAY_PRICES',
  title: 'Minute bars',
  mapping: { key: 'symbol', subkey: 'minute', date: 'date' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['date', 'date', '2026-01-30', 'Trading day.']),
    requiredProperty(['minute', 'string', '09:30', 'Minute of the exchange, HH:MM.']),
    price('open', 101.5, 'First price'),
    price('high', 101.9, 'Highest price'),
    price('low', 101.4, 'Lowest price'),
    price('close', 101.8, 'Last price'),
    price('average', 101.66, 'Average price by volume'),
    number('volume', 3200, 'Shares traded.'),
    number('notional', 325_312, 'Sum of price times size, in the currency.'),
    optionalProperty(['numberOfTrades', 'integer', 41, 'Trades.']),
  ],
  carried: [
    'marketOpen',
    'marketHigh',
    'marketLow',
    'marketClose',
    'marketAverage',
    'marketVolume',
    'marketNotional',
    'marketNumberOfTrades',
    'changeOverTime',
    'marketChangeOverTime',
    'label',
  ],
};

const SPLITS: Input = {
  id: 'SPLITS',
  title: 'Splits',
  mapping: { key: 'symbol', date: 'exDate' },
  weight: 10,
  properties: [
    SYMBOL,
    requiredProperty(['exDate', 'date', '2020-08-31', 'First day at the new price.']),
    requiredProperty(['fromFactor', 'number', 1, 'Shares before.']),
    requiredProperty(['toFactor', 'number', 4, 'Shares after.']),
    number('ratio', 0.25, 'fromFactor / toFactor.'),
    optionalProperty(['declaredDate', 'date', '2020-07-30', 'Day of the announcement.']),
    text('description', '4-for-1 split', 'In words.'),
  ],
};

const DIVIDENDS: Input = {
  id: 'DIVIDENDS',
  title: 'Cash dividends',
  mapping: { key: 'symbol', subkey: 'refid', date: 'exDate' },
  weight: 10,
  properties: [
    SYMBOL,
    requiredProperty(['exDate', 'date', '2026-02-06', 'First day without the right to it.']),
    requiredProperty([
      'refid',
      'string',
      '1',
      'Distinguishes dividends of one day; 1 if there is only one.',
    ]),
    requiredProperty([
      'amount',
      'number',
      0.26,
      'For each share as there were on the day, in the currency.',
    ]),
    optionalProperty(['paymentDate', 'date', '2026-02-12', 'Day of payment.']),
    optionalProperty([
      'recordDate',
      'date',
      '2026-02-09',
      'Day that determines the entitled owners.',
    ]),
    optionalProperty(['declaredDate', 'date', '2026-01-29', 'Day of the announcement.']),
    text('flag', 'Cash', 'Kind of dividend.'),
    text('currency', 'USD', 'Currency.'),
    text('description', 'Ordinary dividend', 'In words.'),
    text('frequency', 'quarterly', 'How often.'),
  ],
};

/** Fraction of a time beyond its milliseconds: captures have it, and it orders events of one millisecond. */
const NANOSECONDS = ['nanoseconds'];

const TRADES: Input = {
  id: 'TRADES',
  title: 'Trades of the last days, one record each',
  mapping: { key: 'symbol', subkey: 'tradeId', date: 'time' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['time', 'time', '2026-01-30T14:30:00.125Z', 'When it was traded.']),
    requiredProperty(['tradeId', 'string', '1001', 'Distinguishes trades of one time.']),
    requiredProperty(['price', 'number', 101.5, 'In the currency of the symbol.']),
    requiredProperty(['size', 'integer', 100, 'Shares.']),
    text('venue', 'XNYS', 'Market identifier code of the venue.'),
    optionalProperty(['isOddLot', 'boolean', false, 'Fewer shares than a round lot.']),
    optionalProperty(['isISO', 'boolean', false, 'Intermarket sweep.']),
    optionalProperty([
      'isOutsideRegularHours',
      'boolean',
      false,
      'Before the opening or after the close.',
    ]),
    optionalProperty(['isSinglePriceCross', 'boolean', false, 'Auction.']),
    optionalProperty([
      'isTradeThroughExempt',
      'boolean',
      false,
      'Exempt from trade-through rules.',
    ]),
  ],
  carried: NANOSECONDS,
};

const QUOTES: Input = {
  id: 'QUOTES',
  title: 'Best bids and asks, one record for each change',
  mapping: { key: 'symbol', subkey: 'sequence', date: 'time' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['time', 'time', '2026-01-30T14:30:00.125Z', 'When it became the best.']),
    requiredProperty(['sequence', 'string', '7', 'Distinguishes changes of one time.']),
    price('bidPrice', 101.49, 'Best bid'),
    optionalProperty(['bidSize', 'integer', 300, 'Shares bid.']),
    price('askPrice', 101.51, 'Best ask'),
    optionalProperty(['askSize', 'integer', 200, 'Shares offered.']),
    text('venue', 'XNYS', 'Market identifier code of the venue.'),
  ],
  carried: NANOSECONDS,
};

const BOOK: Input = {
  id: 'BOOK',
  title: 'Books, one record for each change of a price',
  mapping: { key: 'symbol', subkey: 'sequence', date: 'time' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['time', 'time', '2026-01-30T14:30:00.125Z', 'When it changed.']),
    requiredProperty(['sequence', 'string', '7', 'Orders changes of one time.']),
    requiredProperty(['side', 'string', 'bid', 'Side of the book: bid or ask.']),
    requiredProperty(['price', 'number', 101.49, 'In the currency of the symbol.']),
    requiredProperty(['size', 'integer', 300, 'Shares at that price from then on; 0 for none.']),
    optionalProperty([
      'isPart',
      'boolean',
      false,
      'More of the same event follows: the book is not shown yet.',
    ]),
    text('venue', 'XNYS', 'Market identifier code of the venue.'),
  ],
  carried: NANOSECONDS,
};

const VENUES: Input = {
  id: 'VENUES',
  title: 'Venues',
  mapping: { key: 'mic' },
  weight: 1,
  properties: [
    requiredProperty(['mic', 'string', 'XNYS', 'Market identifier code.']),
    text('name', 'NYSE', 'Short name.'),
    text('longName', 'New York Stock Exchange', 'Name.'),
    text('tapeId', 'N', 'Letter on the tape.'),
    text('oatsId', 'N', 'Code in order audit trails.'),
    text('refId', 'XNYS', 'Code in reference data.'),
    text('type', 'equities', 'What is traded there.'),
  ],
};

export const INPUTS: readonly Input[] = [
  COMPANY,
  SYMBOLS,
  HISTORICAL_PRICES,
  INTRADAY_PRICES,
  SPLITS,
  DIVIDENDS,
  TRADES,
  QUOTES,
  BOOK,
  VENUES,
  ...STATEMENTS,
  ...MONEY,
  SENTIMENT,
  SENTIMENT_MINUTES,
  OPTIONS,
  EXCHANGE_STATS,
  ...OF_COMPANIES,
  ...REPORTED,
  ...OWNERS,
  ...ACTIONS,
  ...FUTURES,
];

const BY_ID: ReadonlyMap<string, Input> = new Map(INPUTS.map((input) => [input.id, input]));

/** By the id of a dataset in CORE, in any case. */
export const inputOf = (dataset: string): Input | undefined => BY_ID.get(dataset.toUpperCase());

const SERVED: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  INPUTS.map(({ carried = [], id, properties }) => {
    const names = [...properties.map(({ name }) => name), ...carried];
    return [id, new Map(names.map((name) => [name.toLowerCase(), name]))];
  }),
);

/** Names used by answers, by their lower case: owners may spell them in any case. */
export const servedNames = (id: InputId): ReadonlyMap<string, string> =>
  SERVED.get(id) ?? new Map<string, string>();

const TYPES: Readonly<Record<InputType, PropertyType>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'date-time' },
  instant: { type: 'string', format: 'date-time' },
  list: { type: 'array' },
};

/** As in a dataset's schema. */
export const propertyTypeOf = ({ type }: InputProperty): PropertyType => TYPES[type];
