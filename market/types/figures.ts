// Types that are figures of days and trades: stats, largest-trades, volume-by-venue, effective-spread
// (INTERFACE.md 1).
import { adjusted } from '../derive/adjust.ts';
import { advancedStats } from '../derive/advancedStats.ts';
import { companyOfSymbol } from '../derive/company.ts';
import { TRADES_READ } from '../derive/lastSale.ts';
import { anchorDays, statsOf } from '../derive/stats.ts';
import { effectiveSpread, largestTrades, venuesOf, volumeByVenue } from '../derive/trades.ts';
import type { Row } from '../derive/values.ts';
import { type Ask, type Need, newest, type Read, wholeOf } from './ask.ts';
import { inPercent, quoteInputs, quoteNeeds, YEAR_BARS } from './prices.ts';

/** Benchmarks of beta: the market fund that most owners have, or the synthetic one. */
const BENCHMARKS = ['SPY', 'SYNDEX'] as const;

const anchorNeeds = ({ symbol: key, today }: Ask): readonly Need[] => [
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
  wholeOf('SPLITS', key),
  wholeOf('DIVIDENDS', key),
];

export const statsNeeds = (ask: Ask): readonly Need[] => [
  ...quoteNeeds(ask),
  ...anchorNeeds(ask),
  ...BENCHMARKS.flatMap(benchmarkNeeds),
];

export function stats(ask: Ask, read: Read): Row | undefined {
  const market = BENCHMARKS.find((key) => read(benchmarkNeeds(key)[0]).length > 0) ?? BENCHMARKS[0];
  const [benchmark, benchmarkSplits, benchmarkDividends] = benchmarkNeeds(market);
  const { nowMs, today, untilMs } = ask;
  const figures = statsOf(
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

export const advancedNeeds = (ask: Ask): readonly Need[] => [
  ...statsNeeds(ask),
  ...STATEMENTS.map((input) => newest(input, ask.symbol, STATEMENTS_READ)),
];

export function advanced(ask: Ask, read: Read): Row | undefined {
  const keyFigures = stats(ask, read);
  if (keyFigures === undefined) return undefined;
  const [income = [], balance = [], cash = []] = STATEMENTS.map((input) =>
    read(newest(input, ask.symbol, STATEMENTS_READ)),
  );
  const inputs = quoteInputs(ask, read);
  const bars = adjusted(inputs.days, inputs, ask.today);
  return advancedStats(keyFigures, { income, balance, cash }, bars, ask.today);
}

export const companyNeeds = ({ symbol }: Ask): readonly Need[] => [wholeOf('SYMBOLS', symbol)];

export const company = (ask: Ask, read: Read): Row | undefined =>
  companyOfSymbol(companyNeeds(ask).flatMap(read), ask.symbol, ask.today);

const venuesNeed: Need = wholeOf('VENUES', '');

export const tradeNeeds = ({ symbol }: Ask): readonly Need[] => [
  newest('TRADES', symbol, TRADES_READ),
  venuesNeed,
];

const seen = (ask: Ask, need: Need, read: Read): readonly Row[] =>
  read(need).filter((row) => !(Date.parse(String(row['time'])) > ask.untilMs));

const tradesOf = (ask: Ask, read: Read): readonly Row[] =>
  seen(ask, newest('TRADES', ask.symbol, TRADES_READ), read);

export const largest = (ask: Ask, read: Read): readonly object[] =>
  largestTrades(tradesOf(ask, read), venuesOf(read(venuesNeed)));

export const venueVolumes = (ask: Ask, read: Read): readonly object[] =>
  volumeByVenue(tradesOf(ask, read), venuesOf(read(venuesNeed)));

const spreadQuotes = ({ symbol }: Ask): Need => newest('QUOTES', symbol, TRADES_READ);

export const spreadNeeds = (ask: Ask): readonly Need[] => [...tradeNeeds(ask), spreadQuotes(ask)];

export const spreads = (ask: Ask, read: Read): readonly object[] =>
  effectiveSpread(
    tradesOf(ask, read),
    seen(ask, spreadQuotes(ask), read),
    venuesOf(read(venuesNeed)),
  );
