// Common factors of all symbols: the sessions, with the return of the market and of every sector.
import { addDays, type Day } from '../../query/time/days.ts';
import { sessionsBetween } from '../../query/time/calendar.ts';
import { seededRandom } from './seededRandom.ts';
import { FOUNDED, SECTORS } from './listings.ts';

export interface Factors {
  readonly seed: number;
  /** From the first session on, with some after the last sampled one: days of future actions. */
  readonly sessions: readonly Day[];
  /** Sampled sessions. */
  readonly sampledCount: number;
  /** Logarithms of returns, by session. */
  readonly market: readonly number[];
  /** By sector, then by session. */
  readonly sectors: readonly (readonly number[])[];
}

/** The calendar's last year. */
const LAST_DAY: Day = '2030-12-31';
const DAYS_AHEAD = 60;
const DRIFT = 0.00028;
const [MARKET_VOLATILITY, SECTOR_VOLATILITY] = [0.0085, 0.004];
/** One session in this many is a bad one. */
const STORM_EVERY = 60;

/** @param last the last sampled session, or a day after it */
export function sampleFactors(seed: number, last: Day): Factors {
  const end = addDays(last, DAYS_AHEAD);
  const sessions = sessionsBetween(FOUNDED, end < LAST_DAY ? end : LAST_DAY);
  const days = sessions.filter((day) => day <= last);
  const samples = days.map((_, at) => sampleReturns(seed, at));
  return {
    seed,
    sessions,
    sampledCount: days.length,
    market: samples.map(([market = 0]) => market),
    sectors: SECTORS.map((_, sector) => samples.map((factors) => factors[sector + 1] ?? 0)),
  };
}

/** The market first, then the sectors. */
function sampleReturns(seed: number, session: number): readonly number[] {
  const { below, normal } = seededRandom(seed, session, 2);
  const storm = below(STORM_EVERY) === 0 ? 2.5 : 1;
  const market = DRIFT + normal() * MARKET_VOLATILITY * storm;
  return [market, ...SECTORS.map(() => normal() * SECTOR_VOLATILITY)];
}
