// A second implementation of indicators, each value computed from its definition: slices, closed forms of
// averages, and no state from bar to bar unless the definition has one.
import {
  NO,
  get,
  add,
  mean,
  spread,
  share,
  over,
  zip,
  minus,
  before,
  from,
  decayed,
  ema,
  wilder,
  wma,
  type Values,
} from './oracleWindows.ts';

export interface Bars {
  readonly open: Values;
  readonly high: Values;
  readonly low: Values;
  readonly close: Values;
  readonly volume: Values;
}

type Definition = (bars: Bars, options: Values) => readonly Values[];

const up = (values: Values): Values =>
  minus(values, before(values, 1)).map((step) => (step > 0 ? step : step <= 0 ? 0 : NO));
const down = (values: Values): Values => up(values.map((value) => -value));
const low = (values: Values, period: number): Values =>
  over(values, period, (window) => Math.min(...window));
const high = (values: Values, period: number): Values =>
  over(values, period, (window) => Math.max(...window));
const rsi = (values: Values, period: number): Values =>
  zip(wilder(up(values), period), wilder(down(values), period), (a, b) => share(100 * a, a + b));
const typical = (bars: Bars): Values =>
  bars.close.map((close, at) => (close + get(bars.high, at) + get(bars.low, at)) / 3);
const median = (bars: Bars): Values => zip(bars.high, bars.low, (a, b) => (a + b) / 2);
const range = (bars: Bars): Values => {
  const highs = bars.close.map((_, at) => Math.max(get(bars.high, at), get(bars.close, at - 1)));
  const least = bars.close.map((_, at) => Math.min(get(bars.low, at), get(bars.close, at - 1)));
  return bars.close.map((_, at) =>
    at === 0 ? get(bars.high, 0) - get(bars.low, 0) : get(highs, at) - get(least, at),
  );
};
/** Ordinary least squares by the two normal equations, at a bar counted from 0. */
const fit = (window: Values): { readonly a: number; readonly b: number } => {
  const count = window.length;
  const x = add(window.map((_, at) => at));
  const xx = add(window.map((_, at) => at * at));
  const xy = add(window.map((value, at) => at * value));
  const y = add(window);
  const b = count === 1 ? 0 : (count * xy - x * y) / (count * xx - x * x);
  return { a: (y - b * x) / count, b };
};
const moved = (bars: Bars): readonly [Values, Values] => {
  const rise = minus(bars.high, before(bars.high, 1));
  const fall = minus(before(bars.low, 1), bars.low);
  return [
    zip(rise, fall, (a, b) => (Number.isNaN(a) ? NO : a > b && a > 0 ? a : 0)),
    zip(fall, rise, (a, b) => (Number.isNaN(a) ? NO : a > b && a > 0 ? a : 0)),
  ];
};
/** Sums that drop one part of a period with each bar. */
const forgetting = (values: Values, period: number): Values =>
  values.map((_, index) => {
    if (index < Math.max(1, period - 1)) return NO;
    const factor = (period - 1) / period;
    let sum = 0;
    for (let at = 1; at <= index; at += 1) {
      sum += get(values, at) * factor ** Math.max(0, Math.min(index - at, index - period + 1));
    }
    return sum;
  });
const dx = (bars: Bars, period: number): Values => {
  const [plus, less] = moved(bars).map((values) => forgetting(values, period));
  return zip(plus ?? [], less ?? [], (a, b) => share(100 * Math.abs(a - b), a + b));
};
const aroon = (bars: Bars, period: number): readonly [Values, Values] => {
  const age = (extreme: (...values: readonly number[]) => number) => (window: Values) =>
    (100 * window.lastIndexOf(extreme(...window))) / period;
  return [over(bars.low, period + 1, age(Math.min)), over(bars.high, period + 1, age(Math.max))];
};
const flow = (bars: Bars): Values =>
  bars.close.map((_, index) =>
    add(
      bars.close.slice(0, index + 1).map((close, at) => {
        const [top, bottom] = [get(bars.high, at), get(bars.low, at)];
        return share(2 * close - top - bottom, top - bottom) * get(bars.volume, at);
      }),
    ),
  );
