// Types that are figures of days and trades: stats, largest-trades, volume-by-venue, effective-spread
// (INTERFACE.md 1).
import { adjustBars } from '../derive/adjust.ts';
import { advancedStats } from '../derive/advancedStats.ts';
import { companyOfSymbol } from '../derive/company.ts';
import { TRADES_READ } from '../derive/lastSale.ts';
import { anchorDays, computeStats } from '../derive/stats.ts';
import { effectiveSpread, largestTrades, venuesOf, volumeByVenue } from '../derive/trades.ts';
import type { Row } from '../derive/values.ts';
import { type TypeRequest, type Need, newest, type Read, allRecords } from './typeRequest.ts';
import { inPercent, quoteInputs, quoteNeeds, YEAR_BARS } from './prices.ts';

/** Benchmarks of beta: the market fund that most owners have, or the synthetic one. */
const BENCHMARKS = ['SPY', 'SYNDEX'] as const;

const anchorNeeds = ({ symbol: key, today }: TypeRequest): readonly Need[] => [
  { input: 'HISTORICAL_PRICES', key, window: { kind: 'oldest' } },
  ...anchorDays(today).map((day): Need => ({
    input: 'HISTORICAL_PRICES',
    key,
    window: {
      kind: 'at',
      day,
    },
  })),
];

const benchmarkNeeds = (key: string): readonly [days: Need, splits: Need, dividends: Need] => [
  newest('HISTORICAL_PRICES', key, YEAR_BARS),
  allRecords('SPLITS', key),
  allRecords('DIVIDENDS', key),
];

export const statsNeeds = (ask: TypeRequest): readonly Need[] => [
  ...quoteNeeds(ask),
  ...anchorNeeds(ask),
  ...BENCHMARKS.flatMap(benchmarkNeeds),
];

export function stats(ask: TypeRequest, read: Read): Row | undefined {
  const market = BENCHMARKS.find((key) => read(benchmarkNeeds(key)[0]).length > 0) ?? BENCHMARKS[0];
  const [benchmark, benchmarkSplits, benchmarkDividends] = benchmarkNeeds(market);
  const { nowMs, today, untilMs } = ask;
  const figures = computeStats(
    {
      ...quoteInputs(ask, read),
      anchors: anchorNeeds(ask).flatMap(read),
      benchmark: read(benchmark),
      benchmarkSplits: read(benchmarkSplits),
      benchmarkDividends: read(benchmarkDividends),
    },
    { nowMs, today, untilMs },
  );
  const percentages = Object.keys(figures ?? {}).filter((name) => name.endsWith('ChangePercent'));
  return inPercent(ask, figures, [...percentages, 'week52change']);
}

/** Statements of four quarters, with the years between them and late reports. */
const STATEMENTS_READ = 12;
const STATEMENTS = ['INCOME', 'BALANCE_SHEET', 'CASH_FLOW'] as const;

export const advancedNeeds = (ask: TypeRequest): readonly Need[] => [
  ...statsNeeds(ask),
  ...STATEMENTS.map((input) => newest(input, ask.symbol, STATEMENTS_READ)),
];

export function advanced(ask: TypeRequest, read: Read): Row | undefined {
  const keyFigures = stats(ask, read);
  if (keyFigures === undefined) return undefined;
  const [income = [], balance = [], cash = []] = STATEMENTS.map((input) =>
    read(newest(input, ask.symbol, STATEMENTS_READ)),
  );
  const inputs = quoteInputs(ask, read);
  const bars = adjustBars(inputs.days, inputs, ask.today);
  return advancedStats(keyFigures, { income, balance, cash }, bars, ask.today);
}

export const companyNeeds = ({ symbol }: TypeRequest): readonly Need[] => [
  allRecords('SYMBOLS', symbol),
];

export const company = (ask: TypeRequest, read: Read): Row | undefined =>
  companyOfSymbol(companyNeeds(ask).flatMap(read), ask.symbol, ask.today);

const venuesNeed: Need = allRecords('VENUES', '');

export const tradeNeeds = ({ symbol }: TypeRequest): readonly Need[] => [
  newest('TRADES', symbol, TRADES_READ),
  venuesNeed,
];

const seen = (ask: TypeRequest, need: Need, read: Read): readonly Row[] =>
  read(need).filter((row) => !(Date.parse(String(row['time'])) > ask.untilMs));

const tradesOf = (ask: TypeRequest, read: Read): readonly Row[] =>
  seen(ask, newest('TRADES', ask.symbol, TRADES_READ), read);

export const largest = (ask: TypeRequest, read: Read): readonly object[] =>
  largestTrades(tradesOf(ask, read), venuesOf(read(venuesNeed)));

export const venueVolumes = (ask: TypeRequest, read: Read): readonly object[] =>
  volumeByVenue(tradesOf(ask, read), venuesOf(read(venuesNeed)));

const spreadQuotes = ({ symbol }: TypeRequest): Need => newest('QUOTES', symbol, TRADES_READ);

export const spreadNeeds = (ask: TypeRequest): readonly Need[] => [
  ...tradeNeeds(ask),
  spreadQuotes(ask),
];

export const spreads = (ask: TypeRequest, read: Read): readonly object[] =>
  effectiveSpread(
    tradesOf(ask, read),
    seen(ask, spreadQuotes(ask), read),
    venuesOf(read(venuesNeed)),
  );
