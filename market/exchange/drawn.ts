// What of the exchange is wanted, and drawn.
import type { Day } from '../../query/time/days.ts';
import type { FilledId } from '../inputs/inputRow.ts';
import type { ExchangeShape, Standing } from './exchange.ts';
import { type Factors, factorsOf } from './factors.ts';
import { type History, historyOf } from './history.ts';
import { type Listing, listingsOf } from './listings.ts';

/** What of an input is wanted. */
export interface Wanted {
  readonly input: FilledId;
  readonly shape: ExchangeShape;
  readonly standing: Standing;
  /** Bars and minutes of later days only. */
  readonly after: Day | undefined;
  /** Of the session that is open, minutes that ended later only: epoch milliseconds. */
  readonly afterMs?: number | undefined;
}

/** An exchange that is drawn as far as its standing. */
export interface Drawn extends Wanted {
  readonly factors: Factors;
  readonly listings: readonly Listing[];
}

export function* histories({ factors, listings }: Drawn): Generator<[Listing, History]> {
  for (const listing of listings) yield [listing, historyOf(factors, listing)];
}

export function drawnOf(wanted: Wanted): Drawn {
  const { shape, standing } = wanted;
  const factors = factorsOf(shape.seed, standing.opened);
  const all = listingsOf(shape.seed, shape.symbols);
  // Who comes later is not there yet.
  const listings = all.filter(({ firstDay }) => firstDay <= standing.closed);
  return { ...wanted, factors, listings };
}