const convergence = (
  close: Values,
  [short = 0, long = 0, signal = 0]: Values,
): readonly Values[] => {
  const [fast, slow] =
    short === 12 && long === 26 ? [0.15, 0.075] : [2 / (short + 1), 2 / (long + 1)];
  const line = from(minus(decayed(close, fast), decayed(close, slow)), long - 1);
  return [line, ema(line, signal), minus(line, ema(line, signal))];
};
const ultimate = (bars: Bars, periods: Values): Values => {
  const pressure = bars.close.map(
    (close, at) => close - Math.min(get(bars.low, at), at === 0 ? NO : get(bars.close, at - 1)),
  );
  const sums = periods.map((period) =>
    zip(over(pressure, period, add), over(from(range(bars), 1), period, add), share),
  );
  return bars.close.map((_, at) => {
    const [a = NO, b = NO, c = NO] = sums.map((values) => get(values, at));
    return (100 * (4 * a + 2 * b + c)) / 7;
  });
};

const ofOne =
  (compute: (close: Values, period: number) => Values): Definition =>
  ({ close }, [period = 0]) => [compute(close, period)];
const ofBars =
  (compute: (bars: Bars, period: number) => Values): Definition =>
  (bars, [period = 0]) => [compute(bars, period)];
const ofEach =
  (compute: (value: number) => number): Definition =>
  ({ close }) => [close.map((value) => compute(value))];
const ofPair =
  (compute: (high: number, low: number) => number): Definition =>
  (bars) => [zip(bars.high, bars.low, compute)];

