// The table of indicators: the set of Tulip Indicators by name, with customary defaults.
import { FUNCTIONS, OPERATIONS, balance, meanPrice } from './arithmetic.ts';
import * as averages from './averages.ts';
import { fisher, parabolic, sineWave } from './cycles.ts';
import * as direction from './direction.ts';
import {
  amount,
  type BarField,
  type Indicator,
  type IndicatorOption,
  period,
  type Series,
} from './indicatorRow.ts';
import { forecastError, lineAt, slopes } from './lines.ts';
import * as momentum from './momentum.ts';
import * as oscillators from './oscillators.ts';
import { massIndex, standardError, volatility } from './spread.ts';
import * as volumes from './volumes.ts';
import * as windows from './windows.ts';

type Bars = Readonly<Record<BarField, Series>>;
type Numbers = readonly [number, number, number, number];
type Compute = (bars: Bars, options: Numbers) => Series | readonly Series[];

const isOne = (result: Series | readonly Series[]): result is Series =>
  result.length === 0 || typeof result[0] === 'number';
const NOTHING: Series = [];

function row(
  name: string,
  title: string,
  inputs: readonly BarField[],
  options: readonly IndicatorOption[],
  compute: Compute,
  outputs: readonly string[] = [name],
): Indicator {
  return {
    name,
    title,
    inputs,
    options,
    outputs,
    isOrdered: options[0]?.name === 'short' && options[1]?.name === 'long',
    compute: (series, values) => {
      const of = (field: BarField): Series => series[inputs.indexOf(field)] ?? NOTHING;
      const bars: Bars = {
        open: of('open'),
        high: of('high'),
        low: of('low'),
        close: of('close'),
        volume: of('volume'),
      };
      const [first = 0, second = 0, third = 0, fourth = 0] = values;
      const result = compute(bars, [first, second, third, fourth]);
      return isOne(result) ? outputs.map(() => result) : result;
    },
  };
}

const HL = ['high', 'low'] as const;
const HLC = ['high', 'low', 'close'] as const;
const HLCV = ['high', 'low', 'close', 'volume'] as const;
const CV = ['close', 'volume'] as const;

/** Of the close and one period. */
const ofClose = (
  name: string,
  title: string,
  bars: number,
  compute: (series: Series, period: number) => Series,
): Indicator =>
  row(name, title, ['close'], [period(bars)], ({ close }, [of]) => compute(close, of));

const ofRanges = (
  name: string,
  title: string,
  bars: number,
  compute: (ranges: direction.Ranges, period: number) => Series,
): Indicator => row(name, title, HLC, [period(bars)], (ranges, [of]) => compute(ranges, of));

const pair = (short: number, long: number): readonly IndicatorOption[] => [
  period(short, 'short'),
  period(long, 'long'),
];

const AVERAGES: readonly Indicator[] = [
  ofClose('sma', 'Simple moving average', 20, windows.means),
  ofClose('ema', 'Exponential moving average', 20, windows.exponential),
  ofClose('wma', 'Weighted moving average', 20, windows.weighted),
  ofClose('dema', 'Double exponential moving average', 20, averages.doubleExponential),
  ofClose('tema', 'Triple exponential moving average', 20, averages.tripleExponential),
  ofClose('trima', 'Triangular moving average', 20, averages.triangular),
  ofClose('hma', 'Hull moving average', 20, averages.hull),
  ofClose('kama', 'Kaufman adaptive moving average', 10, averages.adaptive),
  ofClose('wilders', 'Wilders smoothing', 14, windows.wilders),
  ofClose('zlema', 'Zero-lag exponential moving average', 20, averages.zeroLag),
  row('vwma', 'Volume-weighted moving average', CV, [period(20)], ({ close, volume }, [of]) =>
    averages.volumeWeighted(close, volume, of),
  ),
  row(
    'vidya',
    'Variable index dynamic average',
    ['close'],
    [...pair(9, 30), amount('alpha', 0.2, 1)],
    ({ close }, [short, long, alpha]) => averages.variableIndex(close, short, long, alpha),
  ),
  row(
    'bbands',
    'Bollinger bands',
    ['close'],
    [period(20), amount('stddev', 2, 100)],
    ({ close }, [of, widths]) => averages.bands(close, of, widths),
    ['bbands_lower', 'bbands_middle', 'bbands_upper'],
  ),
];

