// Figures of a whole exchange (INTERFACE.md 1 "stats (exchange)"), from one record a day.
import type { Day } from '../../query/time/days.ts';
import { dayIn, numberIn, rounded, type Row } from './values.ts';

/** Members of a day; each answer has half days in the original's type. */
const dayOf = (row: Row, isHalfday: boolean | number) => ({
  date: dayIn(row, 'date'),
  volume: numberIn(row, 'volume'),
  routedVolume: numberIn(row, 'routedVolume'),
  marketShare: numberIn(row, 'marketShare'),
  isHalfday,
  litVolume: numberIn(row, 'litVolume'),
});

const isHalf = (row: Row): boolean => row['isHalfday'] === true;

/** Minimum of days, for the first days of a month. */
const RECENT_LEAST = 5;

/** All days of the month, five at least, newest first. @param rows oldest first */
export function recentDays(rows: readonly Row[], today: Day): readonly object[] {
  const ofMonth = rows.filter((row) => dayIn(row, 'date').startsWith(today.slice(0, 7))).length;
  const recent = rows.slice(-Math.max(RECENT_LEAST, ofMonth));
  return recent.toReversed().map((row) => dayOf(row, isHalf(row)));
}

/** Newest first. */
export const dailyDays = (rows: readonly Row[]): readonly object[] =>
  rows.toReversed().map((row) => dayOf(row, isHalf(row) ? 1 : 0));

const RECORDS = ['volume', 'symbolsTraded', 'routedVolume', 'notional'] as const;
const AVERAGED = 30;

/** The highest value of each figure, with the last day and the average of thirty. */
export function recordsOf(rows: readonly Row[]): Readonly<Record<string, object>> {
  if (rows.length === 0) return {};
  return Object.fromEntries(RECORDS.map((name) => [name, recordOf(rows, name)]));
}

function recordOf(rows: readonly Row[], name: (typeof RECORDS)[number]): object {
  const best = rows.reduce<Row | undefined>((most, row) => {
    const value = numberIn(row, name);
    return value !== null && value > (numberIn(most, name) ?? -1) ? row : most;
  }, undefined);
  return {
    recordValue: numberIn(best, name),
    recordDate: best === undefined ? null : dayIn(best, 'date'),
    previousDayValue: numberIn(rows.at(-1), name),
    avg30Value: average(rows.slice(-AVERAGED), name, 2),
  };
}

function average(rows: readonly Row[], name: string, decimals: number): number | null {
  const values = rows.flatMap((row) => numberIn(row, name) ?? []);
  if (values.length === 0) return null;
  return rounded(values.reduce((sum, value) => sum + value, 0) / values.length, decimals);
}

/** The original's figures of order sizes and of traded groups, which daily records do not have. */
export const NULL_FIGURES: readonly string[] = [
  'averageOrderSize',
  'averageFillSize',
  'bin100Percent',
  'bin101Percent',
  'bin200Percent',
  'bin300Percent',
  'bin400Percent',
  'bin500Percent',
  'bin1000Percent',
  'bin5000Percent',
  'bin10000Percent',
  'bin10000Trades',
  'bin20000Trades',
  'bin50000Trades',
  'blockPercent',
  'selfCrossPercent',
  'etfPercent',
  'largeCapPercent',
  'midCapPercent',
  'smallCapPercent',
];

/** A month in one object; none where it has no day. */
export function monthOf(rows: readonly Row[]): readonly object[] {
  if (rows.length === 0) return [];
  const traded = rows.flatMap((row) => numberIn(row, 'symbolsTraded') ?? []);
  return [
    {
      averageDailyVolume: average(rows, 'volume', 2),
      averageDailyRoutedVolume: average(rows, 'routedVolume', 2),
      averageMarketShare: average(rows, 'marketShare', 5),
      uniqueSymbolsTraded: traded.length === 0 ? null : Math.max(...traded),
      ...Object.fromEntries(NULL_FIGURES.map((name) => [name, null])),
    },
  ];
}

interface Traded {
  readonly volume: number;
  readonly symbolsTraded: number;
  readonly notional: number;
  /** Epoch milliseconds. */
  readonly lastUpdated: number;
}

/** The stored trades are complete: nothing is routed, and no other exchange has a share. */
export function intradayOf({ lastUpdated, notional, symbolsTraded, volume }: Traded): object {
  const of = (value: number): object => ({ value, lastUpdated });
  return {
    volume: of(volume),
    symbolsTraded: of(symbolsTraded),
    routedVolume: of(0),
    notional: of(rounded(notional, 2)),
    marketShare: of(1),
  };
}