export const DEFINITIONS: Readonly<Record<string, Definition>> = {
  sma: ofOne((close, period) => over(close, period, mean)),
  ema: ofOne(ema),
  wma: ofOne(wma),
  wilders: ofOne(wilder),
  dema: ofOne((close, period) => {
    const once = ema(close, period);
    const twice = ema(from(once, period - 1), period);
    return from(
      zip(once, twice, (a, b) => 2 * a - b),
      2 * period - 2,
    );
  }),
  tema: ofOne((close, period) => {
    const once = ema(close, period);
    const twice = ema(from(once, period - 1), period);
    const thrice = ema(from(twice, 2 * period - 2), period);
    const out = once.map((a, at) => 3 * (a - get(twice, at)) + get(thrice, at));
    return from(out, 3 * period - 3);
  }),
  trima: ofOne((close, period) =>
    over(close, period, (window) => {
      const weights = window.map((_, at) => Math.min(at + 1, period - at));
      return add(window.map((value, at) => value * (weights[at] ?? 0))) / add(weights);
    }),
  ),
  hma: ofOne((close, period) => {
    const half = wma(close, Math.max(1, Math.trunc(period / 2)));
    const raw = zip(half, wma(close, period), (a, b) => 2 * a - b);
    return wma(raw, Math.max(1, Math.trunc(period ** 0.5)));
  }),
  vwma: ofBars(({ close, volume }, period) =>
    close.map((_, at) => {
      if (at < period - 1) return NO;
      const bars = Array.from({ length: period }, (_one, back) => at - back);
      const shares = add(bars.map((bar) => get(volume, bar)));
      return add(bars.map((bar) => get(close, bar) * get(volume, bar))) / shares;
    }),
  ),
  rsi: ofOne(rsi),
  stochrsi: ofOne((close, period) =>
    over(rsi(close, period), period, (window) => {
      const least = Math.min(...window);
      const width = Math.max(...window) - least;
      return width < 1e-9 ? 0 : ((window.at(-1) ?? NO) - least) / width;
    }),
  ),
  cmo: ofOne((close, period) =>
    zip(over(up(close), period, add), over(down(close), period, add), (a, b) =>
      share(100 * (a - b), a + b),
    ),
  ),
  mom: ofOne((close, period) => minus(close, before(close, period))),
  roc: ofOne((close, period) => zip(close, before(close, period), (a, b) => a / b - 1)),
  rocr: ofOne((close, period) => zip(close, before(close, period), (a, b) => a / b)),
  trix: ofOne((close, period) => {
    const twice = ema(from(ema(close, period), period - 1), period);
    const thrice = ema(from(twice, 2 * period - 2), period);
    return from(
      zip(thrice, before(thrice, 1), (a, b) => 100 * (1 - b / a)),
      3 * period - 2,
    );
  }),
  vhf: ofOne((close, period) =>
    over(close, period + 1, (window) => {
      const way = add(window.slice(1).map((value, at) => Math.abs(value - get(window, at))));
      const newest = window.slice(1);
      return share(Math.max(...newest) - Math.min(...newest), way);
    }),
  ),
  dpo: ofOne((close, period) =>
    minus(before(close, Math.trunc(period / 2) + 1), over(close, period, mean)),
  ),
  apo: ({ close }, [short = 0, long = 0]) => [from(minus(ema(close, short), ema(close, long)), 1)],
  ppo: ({ close }, [short = 0, long = 0]) => [
    from(
      zip(ema(close, short), ema(close, long), (a, b) => 100 * (a / b - 1)),
      1,
    ),
  ],
  macd: ({ close }, options) => convergence(close, options),
  bbands: ({ close }, [period = 0, widths = 0]) =>
    [-1, 0, 1].map((side) =>
      over(close, period, (window) => mean(window) + side * widths * spread(window)),
    ),
  stddev: ofOne((close, period) => over(close, period, spread)),
  var: ofOne((close, period) => over(close, period, (window) => spread(window) ** 2)),
  stderr: ofOne((close, period) =>
    over(close, period, (window) => spread(window) / Math.sqrt(window.length)),
  ),
  md: ofOne((close, period) =>
    over(close, period, (window) => mean(window.map((value) => Math.abs(value - mean(window))))),
  ),
  min: ofOne(low),
  max: ofOne(high),
  sum: ofOne((close, period) => over(close, period, add)),
  lag: ofOne(before),
  volatility: ofOne((close, period) => {
    const steps = zip(close, before(close, 1), (a, b) => a / b - 1);
    return over(steps, period, (window) => spread(window) * Math.sqrt(252));
  }),
  linreg: ofOne((close, period) =>
    over(close, period, (window) => fit(window).a + fit(window).b * (period - 1)),
  ),
  linregintercept: ofOne((close, period) => over(close, period, (window) => fit(window).a)),
  linregslope: ofOne((close, period) => over(close, period, (window) => fit(window).b)),
  tsf: ofOne((close, period) =>
    over(close, period, (window) => fit(window).a + fit(window).b * period),
  ),
  fosc: ofOne((close, period) => {
    const next = over(close, period, (window) => fit(window).a + fit(window).b * period);
    return zip(close, before(next, 1), (a, b) => 100 * (1 - b / a));
  }),
  tr: ofBars(range),
  atr: ofBars((bars, period) => wilder(range(bars), period)),
  natr: ofBars((bars, period) =>
    zip(wilder(range(bars), period), bars.close, (a, b) => (a / b) * 100),
  ),
  dm: (bars, [period = 0]) => moved(bars).map((values) => forgetting(values, period)),
  di: (bars, [period = 0]) =>
    moved(bars).map((values) =>
      zip(forgetting(values, period), forgetting(range(bars), period), (a, b) => share(100 * a, b)),
    ),
  dx: ofBars(dx),
  adx: ofBars((bars, period) => wilder(dx(bars, period), period)),
  adxr: ofBars((bars, period) => {
    const adx = wilder(dx(bars, period), period);
    return zip(adx, before(adx, period - 1), (a, b) => (a + b) / 2);
  }),
  aroon: (bars, [period = 0]) => aroon(bars, period),
  aroonosc: ofBars((bars, period) => {
    const [below, above] = aroon(bars, period);
    return minus(above, below);
  }),
  stoch: (bars, [k = 0, slowing = 0, d = 0]) => {
    const [least, most] = [low(bars.low, k), high(bars.high, k)];
    const fast = bars.close.map((close, at) =>
      share(100 * (close - get(least, at)), get(most, at) - get(least, at)),
    );
    const slow = over(fast, slowing, mean);
    return [from(slow, k + slowing + d - 3), over(slow, d, mean)];
  },
  willr: ofBars((bars, period) => {
    const [least, most] = [low(bars.low, period), high(bars.high, period)];
    return bars.close.map((close, at) =>
      share(-100 * (get(most, at) - close), get(most, at) - get(least, at)),
    );
  }),
  cci: ofBars((bars, period) => {
    const values = over(typical(bars), period, (window) => {
      const away = mean(window.map((value) => Math.abs(value - mean(window))));
      return share((window.at(-1) ?? NO) - mean(window), 0.015 * away);
    });
    return from(values, 2 * period - 2);
  }),
  ultosc: (bars, options) => [ultimate(bars, options)],
  ao: ofBars((bars) => minus(over(median(bars), 5, mean), over(median(bars), 34, mean))),
  cvi: ofBars((bars, period) => {
    const width = ema(minus(bars.high, bars.low), period);
    return from(
      zip(width, before(width, period), (a, b) => share(100 * (a - b), b)),
      2 * period - 1,
    );
  }),
  mass: ofBars((bars, period) => {
    const once = ema(minus(bars.high, bars.low), 9);
    const twice = ema(from(once, 8), 9);
    return over(from(zip(once, twice, share), 16), period, add);
  }),
  ad: ofBars(flow),
  adosc: (bars, [short = 0, long = 0]) => [
    from(minus(ema(flow(bars), short), ema(flow(bars), long)), long - 1),
  ],
  obv: ofBars(({ close, volume }) =>
    close.map((_, index) =>
      add(
        close
          .slice(1, index + 1)
          .map((value, at) => Math.sign(value - get(close, at)) * get(volume, at + 1)),
      ),
    ),
  ),
  mfi: ofBars((bars, period) => {
    const price = typical(bars);
    const steps = minus(price, before(price, 1));
    const money = zip(price, bars.volume, (a, b) => a * b);
    const side = (sign: number): Values =>
      zip(steps, money, (step, value) =>
        Number.isNaN(step) ? NO : Math.sign(step) === sign ? value : 0,
      );
    return zip(over(side(1), period, add), over(side(-1), period, add), (a, b) =>
      share(100 * a, a + b),
    );
  }),
  emv: ofBars((bars) => {
    const steps = minus(median(bars), before(median(bars), 1));
    const width = minus(bars.high, bars.low);
    return steps.map((step, at) => (step * get(width, at) * 10_000) / get(bars.volume, at));
  }),
  marketfi: ofBars((bars) =>
    zip(minus(bars.high, bars.low), bars.volume, (width, shares) => width / shares),
  ),
  nvi: ofBars((bars) => index(bars, (now, last) => now < last)),
  pvi: ofBars((bars) => index(bars, (now, last) => now > last)),
  vosc: ({ volume }, [short = 0, long = 0]) => [
    zip(over(volume, short, mean), over(volume, long, mean), (a, b) => 100 * (a / b - 1)),
  ],
  wad: ofBars((bars) => {
    const gains = bars.close.map((close, at) => {
      const last = get(bars.close, at - 1);
      if (close > last) return close - Math.min(get(bars.low, at), last);
      return close < last ? close - Math.max(get(bars.high, at), last) : 0;
    });
    return from(
      gains.map((_, at) => add(gains.slice(1, at + 1))),
      1,
    );
  }),
  typprice: ofBars(typical),
  medprice: ofBars(median),
  avgprice: ofBars((bars) =>
    zip(
      median(bars),
      zip(bars.open, bars.close, (a, b) => (a + b) / 2),
      (a, b) => (a + b) / 2,
    ),
  ),
  wcprice: ofBars((bars) => zip(median(bars), bars.close, (a, b) => (a + b) / 2)),
  bop: ofBars((bars) =>
    zip(minus(bars.close, bars.open), minus(bars.high, bars.low), (a, b) => share(a, b)),
  ),
  qstick: ofBars((bars, period) => over(minus(bars.close, bars.open), period, mean)),
  add: ofPair((a, b) => b + a),
  sub: ofPair((a, b) => -(b - a)),
  mul: ofPair((a, b) => b * a),
  div: ofPair((a, b) => a * (1 / b)),
  crossany: ofBars(widening),
  crossover: ofBars(widening),
  zlema: ofOne(zeroLag),
  kama: ofOne(kaufman),
  vidya: ({ close }, options) => [variable(close, options)],
  fisher: (bars, [period = 0]) => fisher(bars, period),
  kvo: (bars, options) => [klinger(bars, options)],
  msw: ({ close }, [period = 0]) => sineWave(close, period),
  psar: (bars, options) => [parabolic(bars, options)],
  decay: ofOne((close, period) =>
    close.map((_, end) =>
      Math.max(...close.slice(0, end + 1).map((value, at) => value - (end - at) / period)),
    ),
  ),
  edecay: ofOne((close, period) =>
    close.map((_, end) =>
      Math.max(
        ...close.slice(0, end + 1).map((value, at) => value * (1 - 1 / period) ** (end - at)),
      ),
    ),
  ),
  abs: ofEach((value) => (value < 0 ? -value : value)),
  acos: ofEach((value) => Math.PI / 2 - Math.asin(value)),
  asin: ofEach((value) => Math.atan2(value, Math.sqrt(1 - value * value))),
  atan: ofEach((value) => Math.atan2(value, 1)),
  ceil: ofEach((value) => -Math.floor(-value)),
  cos: ofEach((value) => Math.sin(value + Math.PI / 2)),
  cosh: ofEach((value) => (Math.exp(value) + Math.exp(-value)) / 2),
  exp: ofEach((value) => Math.E ** value),
  floor: ofEach((value) => value - (((value % 1) + 1) % 1)),
  ln: ofEach((value) => Math.log2(value) * Math.LN2),
  log10: ofEach((value) => Math.log(value) / Math.LN10),
  round: ofEach((value) => Math.floor(value + 0.5)),
  sin: ofEach((value) => Math.cos(value - Math.PI / 2)),
  sinh: ofEach((value) => (Math.exp(value) - Math.exp(-value)) / 2),
  sqrt: ofEach((value) => value ** 0.5),
  tan: ofEach((value) => Math.sin(value) / Math.cos(value)),
  tanh: ofEach((value) => 1 - 2 / (Math.exp(2 * value) + 1)),
  todeg: ofEach((value) => (value / Math.PI) * 180),
  torad: ofEach((value) => (value / 180) * Math.PI),
  trunc: ofEach((value) => value - (value % 1)),
};

