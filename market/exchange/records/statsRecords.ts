// Daily volumes of the synthetic exchange as CSV: the sum of its daily bars.
import { addDays, type Day } from '../../../query/time/days.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { hoursOf, retainedFrom } from '../exchange.ts';
import { VENUES } from '../venues.ts';

interface Sum {
  volume: number;
  symbols: number;
  /** Cents. */
  notional: number;
}

const DARK = 'ZSYD';
/** Share of the volume. */
const LIT = 1 - (VENUES.find(({ mic }) => mic === DARK)?.share ?? 0);
const MINUTES_OF_DAY = 390;

export function* exchangeLines(market: SampledMarket): Generator<string> {
  const { after, shape, session } = market;
  const { days } = retainedFrom(shape, session);
  const next = after === undefined ? days : addDays(after, 1);
  const from = next > days ? next : days;
  const sums = new Map<Day, Sum>();
  for (const [, { bars }] of histories(market)) {
    for (const { close, day, high, low, open, volume } of bars) {
      if (day < from || day > session.closed) continue;
      const sum = sums.get(day) ?? { volume: 0, symbols: 0, notional: 0 };
      sum.volume += volume;
      sum.symbols += 1;
      sum.notional += Math.round((volume * (open + high + low + close)) / 4);
      sums.set(day, sum);
    }
  }
  yield 'date,volume,symbolsTraded,routedVolume,litVolume,notional,marketShare,isHalfday\n';
  // It is the whole market: nothing is routed to others.
  for (const [day, { notional, symbols, volume }] of [...sums].sort(byDay)) {
    const isHalf = hoursOf(day).minutes < MINUTES_OF_DAY;
    const values = [day, volume, symbols, 0, Math.round(volume * LIT), notional / 100, 1, isHalf];
    yield `${values.join(',')}\n`;
  }
}

const byDay = ([one]: readonly [Day, Sum], [other]: readonly [Day, Sum]): number =>
  one < other ? -1 : 1;
