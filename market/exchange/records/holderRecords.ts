// Funds and institutions that hold shares of the invented companies as CSV, at the end of the last quarter.
import type { Day } from '../../../query/time/days.ts';
import type { History } from '../history.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';
import { sharesAt } from '../statements.ts';
import { lastDayOf, quarterOf } from './quarterEnds.ts';

/** Random streams of holders. */
const STREAMS = { Fund: 15, 'Asset Management': 16 } as const;
/** The largest share of one holder; each next one has four fifths of it. */
const LARGEST = 0.06;
const SMALLER = 0.8;
const NAMES = 'Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel Ironwood Juniper'.split(' ');

export const holderLines = (kind: keyof typeof STREAMS) =>
  function* lines(market: SampledMarket): Generator<string> {
    yield 'symbol,entityProperName,reportDate,reportedHolding,reportedMv,adjHolding,adjMv\n';
    const day = lastDayOf(quarterOf(market.session.closed) - 1);
    for (const [listing, history] of histories(market)) {
      const cents = history.bars.findLast((bar) => bar.day <= day)?.close;
      if (cents === undefined || listing.sector === undefined) continue;
      const { uniform } = seededRandom(market.shape.seed, listing.at, STREAMS[kind]);
      const outstanding = sharesAt(listing, history, day);
      const factor = splitFactor(history, day, market.session.closed);
      for (const [place, name] of NAMES.entries()) {
        const part = LARGEST * SMALLER ** place * (0.9 + uniform() / 10);
        const position = Math.round(outstanding * part);
        const worth = Math.round((position * cents) / 100);
        const holder = `${name} ${kind} (synthetic)`;
        const values = [position, worth, Math.round(position * factor), worth];
        yield `${[listing.symbol, holder, `${day}T00:00:00Z`, ...values].join(',')}\n`;
      }
    }
  };

/** Shares after the splits since a day, for each share before them. */
const splitFactor = ({ splits }: History, since: Day, until: Day): number =>
  splits
    .filter(({ exDay }) => exDay > since && exDay <= until)
    .reduce((factor, { from, to }) => (factor * to) / from, 1);