/** Computes each value from the one before it and its bar, from bar `start` on. */
function chained(
  length: number,
  start: number,
  first: number,
  step: (last: number, at: number) => number,
): Values {
  const values: number[] = [];
  return Array.from({ length }, (_, at) => {
    const value = at < start ? NO : at === start ? first : step(get(values, at - 1), at);
    values.push(value);
    return value;
  });
}

function zeroLag(close: Values, period: number): Values {
  const lag = Math.trunc((period - 1) / 2);
  const alpha = 2 / (period + 1);
  const start = Math.max(0, lag - 1);
  return chained(close.length, start, get(close, start), (last, at) => {
    const ahead = get(close, at) + (get(close, at) - get(close, at - lag));
    return alpha * ahead + (1 - alpha) * last;
  });
}

function kaufman(close: Values, period: number): Values {
  const start = period - 1;
  return chained(close.length, start, get(close, start), (last, at) => {
    const window = close.slice(at - period, at + 1);
    const way = add(window.slice(1).map((value, bar) => Math.abs(value - get(window, bar))));
    const ratio = way === 0 ? 1 : Math.abs(get(close, at) - get(close, at - period)) / way;
    const alpha = (ratio * 2) / 3 + ((1 - ratio) * 2) / 31;
    return alpha ** 2 * get(close, at) + (1 - alpha ** 2) * last;
  });
}

