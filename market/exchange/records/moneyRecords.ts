// Synthetic currencies, crypto currencies and economic series: random walks that continue from session to
// session.
import { sessionsBetween } from '../../../query/time/calendar.ts';
import { addDays, type Day } from '../../../query/time/days.ts';
import type { SampledMarket } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';
import { hoursOf, retainedFrom } from '../exchange.ts';
import { FOUNDED } from '../listings.ts';

interface Walk {
  readonly name: string;
  readonly start: number;
  /** Of one session: a share of the value, or its own unit where it may be near zero. */
  readonly step: number;
  readonly decimals: number;
}

const walk = (name: string, start: number, step: number, decimals: number): Walk => ({
  name,
  start,
  step,
  decimals,
});

const PAIRS: readonly Walk[] = [
  walk('EURUSD', 1.25, 0.004, 5),
  walk('GBPUSD', 1.5, 0.004, 5),
  walk('USDJPY', 100, 0.004, 3),
  walk('USDCAD', 1.2, 0.003, 5),
  walk('USDCHF', 1, 0.003, 5),
];

const MATURITIES = ['30', '20', '10', '7', '5', '3', '2', '1', '6MO', '3MO', '1MO'];

/** Series that clients of the original request, by its ids. */
const SERIES = {
  TREASURY: MATURITIES.map((name, at) => walk(`DGS${name}`, 4 - at * 0.2, 0.01, 2)),
  RATES: [
    walk('TERMCBCCALLNS', 15, 0.002, 2),
    walk('MMNRNJ', 0.2, 0.01, 2),
    walk('MMNRJD', 0.3, 0.01, 2),
  ],
  ENERGY: [
    walk('DCOILWTICO', 70, 0.015, 2),
    walk('DCOILBRENTEU', 74, 0.015, 2),
    walk('DHHNGSP', 3.4, 0.02, 2),
    walk('DHOILNYH', 2.2, 0.015, 3),
    walk('DJFUELUSGULF', 2.1, 0.015, 3),
    walk('GASREGCOVW', 2.8, 0.008, 3),
  ],
  MORTGAGE: ['30', '15', '5'].map((years, at) =>
    walk(`MORTGAGE${years}US`, 4.6 - at * 0.5, 0.005, 2),
  ),
  ECONOMIC: [
    walk('FEDFUNDS', 2.1, 0.006, 2),
    walk('CPIAUCSL', 220, 4e-4, 3),
    walk('UNRATE', 6, 0.006, 1),
    walk('A191RL1Q225SBEA', 2.2, 0.01, 1),
    walk('INDPRO', 95, 0.001, 4),
    walk('PAYEMS', 131e3, 3e-4, 0),
  ],
} as const satisfies Readonly<Record<string, readonly Walk[]>>;

const COINS: readonly Walk[] = [walk('BTCUSD', 9_000, 0.02, 1), walk('ETHUSD', 400, 0.025, 2)];

/** Random stream of these walks. */
const MONEY = 9;

/** The value of each session since the founding. */
function* valuesOf(seed: number, one: Walk, until: Day): Generator<readonly [Day, number]> {
  const letters = [...one.name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) | 0;
  let value = one.start;
  for (const [at, day] of sessionsBetween(FOUNDED, until).entries()) {
    const { normal } = seededRandom(seed, letters, at, MONEY);
    // Mean reversion over some years.
    const back = Math.log(one.start / value) * 0.002;
    value *= Math.exp(one.step * normal() + back);
    yield [day, Number(value.toFixed(one.decimals))];
  }
}

function* walked(market: SampledMarket, walks: readonly Walk[]): Generator<string> {
  const { after, shape, session } = market;
  const { days } = retainedFrom(shape, session);
  const next = after === undefined ? days : addDays(after, 1);
  const from = next > days ? next : days;
  for (const one of walks) {
    for (const [day, value] of valuesOf(shape.seed, one, session.closed)) {
      if (day >= from) yield `${one.name},${day},${value}\n`;
    }
  }
}

export function* rateLines(market: SampledMarket): Generator<string> {
  yield 'symbol,date,rate\n';
  yield* walked(market, PAIRS);
}

export const seriesLines = (input: keyof typeof SERIES) =>
  function* lines(market: SampledMarket): Generator<string> {
    yield 'key,date,value\n';
    yield* walked(market, SERIES[input]);
  };

interface Coin {
  readonly symbol: string;
  readonly time: string;
  readonly before: number;
  readonly last: number;
  readonly decimals: number;
}

/** Each coin at the end of the latest session. */
function* coins({ shape, session }: SampledMarket): Generator<Coin> {
  const { minutes, openMs } = hoursOf(session.closed);
  const time = new Date(openMs + minutes * 60_000).toISOString();
  for (const one of COINS) {
    const [before, last] = [...valuesOf(shape.seed, one, session.closed)].slice(-2);
    if (before === undefined || last === undefined) continue;
    const { decimals, name: symbol } = one;
    yield { symbol, time, before: before[1], last: last[1], decimals };
  }
}

const SPREAD = 0.0004;

const around = ({ decimals, last }: Coin, share: number): string =>
  (last * (1 + share)).toFixed(decimals);

export function* coinLines(market: SampledMarket): Generator<string> {
  yield (
    'symbol,latestUpdate,primaryExchange,latestPrice,latestVolume,bidPrice,bidSize,askPrice,askSize,' +
    'high,low,previousClose\n'
  );
  for (const coin of coins(market)) {
    const offers = [around(coin, -SPREAD), '0.5', around(coin, SPREAD), '0.7'];
    const day = [around(coin, 0.02), around(coin, -0.02), coin.before];
    const head = [coin.symbol, coin.time, 'Synthetic exchange', coin.last, '1250.5'];
    yield `${[...head, ...offers, ...day].join(',')}\n`;
  }
}

export function* coinBookLines(market: SampledMarket): Generator<string> {
  yield 'symbol,time,bids,asks\n';
  for (const coin of coins(market)) {
    const side = (sign: -1 | 1): string => {
      const levels = [1, 2, 3].map((place) => ({
        price: around(coin, sign * SPREAD * place),
        size: `${place}.5`,
        timestamp: Date.parse(coin.time),
      }));
      return `"${JSON.stringify(levels).replaceAll('"', '""')}"`;
    };
    yield `${coin.symbol},${coin.time},${side(-1)},${side(1)}\n`;
  }
}
