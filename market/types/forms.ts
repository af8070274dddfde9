// The ways to ask for a type whose answers have shapes of their own: bars of days or of minutes, days or
// contracts. Documents have an operation for each path, and programs a type for each name.
import type { Options } from './ask.ts';

export interface Form {
  /** What it, or each row of it, is called. */
  readonly called: string;
  /** What stands behind the type in a path, any text where a colon stands. None: parameters ask for it. */
  readonly paths: readonly string[];
  /** So it is asked for an example. */
  readonly asked: Options;
  /** It is answered so only while the exchange is open, or closed. */
  readonly during?: 'open' | 'closed';
}

const ALONE = [''];

/** However it is asked. */
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
  ...(['closed', 'open'] as const).map((during) => ({
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