function variable(close: Values, [short = 0, long = 0, alpha = 0]: Values): Values {
  const start = Math.max(0, long - 2);
  const [narrow, wide] = [over(close, short, spread), over(close, long, spread)];
  return chained(close.length, start, get(close, start), (last, at) => {
    const part = alpha * share(get(narrow, at), get(wide, at));
    return part * get(close, at) + (1 - part) * last;
  });
}

function fisher(bars: Bars, period: number): readonly Values[] {
  const middle = median(bars);
  const place = over(middle, period, (window) => {
    const least = Math.min(...window);
    return ((window.at(-1) ?? NO) - least) / (Math.max(...window) - least || 0.001) - 0.5;
  });
  const limited = (value: number): number => Math.min(0.999, Math.max(-0.999, value));
  const first = limited(0.66 * get(place, period - 1));
  const values = chained(middle.length, period - 1, first, (last, at) =>
    limited(0.66 * get(place, at) + 0.67 * last),
  );
  const out = chained(
    middle.length,
    period - 1,
    Math.atanh(first),
    (last, at) => Math.atanh(get(values, at)) + last / 2,
  );
  return [
    out,
    out.map((_, at) => (at < period - 1 ? NO : at === period - 1 ? 0 : get(out, at - 1))),
  ];
}

function klinger(bars: Bars, [short = 0, long = 0]: Values): Values {
  const sum = typical(bars);
  const width = minus(bars.high, bars.low);
  const trend = (at: number): number => {
    const sign = at < 1 ? -1 : Math.sign(get(sum, at) - get(sum, at - 1));
    return sign === 0 ? trend(at - 1) : sign;
  };
  const force = bars.close.map((_, at) => {
    if (at === 0) return NO;
    // Since the trend turned, with the bar before that.
    let turn = at;
    while (turn > 1 && trend(turn - 1) === trend(at)) turn -= 1;
    const reach = add(width.slice(turn - 1, at + 1));
    const part = Math.abs(2 * share(get(width, at), reach) - 1);
    return 100 * get(bars.volume, at) * part * trend(at);
  });
  return minus(ema(force, short), ema(force, long));
}

