// The table of values that rules read: members of quotes and stats, and events of a symbol.
import type { ValueKind } from '../../query/rules/operators.ts';

/** Source of a value. */
type Source = 'quote' | 'stats' | 'advanced' | 'state' | 'happening' | 'clock';

interface RuleValue {
  readonly value: string;
  readonly label: string;
  readonly kind: ValueKind;
  readonly source: Source;
  /** Messages that it adds to each alert of a rule that reads it. */
  readonly weight: number;
  readonly weightKey: string;
  /** It is compared with an element of a list, which the lookup endpoint returns. */
  readonly isLookup?: true;
}

type Named = readonly (readonly [value: string, label: string])[];

const of = (
  source: Source,
  kind: ValueKind,
  [weight, weightKey]: readonly [number, string],
  named: Named,
): readonly RuleValue[] =>
  named.map(([value, label]) => ({ value, label, kind, source, weight, weightKey }));

// As in INTERFACE.md 0.3 and 4; an attribute costs less than its whole object.
const QUOTE = [1, 'STOCK_QUOTE'] as const;
const STATS = [1, 'KEY_STATS'] as const;
const ADVANCED = [3_005, 'ADVANCED_KEY_STATS'] as const;
const FREE = [0, 'FREE'] as const;

export const RULE_VALUES: readonly RuleValue[] = [
  ...of('quote', 'number', QUOTE, [
    ['latestPrice', 'Symbol: Latest Price'],
    ['change', 'Symbol: Change'],
    ['changePercent', 'Symbol: Change %'],
    ['open', 'Symbol: Open'],
    ['high', 'Symbol: High'],
    ['low', 'Symbol: Low'],
    ['close', 'Symbol: Close'],
    ['previousClose', 'Symbol: Previous Close'],
    ['latestVolume', 'Symbol: Latest Volume'],
    ['previousVolume', 'Symbol: Previous Volume'],
    ['avgTotalVolume', 'Symbol: Average Volume'],
    ['marketCap', 'Symbol: Market Cap'],
    ['peRatio', 'Symbol: Price to Earnings'],
    ['week52High', 'Symbol: 52 Week High'],
    ['week52Low', 'Symbol: 52 Week Low'],
    ['ytdChange', 'Symbol: YTD Change %'],
    ['iexRealtimePrice', 'Symbol: Last Trade Price'],
    ['iexRealtimeSize', 'Symbol: Last Trade Size'],
    ['iexBidPrice', 'Symbol: Bid Price'],
    ['iexBidSize', 'Symbol: Bid Size'],
    ['iexAskPrice', 'Symbol: Ask Price'],
    ['iexAskSize', 'Symbol: Ask Size'],
    ['delayedPrice', 'Symbol: Delayed Price'],
    ['extendedPrice', 'Symbol: Extended Hours Price'],
    ['extendedChangePercent', 'Symbol: Extended Hours Change %'],
  ]),
  ...of('quote', 'string', QUOTE, [
    ['calculationPrice', 'Symbol: Kind of Latest Price'],
    ['companyName', 'Symbol: Company Name'],
  ]),
  ...of('quote', 'string', QUOTE, [
    ['primaryExchange', 'Symbol: Exchange'],
    ['sector', 'Symbol: Sector'],
  ]).map((value) => ({ ...value, isLookup: true as const })),
  ...of('quote', 'boolean', QUOTE, [['isUSMarketOpen', 'Market: Is Open']]),
  ...of('stats', 'number', STATS, [
    ['sharesOutstanding', 'Symbol: Shares Outstanding'],
    ['float', 'Symbol: Float'],
    ['avg10Volume', 'Symbol: 10 Day Average Volume'],
    ['avg30Volume', 'Symbol: 30 Day Average Volume'],
    ['day50MovingAvg', 'Symbol: 50 Day Average Price'],
    ['day200MovingAvg', 'Symbol: 200 Day Average Price'],
    ['employees', 'Symbol: Employees'],
    ['ttmEPS', 'Symbol: Earnings per Share'],
    ['ttmDividendRate', 'Symbol: Dividend Rate'],
    ['dividendYield', 'Symbol: Dividend Yield'],
    ['beta', 'Symbol: Beta'],
    ['week52change', 'Symbol: 52 Week Change %'],
    ['maxChangePercent', 'Symbol: Change % since the First Day'],
    ['year5ChangePercent', 'Symbol: 5 Year Change %'],
    ['year2ChangePercent', 'Symbol: 2 Year Change %'],
    ['year1ChangePercent', 'Symbol: 1 Year Change %'],
    ['ytdChangePercent', 'Symbol: Year to Date Change %'],
    ['month6ChangePercent', 'Symbol: 6 Month Change %'],
    ['month3ChangePercent', 'Symbol: 3 Month Change %'],
    ['month1ChangePercent', 'Symbol: 1 Month Change %'],
    ['day30ChangePercent', 'Symbol: 30 Day Change %'],
    ['day5ChangePercent', 'Symbol: 5 Day Change %'],
  ]),
  ...of('stats', 'date', STATS, [
    ['nextDividendDate', 'Symbol: Next Dividend'],
    ['exDividendDate', 'Symbol: Last Dividend'],
    ['nextEarningsDate', 'Symbol: Next Earnings'],
  ]),
  ...of('advanced', 'number', ADVANCED, [
    ['priceToBook', 'Symbol: Price to Book'],
    ['priceToSales', 'Symbol: Price to Sales'],
    ['debtToEquity', 'Symbol: Debt to Equity'],
    ['profitMargin', 'Symbol: Profit Margin'],
    ['enterpriseValue', 'Symbol: Enterprise Value'],
    ['EBITDA', 'Symbol: EBITDA'],
  ]),
  ...of('state', 'boolean', FREE, [['isHalted', 'Symbol: Is Halted']]),
  ...of('happening', 'event', [1, 'MINUTE_BAR'], [['hasMinuteBar', 'Event: Has Minute Bar']]),
  ...of('happening', 'event', [10, 'DIVIDENDS'], [['dividendToday', 'Event: Dividend Today']]),
  ...of('happening', 'event', [10, 'SPLITS'], [['splitToday', 'Event: Split Today']]),
  ...of('clock', 'date', FREE, [['today', 'Market: Date']]),
  ...of('clock', 'time', FREE, [['time', 'Market: Time']]),
];

const BY_NAME = new Map(RULE_VALUES.map((row) => [row.value, row]));

export const ruleValue = (name: string): RuleValue | undefined => BY_NAME.get(name);
