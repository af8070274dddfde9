// Law: no data are shown before their delay has passed, to the millisecond. Two feeds that are equal up to an
// instant, and differ after it, give equal answers to a caller who may see no more.
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../../../market/derive/values.ts';
import type { TypeRequest, Need } from '../../../market/types/typeRequest.ts';
import { MARKET_TYPES, type MarketType } from '../../../market/types/marketTypes.ts';
import { type Report, seeded, type Seeded } from '../../soak/crash/rounds/seeded.ts';

interface LawOptions {
  readonly seed: number;
  readonly count: number;
}

const TODAY = '2024-02-29';
const OPEN_MS = Date.parse('2024-02-29T14:30:00Z');
const DELAY_MS = 15 * 60_000;

/** For indicators: the price itself, over the minutes of the day. */
const optionsFor = ({ part }: MarketType): TypeRequest['options'] =>
  part === 'indicator' ? { range: '1d', indicator: 'sma', input1: 1 } : {};

export function delayLaw({ count, seed }: LawOptions): Report {
  const random = seeded(seed);
  const failures: string[] = [];
  let differenceCount = 0;
  for (let at = 0; at < count; at += 1) {
    const nowMs = OPEN_MS + random.between(0, 7 * 3_600_000);
    const untilMs = nowMs - DELAY_MS;
    const [one, other] = feedsUpTo(untilMs, nowMs, random);
    for (const type of MARKET_TYPES) {
      const ask: TypeRequest = {
        symbol: 'X',
        nowMs,
        untilMs,
        today: TODAY,
        options: optionsFor(type),
      };
      const answer = (feed: Feed): unknown => type.answer(ask, (need) => recordsOf(feed, need));
      if (!isDeepStrictEqual(answer(one), answer(other))) {
        failures.push(`feed ${at}: ${type.name} shows data younger than ${DELAY_MS} ms`);
      }
      // A caller who sees everything gets the difference from some type: else the law would be empty.
      const now = { ...ask, untilMs: nowMs };
      const seen = (feed: Feed): unknown => type.answer(now, (need) => recordsOf(feed, need));
      if (!isDeepStrictEqual(seen(one), seen(other))) differenceCount += 1;
    }
  }
  if (count > 5 && differenceCount === 0) failures.push('no type returned the difference');
  return {
    seed,
    count,
    failures: failures.slice(0, 10),
    notes: [`${differenceCount} answers differ when seen`],
  };
}

type Feed = Readonly<Partial<Record<Need['input'], readonly Row[]>>>;

const recordsOf = (feed: Feed, { input, window }: Need): readonly Row[] => {
  const rows = feed[input] ?? [];
  return window.kind === 'newest' ? rows.slice(-window.count) : rows;
};

function feedsUpTo(untilMs: number, nowMs: number, random: Seeded): readonly [Feed, Feed] {
  const days: readonly Row[] = [
    { date: '2024-02-27', open: 9, high: 11, low: 9, close: 10, volume: 100 },
    { date: '2024-02-28', open: 10, high: 12, low: 10, close: 11, volume: 200 },
  ];
  const early = ticks(OPEN_MS - 3_600_000, untilMs, random);
  const feed = (): Feed => {
    const late = ticks(untilMs + 1, nowMs, random);
    return {
      HISTORICAL_PRICES: days,
      TRADES: [...early.trades, ...late.trades],
      QUOTES: [...early.quotes, ...late.quotes],
      INTRADAY_PRICES: minutesOf(untilMs, nowMs, early.minutes, random),
    };
  };
  return [feed(), feed()];
}

function ticks(
  fromMs: number,
  toMs: number,
  random: Seeded,
): { readonly trades: readonly Row[]; readonly quotes: readonly Row[]; readonly minutes: number } {
  const times = Array.from({ length: 12 }, () => random.between(fromMs, Math.max(fromMs, toMs)));
  const sorted = times.sort((a, b) => a - b);
  const trades = sorted.map((ms, at) => ({
    time: new Date(ms).toISOString(),
    tradeId: String(at),
    price: random.between(900, 1_300) / 100,
    size: random.between(1, 500),
    isOddLot: random.chance(0.2),
    isOutsideRegularHours: ms < OPEN_MS,
    venue: random.pick(['A', 'B']),
  }));
  const quotes = sorted.map((ms) => {
    const bidPrice = random.between(900, 1_300) / 100;
    return { time: new Date(ms).toISOString(), bidPrice, askPrice: bidPrice + 0.02 };
  });
  return { trades, quotes, minutes: random.between(1, 2 ** 30) };
}

/** Bars of every minute that is over by now; those that are not yet visible for the caller differ. */
function minutesOf(untilMs: number, nowMs: number, seed: number, random: Seeded): readonly Row[] {
  const same = seeded(seed);
  const rows: Row[] = [];
  for (let ms = OPEN_MS; ms + 60_000 <= nowMs; ms += 60_000) {
    const own = ms + 60_000 <= untilMs ? same : random;
    const close = own.between(900, 1_300) / 100;
    // 14:30 in UTC is 09:30 in New York in winter.
    const minute = new Date(ms - 5 * 3_600_000).toISOString().slice(11, 16);
    const volume = own.between(1, 1_000);
    rows.push({ date: TODAY, minute, open: close, high: close + 1, low: close - 1, close, volume });
  }
  return rows;
}
