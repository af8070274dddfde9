// What invented analysts expect of the invented companies as CSV: target prices, recommendations, and
// offerings to come; and their logos.
import { addDays, type Day, dayOfNumber, numberOfDay } from '../../../query/time/days.ts';
import type { Listing } from '../listings.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';
import { firstDayOf, lastDayOf, quarterOf } from './quarterEnds.ts';

/** Random streams of targets, recommendations and offerings. */
const [TARGETS, RECOMMENDATIONS, OFFERINGS] = [17, 18, 19];
/** Retained quarters of recommendations. */
const QUARTERS_KEPT = 4;
/** Weeks of offerings before and after the latest session. */
const [WEEKS_BEFORE, WEEKS_AFTER] = [2, 5];
const MARKS = [1, 1.5, 2, 2.5, 3];

export const analystsOf = ({ at }: Listing): number => 3 + (at % 20);

/** Targets of each month, from the price at its beginning. */
export function* targetLines(market: SampledMarket): Generator<string> {
  yield 'symbol,updatedDate,priceTargetAverage,priceTargetHigh,priceTargetLow,numberOfAnalysts,currency\n';
  const day = `${market.session.closed.slice(0, 7)}-01`;
  for (const [listing, { bars }] of histories(market)) {
    const cents = bars.findLast((bar) => bar.day <= day)?.close;
    if (cents === undefined || listing.sector === undefined) continue;
    const { uniform } = seededRandom(market.shape.seed, listing.at, TARGETS, numberOfDay(day));
    const average = cents * (0.95 + uniform() * 0.3);
    const prices = [average, average * 1.2, average * 0.8].map((one) => Math.round(one) / 100);
    yield `${[listing.symbol, day, ...prices, analystsOf(listing), 'USD'].join(',')}\n`;
  }
}

export function* recommendationLines(market: SampledMarket): Generator<string> {
  yield (
    'symbol,consensusStartDate,consensusEndDate,corporateActionsAppliedDate,ratingBuy,ratingOverweight,' +
    'ratingHold,ratingUnderweight,ratingSell,ratingNone,ratingScaleMark\n'
  );
  const current = quarterOf(market.session.closed);
  for (const listing of market.listings) {
    if (listing.sector === undefined) continue;
    for (let quarter = current - QUARTERS_KEPT + 1; quarter <= current; quarter += 1) {
      const ratings = ratingsOf(market.shape.seed, listing, quarter);
      const first = atMidnight(firstDayOf(quarter));
      const last = quarter === current ? '' : atMidnight(lastDayOf(quarter));
      const mark = ratings.reduce((sum, count, at) => sum + count * (MARKS[at] ?? 0), 0);
      const average = Math.round((mark / analystsOf(listing)) * 100) / 100;
      yield `${[listing.symbol, first, last, first, ...ratings, 0, average].join(',')}\n`;
    }
  }
}

/** Analysts by their rating, from buy to sell. */
function ratingsOf(seed: number, listing: Listing, quarter: number): readonly number[] {
  const { below, uniform } = seededRandom(seed, listing.at, RECOMMENDATIONS, quarter);
  const counts = MARKS.map(() => 0);
  for (let analyst = 0; analyst < analystsOf(listing); analyst += 1) {
    const at = uniform() < 0.6 ? below(3) : below(MARKS.length);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

export function* logoLines({ listings }: SampledMarket): Generator<string> {
  yield 'symbol,url\n';
  for (const { symbol } of listings) {
    yield `${symbol},https://example.com/synthetic/logo/${symbol}.png\n`;
  }
}

/** One offering each week, on its Wednesday. */
export function* offeringLines({ session, shape }: SampledMarket): Generator<string> {
  yield (
    'symbol,offeringDate,companyName,priceLow,priceHigh,offerAmount,sharesOffered,sharesOutstanding,' +
    'percentOffered,market,status\n'
  );
  const week = Math.floor(numberOfDay(session.closed) / 7);
  for (let at = week - WEEKS_BEFORE; at <= week + WEEKS_AFTER; at += 1) {
    // The first day that numbers count from was a Thursday.
    const day = dayOfNumber(at * 7 + 6);
    const { below } = seededRandom(shape.seed, OFFERINGS, at);
    const low = 8 + below(30);
    const high = low + 2;
    const offered = (2 + below(18)) * 1e6;
    const letters = String.fromCodePoint(...[below(26), below(26)].map((one) => 65 + one));
    const name = `Newcomer ${letters}${at % 100} (synthetic)`;
    const head = [`NEWC${letters}`, day, name, low, high, offered * high, offered, offered * 4];
    yield `${[...head, '25%', 'Synthetic exchange', statusOf(day, session.closed)].join(',')}\n`;
  }
}

const statusOf = (day: Day, closed: Day): string => {
  if (day <= closed) return 'Priced';
  return day <= addDays(closed, 7) ? 'Expected' : 'Filed';
};

const atMidnight = (day: Day): string => `${day}T00:00:00Z`;