function sineWave(close: Values, period: number): readonly Values[] {
  const phases = from(
    over(close, period, (window) => {
      const newest = window.toReversed();
      const turn = (2 * Math.PI) / period;
      const real = add(newest.map((value, back) => value * Math.cos(turn * back)));
      const imaginary = add(newest.map((value, back) => value * Math.sin(turn * back)));
      const isFlat = Math.abs(real) <= 0.001;
      // A remainder of rounding around zero has no sign.
      const none = -1e-12 * add(window.map(Math.abs));
      const angle = isFlat
        ? (imaginary < none ? -Math.PI : Math.PI) + (real < none ? Math.PI : 0)
        : Math.atan2(imaginary, real);
      return angle;
    }),
    period,
  );
  // A quarter of a wave ahead.
  return [phases.map(Math.cos), phases.map((angle) => Math.cos(angle + Math.PI / 4))];
}

/** Wilder's rules over the full history: long or short, and each stop from all bars since the reversal. */
function parabolic({ high: highs, low: lows }: Bars, [step = 0, most = 0]: Values): Values {
  const out: number[] = highs.map(() => NO);
  const rises = get(highs, 0) + get(lows, 0) <= get(highs, 1) + get(lows, 1);
  let isLong = rises;
  let stop = rises ? get(lows, 0) : get(highs, 0);
  let best = rises ? get(highs, 0) : get(lows, 0);
  let speed = step;
  for (let at = 1; at < highs.length; at += 1) {
    const two = [at - 1, at - 2].filter((bar) => bar >= 0);
    stop = stop * (1 - speed) + best * speed;
    if (isLong) {
      stop = Math.min(stop, ...two.map((bar) => get(lows, bar)));
      if (get(highs, at) > best) {
        best = get(highs, at);
        if (speed < most) speed = Math.min(most, speed + step);
      }
    } else {
      stop = Math.max(stop, ...two.map((bar) => get(highs, bar)));
      if (get(lows, at) < best) {
        best = get(lows, at);
        if (speed < most) speed = Math.min(most, speed + step);
      }
    }
    if (isLong ? get(lows, at) < stop : get(highs, at) > stop) {
      stop = best;
      isLong = !isLong;
      best = isLong ? get(highs, at) : get(lows, at);
      speed = step;
    }
    out[at] = stop;
  }
  return out;
}

/** Highs are never below lows: they cross where a bar has a range after one without. */
function widening({ high: highs, low: lows }: Bars): Values {
  return highs.map((top, at) => {
    const was = get(highs, at - 1) === get(lows, at - 1);
    return at === 0 ? NO : was && top !== get(lows, at) ? 1 : 0;
  });
}

/** Starts at 1,000 and applies each change of the close on the days that the rule selects. */
function index({ close, volume }: Bars, counts: (now: number, last: number) => boolean): Values {
  return close.map((_, end) =>
    close
      .slice(1, end + 1)
      .reduce(
        (value, price, at) =>
          counts(get(volume, at + 1), get(volume, at)) ? (value * price) / get(close, at) : value,
        1_000,
      ),
  );
}
