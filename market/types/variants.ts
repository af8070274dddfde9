// Variants of a type: requests whose answers have different shapes, such as bars of days or of minutes, days
// or contracts. Documents have an operation for each path, and programs a type for each name.
import type { Options } from './typeRequest.ts';

export interface Variant {
  /** Name of the answer, or of each of its rows. */
  readonly name: string;
  /** Path segments after the type; a colon marks any text. None: parameters select it. */
  readonly paths: readonly string[];
  /** Parameters of an example request. */
  readonly parameters: Options;
  /** The variant is returned only while the exchange is open, or closed. */
  readonly during?: 'open' | 'closed';
}

const ALONE = [''];

/** A single variant, for all parameters. */
export const singleVariant = (name: string, ...paths: readonly string[]): readonly Variant[] => [
  { name, paths: [...ALONE, ...paths], parameters: {} },
];

const OF_DAY: Options = { range: '1d' };

export const MINUTES: readonly Variant[] = [
  ...singleVariant('MinuteBar', ':range'),
  { name: 'FeedMinuteBar', paths: [], parameters: { chartIEXOnly: true } },
];

export const DAYS_AND_MINUTES: readonly Variant[] = [
  ...singleVariant('DayBar', ':range'),
  { name: 'DayBar', paths: [], parameters: { range: 'date', chartByDay: true } },
  { name: 'CloseBar', paths: [], parameters: { chartCloseOnly: true } },
  { name: 'MinuteBar', paths: ['1d', '5dm', '1mm', 'date/:date'], parameters: OF_DAY },
  { name: 'MinuteBar', paths: [], parameters: { exactDate: '2026-01-30' } },
  { name: 'FeedMinuteBar', paths: [], parameters: { ...OF_DAY, chartIEXOnly: true } },
  ...(['closed', 'open'] as const).map((during): Variant => ({
    name: during === 'open' ? 'DynamicMinutes' : 'DynamicDays',
    paths: ['dynamic'],
    parameters: { range: 'dynamic' },
    during,
  })),
];

const SMA: Options = { indicator: 'sma' };

export const INDICATORS: readonly Variant[] = [
  { name: 'Indicator', paths: [':indicator'], parameters: SMA },
  { name: 'MinuteIndicator', paths: [':indicator'], parameters: { ...SMA, ...OF_DAY } },
  { name: 'IndicatorAlone', paths: [':indicator'], parameters: { ...SMA, indicatorOnly: true } },
];

export const CONTRACTS: readonly Variant[] = [
  ...singleVariant('OptionDay'),
  {
    name: 'OptionContract',
    paths: [':expiration', ':expiration/:side'],
    parameters: { expiration: '202602' },
  },
];
