// Insiders of the invented companies as CSV: their trades, what these add up to, and what they hold. Each
// trade has the close of its day, and a holding is the sum of all trades before it.
import { addDays, type Day } from '../../../query/time/days.ts';
import { isSession } from '../../../query/time/calendar.ts';
import type { Bar } from '../history.ts';
import { FOUNDED, type Listing } from '../listings.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';
import { firstDayOf, lastDayOf, quarterOf } from './quarterEnds.ts';

/** Retained quarters of trades, and those that a summary adds up. */
const QUARTERS_KEPT = 8;
const QUARTERS_SUMMED = 2;
/** Random stream of insiders. */
const STREAM = 14;
/** Most shares of a trade, as a share of the first holding, and how often they buy. */
const LARGEST = 0.05;
const BUYING = 0.45;
const POSITION_MIN = 100;
/** Days from a trade to its filing: nobody knows it earlier. */
const FILING_DAYS = 2;

const TITLES = ['Chief Executive Officer', 'Chief Financial Officer', 'Director'];
const FIRST_NAMES = [
  'Ada',
  'Bela',
  'Cleo',
  'Dario',
  'Edda',
  'Falk',
  'Gwen',
  'Hugo',
  'Ines',
  'Jarl',
];

interface Trade {
  readonly insider: string;
  readonly title: string;
  readonly quarter: number;
  readonly day: Day;
  readonly cents: number;
  /** Below 0 where they were sold. */
  readonly shares: number;
  readonly sharesAfter: number;
}

export function* insiderTradeLines(market: SampledMarket): Generator<string> {
  yield (
    'symbol,effectiveDate,transactionId,fullName,reportedTitle,directIndirect,transactionShares,tranPrice,' +
    'tranValue,transactionCode,conversionOrExercisePrice,filingDate,is10b51,postShares\n'
  );
  const since = quarterOf(market.session.closed) - QUARTERS_KEPT;
  for (const [{ symbol }, trades] of tradesOfAll(market)) {
    for (const [at, trade] of trades.entries()) {
      if (trade.quarter < since) continue;
      const { cents, day, insider, shares, sharesAfter, title } = trade;
      const head = [symbol, `${day}T00:00:00Z`, at + 1, insider, title, 'D', shares, cents / 100];
      const code = shares < 0 ? 'S' : 'P';
      const rest = [(shares * cents) / 100, code, 0, addDays(day, FILING_DAYS), false, sharesAfter];
      yield `${[...head, ...rest].join(',')}\n`;
    }
  }
}

export function* insiderSummaryLines(market: SampledMarket): Generator<string> {
  yield 'symbol,fullName,reportedTitle,netTransacted,totalBought,totalSold\n';
  const since = quarterOf(market.session.closed) - QUARTERS_SUMMED;
  for (const [{ symbol }, trades] of tradesOfAll(market)) {
    const recent = trades.filter(({ quarter }) => quarter >= since);
    for (const [insider, own] of Map.groupBy(recent, (one) => one.insider)) {
      const [bought, sold] = [own.filter(isBought), own.filter((one) => !isBought(one))].map(sumOf);
      const net = sumOf(own);
      yield `${[symbol, insider, own[0]?.title ?? '', net, bought, sold].join(',')}\n`;
    }
  }
}

export function* insiderHoldingLines(market: SampledMarket): Generator<string> {
  yield 'symbol,entityName,reportDate,position\n';
  const quarter = quarterOf(market.session.closed) - 1;
  for (const [{ symbol }, trades] of tradesOfAll(market)) {
    const before = trades.filter((one) => one.quarter <= quarter);
    for (const [insider, own] of Map.groupBy(before, (one) => one.insider)) {
      const reported = `${lastDayOf(quarter)}T00:00:00Z`;
      yield `${[symbol, insider, reported, own.at(-1)?.sharesAfter ?? 0].join(',')}\n`;
    }
  }
}

const isBought = ({ shares }: Trade): boolean => shares > 0;

const sumOf = (trades: readonly Trade[]): number =>
  trades.reduce((sum, { shares }) => sum + shares, 0);

/** Trades of each company's insiders up to the latest session, oldest first. */
function* tradesOfAll(market: SampledMarket): Generator<[Listing, readonly Trade[]]> {
  const { seed } = market.shape;
  for (const [listing, { bars }] of histories(market)) {
    if (listing.sector === undefined) continue;
    const closes = new Map(bars.map((bar) => [bar.day, bar]));
    const trades = TITLES.flatMap((title, place) => [
      ...tradesOf(seed, listing, { title, place }, closes, market.session.closed),
    ]);
    yield [listing, trades.sort((one, other) => (one.day < other.day ? -1 : 1))];
  }
}

/** One trade in each quarter with a session on its day. */
function* tradesOf(
  seed: number,
  { at }: Listing,
  { place, title }: { readonly title: string; readonly place: number },
  bars: ReadonlyMap<Day, Bar>,
  closed: Day,
): Generator<Trade> {
  const own = seededRandom(seed, at, STREAM, place);
  const first = FIRST_NAMES[(at + place * 3) % FIRST_NAMES.length] ?? '';
  const insider = `${first} Example (synthetic)`;
  const initial = (200 + own.below(4_000)) * 100;
  let sharesAfter = initial;
  for (let quarter = quarterOf(FOUNDED); quarter <= quarterOf(closed); quarter += 1) {
    const { below, uniform } = seededRandom(seed, at, STREAM, place, quarter);
    const day = addDays(firstDayOf(quarter), 7 + below(75));
    const bar = bars.get(day);
    const most = Math.floor((initial * LARGEST) / 100);
    const shares = (1 + below(most)) * 100 * (uniform() < BUYING ? 1 : -1);
    if (!isSession(day) || bar === undefined || addDays(day, FILING_DAYS) > closed) continue;
    if (sharesAfter + shares < POSITION_MIN) continue;
    sharesAfter += shares;
    yield { insider, title, quarter, day, cents: bar.close, shares, sharesAfter };
  }
}
