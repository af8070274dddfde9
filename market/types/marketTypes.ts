// The table of market types: every computed type of the stock endpoints, one row each. Weights are those of
// the original (INTERFACE.md 0.3).
import type { InputId } from '../inputs/inputRow.ts';
import type { TypeRequest, Need, Options, Read } from './typeRequest.ts';
import {
  CONTRACTS_MAX,
  sentimentNeeds,
  SENTIMENT_MINUTES_MAX,
  sentimentMinutes,
  optionNeeds,
  options,
} from './chains.ts';
import {
  chart,
  chartNeeds,
  dynamicChart,
  minuteNeeds,
  minutes,
  previous,
  previousNeeds,
} from './charts.ts';
import {
  advanced,
  advancedNeeds,
  company,
  companyNeeds,
  largest,
  spreadNeeds,
  spreads,
  stats,
  statsNeeds,
  tradeNeeds,
  venueVolumes,
} from './figures.ts';
import { book, delayedQuote, ohlc, price, quote, quoteNeeds } from './prices.ts';
import { spanOf } from './days.ts';
import {
  CONTRACTS,
  DAYS_AND_MINUTES,
  type Variant,
  INDICATORS,
  MINUTES,
  singleVariant,
} from './variants.ts';
import { selectBars, indicator, selectPart } from './indicator.ts';

/** How an answer is charged. */
type Charge =
  /** A fixed weight for each answered symbol. */
  | { readonly kind: 'answer'; readonly weight: number; readonly usageKey: string }
  /** For each row the weight of a record of its input's dataset, or a share of it. */
  | {
      readonly kind: 'rows';
      readonly of: (ask: TypeRequest) => InputId;
      readonly share: (ask: TypeRequest) => number;
      /** Charged rows of an answer. */
      readonly paid: (rows: readonly unknown[]) => number;
      /** Most rows of an answer. */
      readonly most: number;
    };

/** Path segment after the type. */
type Part = 'none' | 'range' | 'attribute' | 'indicator' | 'expiration' | 'day';

export interface MarketType {
  readonly name: string;
  /** Name of a type that is one attribute. */
  readonly attribute?: string;
  readonly summary: string;
  /** It is available if any of these inputs is; other inputs only add to it. */
  readonly of: readonly InputId[];
  /** A dataset of CORE with complete answers: if it exists, it serves the type. */
  readonly loadedAs?: string;
  /** Also serves symbols without a record in that dataset. */
  readonly besides?: true;
  readonly shape: 'object' | 'list' | 'value';
  /** Requests whose answers have different shapes. */
  readonly variants: readonly Variant[];
  /** Numbers that clients of the original expect, and that no input has: they are null. */
  readonly alwaysNull?: readonly string[];
  readonly options: readonly (keyof Options)[];
  readonly part: Part;
  readonly charge: Charge;
  readonly needs: (ask: TypeRequest) => readonly Need[];
  /** Undefined for an unknown symbol. */
  readonly answer: (ask: TypeRequest, read: Read) => unknown;
  /** It computes over windows: a thread does that unless its records are few. */
  readonly isIntensive?: true;
  /** Charged rows of an answer that is not a list itself. */
  readonly rowsOf?: (answer: unknown) => readonly unknown[];
  /** Selects the parts of an answer for its caller. */
  readonly selectPart?: (ask: TypeRequest, answer: unknown) => unknown;
}

const PRICES: readonly InputId[] = ['HISTORICAL_PRICES', 'INTRADAY_PRICES', 'TRADES'];

const each = (weight: number, usageKey: string): Charge => ({ kind: 'answer', weight, usageKey });

/** Days of one symbol, the most rows of a chart. */
const DAYS_MOST = 20_000;
/** Minutes of one answer: thirty days with the extended hours. */
const MINUTES_MOST = 30_000;
/** Charged minutes of one day (INTERFACE.md 0.3). */
const MINUTES_PAID = 50;
/** Weight of a row with a close only, as a share of a complete one. */
const CLOSE_SHARE = 1 / 5;

const ofSpan = (ask: TypeRequest): InputId =>
  spanOf(ask).kind === 'minutes' ? 'INTRADAY_PRICES' : 'HISTORICAL_PRICES';

/** A close only, or one day by its bar, costs less; minutes have their full weight. */
const chartShare = (ask: TypeRequest): number => {
  const { chartByDay, chartCloseOnly } = ask.options;
  const isLess = chartCloseOnly === true || chartByDay === true;
  return isLess && ofSpan(ask) === 'HISTORICAL_PRICES' ? CLOSE_SHARE : 1;
};

function paidRows(rows: readonly unknown[]): number {
  const days = new Map<unknown, number>();
  let others = 0;
  for (const row of rows) {
    if (typeof row !== 'object' || row === null || !('minute' in row && 'date' in row)) others += 1;
    else days.set(row.date, (days.get(row.date) ?? 0) + 1);
  }
  return [...days.values()].reduce((sum, count) => sum + Math.min(count, MINUTES_PAID), others);
}

