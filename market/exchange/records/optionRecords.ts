// Options of the invented companies as CSV: a few expirations and strikes around the last close, at the end
// of the latest closed session.
import { isSession, previousSession } from '../../../query/time/calendar.ts';
import { addDays, addMonths, type Day, numberOfDay, weekdayOf } from '../../../query/time/days.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';
import type { Bar } from '../history.ts';
import type { Listing } from '../listings.ts';
import { optionPrices, strikesAround } from '../optionPrices.ts';

/** Months of contracts, after the next expiration. */
const MONTHS = [0, 1, 2, 5];
const FRIDAY = 5;
const SESSIONS_OF_YEAR = 252;
/** Parts of a session's return from the market and from its sector. */
const [MARKET_VOLATILITY, SECTOR_VOLATILITY] = [0.0085, 0.004];
/** Between the last price and each best offer, as a share of the price. */
const SPREAD = 0.015;
/** Random stream of options. */
const OPTIONS = 11;

export function* optionLines(market: SampledMarket): Generator<string> {
  const { shape, session } = market;
  const expirations = expirationsAfter(session.closed);
  yield (
    'symbol,id,lastUpdated,expirationDate,strikePrice,side,contractSize,type,closingPrice,bid,ask,' +
    'volume,openInterest,isAdjusted\n'
  );
  for (const [listing, { bars }] of histories(market)) {
    const bar = bars.findLast(({ day }) => day <= session.closed);
    if (bar?.day !== session.closed) continue;
    for (const day of expirations) yield* chainLines(shape.seed, listing, bar, day);
  }
}

/** The third Fridays of some months, or the previous sessions. */
export function expirationsAfter(day: Day): readonly Day[] {
  const months = expirationOf(day) > day ? MONTHS : MONTHS.map((month) => month + 1);
  return months.map((month) => expirationOf(addMonths(`${day.slice(0, 7)}-01`, month)));
}

function expirationOf(day: Day): Day {
  const first = `${day.slice(0, 7)}-01`;
  const friday = addDays(first, 14 + ((FRIDAY - weekdayOf(first) + 7) % 7));
  return isSession(friday) ? friday : previousSession(friday);
}

function* chainLines(seed: number, listing: Listing, bar: Bar, day: Day): Generator<string> {
  const { at, beta, ownVolatility, sector, symbol } = listing;
  const years = (numberOfDay(day) - numberOfDay(bar.day)) / 365;
  const ofSector = sector === undefined ? 0 : SECTOR_VOLATILITY;
  const ofSession = Math.hypot(beta * MARKET_VOLATILITY, ofSector, ownVolatility);
  const volatility = ofSession * Math.sqrt(SESSIONS_OF_YEAR);
  for (const strike of strikesAround(bar.close)) {
    const prices = optionPrices({ spot: bar.close, volatility, years }, strike);
    const { below } = seededRandom(seed, at, bar.session, OPTIONS, numberOfDay(day), strike);
    for (const side of ['call', 'put'] as const) {
      const close = prices[side];
      const half = Math.max(1, Math.round(close * SPREAD));
      const id = `${symbol}${day.replaceAll('-', '')}${letterOf(side)}${strikeText(strike)}`;
      const what = [symbol, id, bar.day, day, strike / 100, side, 100, 'equity'];
      const offers = [close, Math.max(0, close - half), close + half].map((cents) => cents / 100);
      yield `${[...what, ...offers, below(2_000), 100 + below(20_000), false].join(',')}\n`;
    }
  }
}

const letterOf = (side: 'call' | 'put'): string => (side === 'call' ? 'C' : 'P');

/** In thousandths of a dollar, eight digits, as in names of contracts. */
const strikeText = (cents: number): string => String(cents * 10).padStart(8, '0');
