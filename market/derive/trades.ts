// Figures of a day's trades and best bids (INTERFACE.md 1 "largest-trades", "volume-by-venue",
// "effective-spread").
import type { Day } from '../../query/time/days.ts';
import { instantIn, meanOf, numberIn, rounded, type Row, sumOf, textIn } from './values.ts';
import { clockAt, dayAt } from './exchangeTime.ts';

/** By market identifier code. */
type Venues = ReadonlyMap<string, Row>;

export const venuesOf = (rows: readonly Row[]): Venues =>
  new Map(rows.map((row) => [textIn(row, 'mic') ?? '', row]));

const nameOf = (mic: string, venues: Venues): string => textIn(venues.get(mic), 'name') ?? mic;

const LARGEST = 10;

/** The largest trades of the latest day, largest first. */
export function largestTrades(trades: readonly Row[], venues: Venues): readonly object[] {
  return newestDay(trades)
    .toSorted((one, other) => (numberIn(other, 'size') ?? 0) - (numberIn(one, 'size') ?? 0))
    .slice(0, LARGEST)
    .map((row) => {
      const timeMs = instantIn(row, 'time');
      const venue = textIn(row, 'venue') ?? '';
      return {
        price: numberIn(row, 'price'),
        size: numberIn(row, 'size'),
        time: timeMs,
        timeLabel: clockAt(timeMs),
        venue,
        venueName: nameOf(venue, venues),
      };
    });
}

/** Volume of the latest day by venue, the highest first. */
export function volumeByVenue(trades: readonly Row[], venues: Venues): readonly object[] {
  const day = newestDay(trades);
  const all = sumOf(trades.map((row) => numberIn(row, 'size')));
  const whole = sumOf(day.map((row) => numberIn(row, 'size')));
  const date = dayOf(day[0]);
  return byVenue(day)
    .map(([venue, rows]) => {
      const volume = sumOf(rows.map((row) => numberIn(row, 'size')));
      const ever = trades.filter((row) => (textIn(row, 'venue') ?? '') === venue);
      const volumeEver = sumOf(ever.map((row) => numberIn(row, 'size')));
      return {
        volume,
        venue,
        venueName: nameOf(venue, venues),
        date,
        marketPercent: whole === 0 ? null : rounded(volume / whole),
        avgMarketPercent: all === 0 ? null : rounded(volumeEver / all),
      };
    })
    .sort((one, other) => other.volume - one.volume);
}

/**
 * Twice the distance of a trade's price from the midpoint of the best bid and ask at that time, with the
 * quoted spread, by venue; trades without an earlier quote are left out.
 */
export function effectiveSpread(
  trades: readonly Row[],
  quotes: readonly Row[],
  venues: Venues,
): readonly object[] {
  return byVenue(newestDay(trades))
    .map(([venue, rows]) => {
      const spreads = rows.flatMap((row) => spreadOf(row, quotes));
      const mean = (name: 'effective' | 'quoted' | 'gained'): number | null => {
        const value = meanOf(spreads.map((spread) => spread[name]));
        return value === null ? null : rounded(value);
      };
      return {
        volume: sumOf(rows.map((row) => numberIn(row, 'size'))),
        venue,
        venueName: nameOf(venue, venues),
        effectiveSpread: mean('effective'),
        effectiveQuoted: mean('quoted'),
        priceImprovement: mean('gained'),
      };
    })
    .sort((one, other) => other.volume - one.volume);
}

interface Spread {
  readonly effective: number;
  /** The effective spread as a share of the quoted one. */
  readonly quoted: number | null;
  /** Half the quoted spread less half the effective one. */
  readonly gained: number;
}

function spreadOf(trade: Row, quotes: readonly Row[]): readonly Spread[] {
  const timeMs = instantIn(trade, 'time');
  const best = quotes.findLast((row) => instantIn(row, 'time') <= timeMs);
  const [bid, ask] = [numberIn(best, 'bidPrice'), numberIn(best, 'askPrice')];
  const price = numberIn(trade, 'price');
  if (bid === null || ask === null || price === null || bid <= 0 || ask < bid) return [];
  const effective = 2 * Math.abs(price - (bid + ask) / 2);
  const quoted = ask - bid;
  return [
    {
      effective,
      quoted: quoted === 0 ? null : effective / quoted,
      gained: (quoted - effective) / 2,
    },
  ];
}

const dayOf = (row: Row | undefined): Day =>
  row === undefined ? '' : dayAt(instantIn(row, 'time'));

function newestDay(trades: readonly Row[]): readonly Row[] {
  const day = dayOf(trades.at(-1));
  return trades.filter((row) => dayOf(row) === day);
}

function byVenue(trades: readonly Row[]): readonly (readonly [string, readonly Row[]])[] {
  const groups = new Map<string, Row[]>();
  for (const row of trades) {
    const venue = textIn(row, 'venue') ?? '';
    const group = groups.get(venue) ?? [];
    group.push(row);
    groups.set(venue, group);
  }
  return [...groups];
}