const rowsOfInput = (input: InputId, most: number): Charge => ({
  kind: 'rows',
  of: () => input,
  share: () => 1,
  paid: ({ length }) => length,
  most,
});

const OF_DAYS = ['range', 'from', 'to', 'on', 'sort', 'last'] as const;
const OF_MINUTES = [
  ...(['chartLast', 'chartInterval', 'chartSimplify', 'changeFromClose'] as const),
  ...(['chartReset', 'chartIEXOnly', 'chartIEXWhenNull', 'exactDate'] as const),
];
const OF_CHART = [
  ...OF_DAYS,
  ...OF_MINUTES,
  'chartCloseOnly',
  'chartByDay',
  'includeToday',
] as const;

const CHART: Omit<MarketType, 'name' | 'summary'> = {
  of: ['HISTORICAL_PRICES'],
  shape: 'list',
  variants: DAYS_AND_MINUTES,
  alwaysNull: ['updated'],
  options: [...OF_CHART, 'displayPercent'],
  part: 'range',
  charge: { kind: 'rows', of: ofSpan, share: chartShare, paid: paidRows, most: DAYS_MOST },
  needs: chartNeeds,
  answer: (ask, read) =>
    ask.options.range?.toLowerCase() === 'dynamic' ? dynamicChart(ask, read) : chart(ask, read),
};

const OF_INDICATOR = [
  ...(['indicator', 'input1', 'input2', 'input3', 'input4'] as const),
  ...(['lastIndicator', 'indicatorOnly'] as const),
];

const QUOTE: Pick<MarketType, 'of' | 'needs'> = { of: PRICES, needs: quoteNeeds };
const TRADES: Pick<MarketType, 'of' | 'shape' | 'options' | 'part'> = {
  of: ['TRADES'],
  shape: 'list',
  options: [],
  part: 'none',
};

