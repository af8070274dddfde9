// Variants of a type: requests whose answers have different shapes, such as bars of days or of minutes, days
// or contracts. Documents have an operation for each path, and programs a type for each name.
import type { Options } from './ask.ts';

export interface Form {
  /** Name of the answer, or of each of its rows. */
  readonly called: string;
  /** Path segments after the type; a colon marks any text. None: parameters select it. */
  readonly paths: readonly string[];
  /** Parameters of an example request. */
  readonly asked: Options;
  /** The variant is returned only while the exchange is open, or closed. */
  readonly during?: 'open' | 'closed';
}

const ALONE = [''];

/** A single variant, for all parameters. */
export const one = (called: string, ...paths: readonly string[]): readonly Form[] => [
  { called, paths: [...ALONE, ...paths], asked: {} },
];

const OF_DAY: Options = { range: '1d' };

export const MINUTES: readonly Form[] = [
  ...one('MinuteBar', ':range'),
  { called: 'FeedMinuteBar', paths: [], asked: { chartIEXOnly: true } },
];

export const DAYS_AND_MINUTES: readonly Form[] = [
  ...one('DayBar', ':range'),
  { called: 'DayBar', paths: [], asked: { range: 'date', chartByDay: true } },
  { called: 'CloseBar', paths: [], asked: { chartCloseOnly: true } },
  { called: 'MinuteBar', paths: ['1d', '5dm', '1mm', 'date/:date'], asked: OF_DAY },
  { called: 'MinuteBar', paths: [], asked: { exactDate: '2026-01-30' } },
  { called: 'FeedMinuteBar', paths: [], asked: { ...OF_DAY, chartIEXOnly: true } },
  ...(['closed', 'open'] as const).map((during): Form => ({
    called: during === 'open' ? 'DynamicMinutes' : 'DynamicDays',
    paths: ['dynamic'],
    asked: { range: 'dynamic' },
    during,
  })),
];

const SMA: Options = { indicator: 'sma' };

export const INDICATORS: readonly Form[] = [
  { called: 'Indicator', paths: [':indicator'], asked: SMA },
  { called: 'MinuteIndicator', paths: [':indicator'], asked: { ...SMA, ...OF_DAY } },
  { called: 'IndicatorAlone', paths: [':indicator'], asked: { ...SMA, indicatorOnly: true } },
];

export const CONTRACTS: readonly Form[] = [
  ...one('OptionDay'),
  {
    called: 'OptionContract',
    paths: [':expiration', ':expiration/:side'],
    asked: { expiration: '202602' },
  },
];