const MOMENTUM: readonly Indicator[] = [
  ofClose('rsi', 'Relative strength index', 14, momentum.strength),
  ofClose('stochrsi', 'Stochastic relative strength', 14, momentum.stochasticStrength),
  ofClose('cmo', 'Chande momentum oscillator', 14, momentum.chande),
  ofClose('mom', 'Momentum', 10, (series, of) =>
    windows.against(series, of, (now, before) => now - before),
  ),
  ofClose('roc', 'Rate of change', 10, (series, of) =>
    windows.against(series, of, (now, before) => (now - before) / before),
  ),
  ofClose('rocr', 'Rate of change ratio', 10, (series, of) =>
    windows.against(series, of, (now, before) => now / before),
  ),
  ofClose('trix', 'Trix', 15, momentum.tripleRate),
  ofClose('vhf', 'Vertical horizontal filter', 28, momentum.straightness),
  ofClose('dpo', 'Detrended price oscillator', 20, momentum.detrended),
  row('apo', 'Absolute price oscillator', ['close'], pair(12, 26), ({ close }, [short, long]) =>
    momentum.priceOscillator(close, short, long),
  ),
  row('ppo', 'Percentage price oscillator', ['close'], pair(12, 26), ({ close }, [short, long]) =>
    momentum.percentOscillator(close, short, long),
  ),
  row(
    'macd',
    'Moving average convergence/divergence',
    ['close'],
    [...pair(12, 26), period(9, 'signal')],
    ({ close }, [short, long, signal]) => momentum.convergence(close, [short, long, signal]),
    ['macd', 'macd_signal', 'macd_histogram'],
  ),
];

const RANGES: readonly Indicator[] = [
  row('tr', 'True range', HLC, [], (ranges) => direction.trueRanges(ranges)),
  ofRanges('atr', 'Average true range', 14, direction.averageRange),
  ofRanges('natr', 'Normalized average true range', 14, (ranges, of) =>
    windows.combined(
      direction.averageRange(ranges, of),
      ranges.close,
      (range, close) => (100 * range) / close,
    ),
  ),
  ofRanges('dx', 'Directional movement index', 14, direction.directionIndex),
  ofRanges('adx', 'Average directional movement index', 14, direction.averageDirection),
  ofRanges('adxr', 'Average directional movement rating', 14, direction.directionRating),
  row(
    'di',
    'Directional indicator',
    HLC,
    [period(14)],
    (ranges, [of]) => direction.indicatorsOfDirection(ranges, of),
    ['plus_di', 'minus_di'],
  ),
  row(
    'dm',
    'Directional movement',
    HL,
    [period(14)],
    (ranges, [of]) => direction.movementSums(ranges, of),
    ['plus_dm', 'minus_dm'],
  ),
  row(
    'aroon',
    'Aroon',
    HL,
    [period(14)],
    ({ high, low }, [of]) => oscillators.aroon(high, low, of),
    ['aroon_down', 'aroon_up'],
  ),
  row('aroonosc', 'Aroon oscillator', HL, [period(14)], ({ high, low }, [of]) => {
    const [down, up] = oscillators.aroon(high, low, of);
    return windows.combined(up, down, (above, below) => above - below);
  }),
  row(
    'stoch',
    'Stochastic oscillator',
    HLC,
    [period(14, 'k period'), period(3, 'k slowing period'), period(3, 'd period')],
    (ranges, [k, slowing, d]) => oscillators.stochastic(ranges, [k, slowing, d]),
    ['stoch_k', 'stoch_d'],
  ),
  ofRanges('willr', 'Williams %R', 14, oscillators.percentRange),
  ofRanges('cci', 'Commodity channel index', 20, ({ close, high, low }, of) =>
    oscillators.channel(meanPrice(high, low, close), of),
  ),
  row(
    'ultosc',
    'Ultimate oscillator',
    HLC,
    [period(7, 'short'), period(14, 'medium'), period(28, 'long')],
    (ranges, [short, medium, long]) => oscillators.ultimate(ranges, [short, medium, long]),
  ),
  row('ao', 'Awesome oscillator', HL, [], ({ high, low }) =>
    oscillators.awesome(meanPrice(high, low)),
  ),
  row('cvi', 'Chaikins volatility', HL, [period(10)], ({ high, low }, [of]) =>
    oscillators.rangeChange(
      windows.exponential(
        windows.combined(high, low, (top, bottom) => top - bottom),
        of,
      ),
      of,
    ),
  ),
  row('mass', 'Mass index', HL, [period(25)], ({ high, low }, [of]) => massIndex(high, low, of)),
  row(
    'psar',
    'Parabolic SAR',
    HL,
    [amount('acceleration step', 0.02, 1), amount('acceleration maximum', 0.2, 10)],
    ({ high, low }, [step, most]) => parabolic(high, low, step, most),
  ),
  row(
    'fisher',
    'Fisher transform',
    HL,
    [period(9)],
    ({ high, low }, [of]) => fisher(high, low, of),
    ['fisher', 'fisher_signal'],
  ),
];

