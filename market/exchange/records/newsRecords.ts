// News of the invented companies as CSV: splits, dividends, reports, large moves and the end of each week.
// Each story is derived from another record of the exchange, so that news and numbers agree.
import { addDays, type Day, numberOfDay, weekdayOf } from '../../../query/time/days.ts';
import { isSession } from '../../../query/time/calendar.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';
import { hoursOf } from '../exchange.ts';
import type { Bar, History } from '../history.ts';
import type { Listing } from '../listings.ts';
import { sampleReports } from '../statements.ts';

/** Sessions with news. */
const SESSIONS = 30;
/** Smallest move since the opening that is news. */
const LARGE_MOVE = 0.04;
/** Random stream of ids. */
const STREAM = 13;
export const INVENTED = 'Invented: this company does not exist and no price of it is real.';

interface Story {
  readonly day: Day;
  /** Distinguishes stories of one day. */
  readonly kind: number;
  readonly headline: string;
}

export function* newsLines(market: SampledMarket): Generator<string> {
  const { seed } = market.shape;
  yield 'symbol,uuid,datetime,headline,source,url,summary,related,image,lang,hasPaywall\n';
  for (const [listing, history] of histories(market)) {
    for (const { day, headline, kind } of storiesOf(market, listing, history)) {
      const { below } = seededRandom(seed, listing.at, numberOfDay(day), STREAM, kind);
      const uuid = [below(2 ** 32), below(2 ** 32)].map(hex).join('');
      const url = `https://example.com/synthetic/${uuid}`;
      const texts = [headline, 'Synthetic Wire', url, `${headline}. ${INVENTED}`];
      const head = [listing.symbol, uuid, timeOf(day)];
      yield `${[...head, ...texts, listing.symbol, '', 'en', false].join(',')}\n`;
    }
  }
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');

/** The close of a session: all its events are known by then. Reports are on other days too. */
const timeOf = (day: Day): string => {
  if (!isSession(day)) return `${day}T16:00:00.000Z`;
  const { minutes, openMs } = hoursOf(day);
  return new Date(openMs + minutes * 60_000).toISOString();
};

function storiesOf(
  { shape, session: { closed } }: SampledMarket,
  listing: Listing,
  history: History,
): readonly Story[] {
  const bars = history.bars.filter(({ day }) => day <= closed);
  const from = bars.at(-SESSIONS)?.day ?? bars[0]?.day ?? closed;
  const { name } = listing;
  const announced = [
    ...history.dividends.map(({ cents, declared }) => {
      const headline = `${name} declares a dividend of ${dollars(cents)} a share`;
      return { day: declared, kind: 0, headline };
    }),
    ...history.splits.map(({ declared, from: before, to }) => {
      return { day: declared, kind: 1, headline: `${name} announces a ${to}-for-${before} split` };
    }),
    ...reportedBy(shape.seed, listing, history, closed),
  ];
  return [...announced, ...movesOf(name, bars)].filter(({ day }) => day >= from && day <= closed);
}

function reportedBy(
  seed: number,
  listing: Listing,
  history: History,
  closed: Day,
): readonly Story[] {
  if (listing.sector === undefined) return [];
  return sampleReports(seed, listing, history, closed)
    .filter(({ period }) => period === 'quarterly')
    .map(({ income, quarter, reported, year }) => {
      const millions = Math.round((income['netIncome'] ?? 0) / 1e6);
      const period = `Q${quarter} ${year}`;
      const headline = `${listing.name} reports a net income of $${millions} million for ${period}`;
      return { day: reported, kind: 2, headline };
    });
}

/** Large moves of the last sessions, and the end of each week. */
function movesOf(name: string, bars: readonly Bar[]): readonly Story[] {
  return bars.slice(-SESSIONS).flatMap(({ close, day, open }): readonly Story[] => {
    // Relative to the opening: a split or a dividend changes the raw price since the previous close.
    const change = close / open - 1;
    const verb = change < 0 ? 'falls' : 'rises';
    const move = `${name} ${verb} ${Math.abs(change * 100).toFixed(1)}% to ${dollars(close)}`;
    const large = Math.abs(change) < LARGE_MOVE ? [] : [{ day, kind: 3, headline: move }];
    if (!endsWeek(day)) return large;
    return [...large, { day, kind: 4, headline: `${name} ends the week at ${dollars(close)}` }];
  });
}

/** Whether no session follows before the next Monday. */
function endsWeek(day: Day): boolean {
  const left = 5 - weekdayOf(day);
  return Array.from({ length: Math.max(0, left) }, (_, at) => addDays(day, at + 1)).every(
    (next) => !isSession(next),
  );
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;