export const MARKET_TYPES: readonly MarketType[] = [
  {
    ...QUOTE,
    name: 'quote',
    summary:
      'Latest price with what is known of the day and the year; `/quote/{attribute}` one value.',
    loadedAs: 'QUOTE',
    shape: 'object',
    variants: singleVariant('Quote'),
    alwaysNull: [
      'iexMarketPercent',
      'iexVolume',
      'iexOpen',
      'iexOpenTime',
      'iexClose',
      'iexCloseTime',
    ],
    options: ['displayPercent'],
    part: 'attribute',
    charge: each(1, 'STOCK_QUOTE'),
    answer: quote,
  },
  {
    ...QUOTE,
    name: 'price',
    summary: 'Latest price as a number.',
    shape: 'value',
    variants: singleVariant('Price'),
    options: [],
    part: 'none',
    charge: each(1, 'PRICE_ONLY'),
    answer: price,
  },
  {
    ...QUOTE,
    name: 'delayed-quote',
    summary: 'Price, day and volume as they were 15 minutes ago.',
    loadedAs: 'DELAYED_QUOTE',
    shape: 'object',
    variants: singleVariant('DelayedQuote'),
    options: ['oddLot'],
    part: 'none',
    charge: each(1, 'DELAYED_QUOTE'),
    answer: delayedQuote,
  },
  {
    ...QUOTE,
    name: 'ohlc',
    summary: 'Open, high, low and close of the newest day.',
    loadedAs: 'OHLC',
    shape: 'object',
    variants: singleVariant('Ohlc'),
    options: [],
    part: 'none',
    charge: each(2, 'OPEN_CLOSE'),
    answer: ohlc,
  },
  {
    ...QUOTE,
    name: 'book',
    summary: 'Quote, best bid and ask, newest trades, and what the market is doing.',
    loadedAs: 'BOOK',
    shape: 'object',
    variants: singleVariant('Book'),
    alwaysNull: [
      'iexMarketPercent',
      'iexVolume',
      'iexOpen',
      'iexOpenTime',
      'iexClose',
      'iexCloseTime',
    ],
    options: ['displayPercent'],
    part: 'none',
    charge: each(1, 'STOCK_BOOK'),
    answer: book,
  },
  {
    name: 'previous',
    summary: 'The last day before today, adjusted.',
    of: ['HISTORICAL_PRICES'],
    shape: 'object',
    variants: singleVariant('DayBar'),
    alwaysNull: ['updated'],
    options: [],
    part: 'none',
    charge: each(2, 'PREVIOUS'),
    needs: previousNeeds,
    answer: previous,
  },
  {
    ...CHART,
    name: 'chart',
    summary: 'Bars of days or minutes: adjusted for splits, `u` as traded, `f` for dividends too.',
  },
  { ...CHART, name: 'historical-prices', summary: 'The same as chart.' },
  {
    name: 'intraday-prices',
    summary: 'Bars of minutes of a day or of several.',
    of: ['INTRADAY_PRICES'],
    shape: 'list',
    variants: MINUTES,
    options: [...OF_DAYS, ...OF_MINUTES],
    part: 'range',
    charge: {
      kind: 'rows',
      of: () => 'INTRADAY_PRICES',
      share: () => 1,
      paid: paidRows,
      most: MINUTES_MOST,
    },
    needs: minuteNeeds,
    answer: minutes,
  },
  {
    name: 'indicator',
    summary:
      'A technical indicator over the bars of a chart: `/indicator/{name}?range=`; `input1` to `input4` ' +
      'are its options.',
    of: ['HISTORICAL_PRICES'],
    shape: 'object',
    variants: INDICATORS,
    alwaysNull: ['updated'],
    options: ['range', 'from', 'to', 'on', 'exactDate', 'last', 'chartByDay', ...OF_INDICATOR],
    part: 'indicator',
    charge: CHART.charge,
    needs: chartNeeds,
    answer: indicator,
    isIntensive: true,
    rowsOf: selectBars,
    selectPart,
  },
  {
    name: 'stats',
    summary:
      'Key figures: changes, averages, 52 weeks, beta, dividends; `/stats/{stat}` one value.',
    of: ['HISTORICAL_PRICES'],
    loadedAs: 'STATS',
    shape: 'object',
    variants: singleVariant('Stats'),
    options: ['displayPercent'],
    part: 'attribute',
    charge: each(5, 'KEY_STATS'),
    needs: statsNeeds,
    answer: stats,
  },
  {
    name: 'advanced-stats',
    summary:
      'stats, with figures from the statements of four quarters; null where these lack them.',
    of: ['HISTORICAL_PRICES'],
    loadedAs: 'ADVANCED_STATS',
    shape: 'object',
    variants: singleVariant('AdvancedStats'),
    alwaysNull: ['forwardPERatio', 'pegRatio', 'putCallRatio'],
    options: ['displayPercent'],
    part: 'none',
    charge: each(3_005, 'ADVANCED_KEY_STATS'),
    needs: advancedNeeds,
    answer: advanced,
  },
  {
    name: 'company',
    summary: 'Name and exchange by the symbol, where no record of the company is loaded.',
    of: ['SYMBOLS'],
    loadedAs: 'COMPANY',
    besides: true,
    shape: 'object',
    variants: singleVariant('Company'),
    options: [],
    part: 'attribute',
    charge: each(1, 'COMPANY'),
    needs: companyNeeds,
    answer: company,
  },
  {
    ...TRADES,
    name: 'largest-trades',
    summary: 'The ten largest trades of the newest day.',
    variants: singleVariant('LargestTrade'),
    loadedAs: 'LARGEST_TRADES',
    charge: { kind: 'rows', of: () => 'TRADES', share: () => 1, paid: paidRows, most: 10 },
    needs: tradeNeeds,
    answer: largest,
  },
  {
    ...TRADES,
    name: 'volume-by-venue',
    summary: 'Volume of the newest day by venue.',
    variants: singleVariant('VenueVolume'),
    loadedAs: 'VOLUME_BY_VENUE',
    charge: each(20, 'VOLUME_BY_VENUE'),
    needs: tradeNeeds,
    answer: venueVolumes,
  },
  {
    ...TRADES,
    name: 'effective-spread',
    summary: 'Effective and quoted spreads of the newest day by venue.',
    variants: singleVariant('EffectiveSpread'),
    loadedAs: 'EFFECTIVE_SPREAD',
    charge: each(1, 'EFFECTIVE_SPREAD'),
    needs: spreadNeeds,
    answer: spreads,
  },
  {
    name: 'options',
    summary:
      'Days on which options expire; `/options/{expiration}` (YYYYMMDD, or YYYYMM) their contracts, ' +
      '`/options/{expiration}/{side}` calls or puts.',
    of: ['OPTIONS'],
    shape: 'list',
    variants: CONTRACTS,
    options: [],
    part: 'expiration',
    charge: rowsOfInput('OPTIONS', CONTRACTS_MAX),
    needs: optionNeeds,
    answer: options,
  },
  {
    name: 'sentiment-minute',
    summary:
      'Sentiment of the minutes of a day, the newest by default: `/sentiment/minute/{YYYYMMDD}`.',
    of: ['SENTIMENT_MINUTES'],
    shape: 'list',
    variants: singleVariant('MinuteSentiment', ':date'),
    options: ['on'],
    part: 'day',
    charge: rowsOfInput('SENTIMENT_MINUTES', SENTIMENT_MINUTES_MAX),
    needs: sentimentNeeds,
    answer: sentimentMinutes,
  },
];

const BY_NAME: ReadonlyMap<string, MarketType> = new Map(
  MARKET_TYPES.map((type) => [type.name, type]),
);

/** Finds a type by its name, in any case. */
export const marketType = (name: string): MarketType | undefined => BY_NAME.get(name.toLowerCase());