const VOLUMES: readonly Indicator[] = [
  row('ad', 'Accumulation/distribution line', HLCV, [], (bars) =>
    volumes.accumulation(bars, bars.volume),
  ),
  row('adosc', 'Accumulation/distribution oscillator', HLCV, pair(3, 10), (bars, [short, long]) =>
    volumes.accumulationOscillator(volumes.accumulation(bars, bars.volume), short, long),
  ),
  row('obv', 'On balance volume', CV, [], ({ close, volume }) => volumes.onBalance(close, volume)),
  row('mfi', 'Money flow index', HLCV, [period(14)], ({ close, high, low, volume }, [of]) =>
    volumes.moneyFlow(meanPrice(high, low, close), volume, of),
  ),
  row('emv', 'Ease of movement', ['high', 'low', 'volume'], [], ({ high, low, volume }) =>
    volumes.easeOfMovement(high, low, volume),
  ),
  row('kvo', 'Klinger volume oscillator', HLCV, pair(34, 55), (bars, [short, long]) =>
    volumes.klinger(bars, bars.volume, [short, long]),
  ),
  row('marketfi', 'Market facilitation index', ['high', 'low', 'volume'], [], (bars) =>
    bars.high.map(
      (top, index) => (top - windows.at(bars.low, index)) / windows.at(bars.volume, index),
    ),
  ),
  row('nvi', 'Negative volume index', CV, [], ({ close, volume }) =>
    volumes.volumeIndex(close, volume, -1),
  ),
  row('pvi', 'Positive volume index', CV, [], ({ close, volume }) =>
    volumes.volumeIndex(close, volume, 1),
  ),
  row('vosc', 'Volume oscillator', ['volume'], pair(5, 10), ({ volume }, [short, long]) =>
    volumes.volumeOscillator(volume, short, long),
  ),
  row('wad', 'Williams accumulation/distribution', HLC, [], (bars) =>
    volumes.williamsAccumulation(bars),
  ),
];

const STATISTICS: readonly Indicator[] = [
  ofClose('stddev', 'Standard deviation over period', 20, windows.deviations),
  ofClose('var', 'Variance over period', 20, windows.variances),
  ofClose('stderr', 'Standard error over period', 20, standardError),
  ofClose('md', 'Mean deviation over period', 20, momentum.meanDistance),
  ofClose('min', 'Minimum in period', 20, windows.lows),
  ofClose('max', 'Maximum in period', 20, windows.highs),
  ofClose('sum', 'Sum over period', 20, windows.sums),
  ofClose('volatility', 'Annualized historical volatility', 20, volatility),
  ofClose('linreg', 'Linear regression', 14, (series, of) => lineAt(series, of, of - 1)),
  ofClose('linregintercept', 'Linear regression intercept', 14, (series, of) =>
    lineAt(series, of, 0),
  ),
  ofClose('linregslope', 'Linear regression slope', 14, slopes),
  ofClose('tsf', 'Time series forecast', 14, (series, of) => lineAt(series, of, of)),
  ofClose('fosc', 'Forecast oscillator', 14, forecastError),
  ofClose('lag', 'Lag', 1, momentum.lagged),
  ofClose('decay', 'Linear decay', 5, (series, of) =>
    momentum.decaying(series, (value) => value - 1 / of),
  ),
  ofClose('edecay', 'Exponential decay', 5, (series, of) =>
    momentum.decaying(series, (value) => value * (1 - 1 / of)),
  ),
  row('msw', 'Mesa sine wave', ['close'], [period(20)], ({ close }, [of]) => sineWave(close, of), [
    'msw_sine',
    'msw_lead',
  ]),
];

const PRICES: readonly Indicator[] = [
  row('typprice', 'Typical price', HLC, [], ({ close, high, low }) => meanPrice(high, low, close)),
  row('medprice', 'Median price', HL, [], ({ high, low }) => meanPrice(high, low)),
  row('avgprice', 'Average price', ['open', ...HLC], [], ({ close, high, low, open }) =>
    meanPrice(open, high, low, close),
  ),
  row('wcprice', 'Weighted close price', HLC, [], ({ close, high, low }) =>
    meanPrice(high, low, close, close),
  ),
  row('bop', 'Balance of power', ['open', ...HLC], [], ({ close, high, low, open }) =>
    balance(open, high, low, close),
  ),
  row('qstick', 'Qstick', ['open', 'close'], [period(10)], ({ close, open }, [of]) =>
    windows.means(
      windows.combined(close, open, (last, first) => last - first),
      of,
    ),
  ),
  row('crossany', 'High and low cross', HL, [], ({ high, low }) =>
    momentum.crossings(high, low, true),
  ),
  row('crossover', 'High crosses over low', HL, [], ({ high, low }) =>
    momentum.crossings(high, low, false),
  ),
  ...FUNCTIONS.map(([name, title, compute]) =>
    row(name, title, ['close'], [], ({ close }) => windows.mapped(close, compute)),
  ),
  ...OPERATIONS.map(([name, title, compute]) =>
    row(name, title, HL, [], ({ high, low }) => windows.combined(high, low, compute)),
  ),
];

export const INDICATORS: readonly Indicator[] = [
  ...AVERAGES,
  ...MOMENTUM,
  ...RANGES,
  ...VOLUMES,
  ...STATISTICS,
  ...PRICES,
].toSorted((left, right) => (left.name < right.name ? -1 : 1));

const BY_NAME: ReadonlyMap<string, Indicator> = new Map(
  INDICATORS.map((indicator) => [indicator.name, indicator]),
);

/** By its name, in any case. */
export const indicatorOf = (name: string): Indicator | undefined => BY_NAME.get(name.toLowerCase());
