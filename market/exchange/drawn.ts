// Requests for records of the synthetic exchange, and the sampled market.
import type { Day } from '../../query/time/days.ts';
import type { FilledId } from '../inputs/inputRow.ts';
import type { ExchangeShape, Standing } from './exchange.ts';
import { type Factors, factorsOf } from './factors.ts';
import { type History, historyOf } from './history.ts';
import { type Listing, listingsOf } from './listings.ts';

/** Request for records of an input. */
export interface Wanted {
  readonly input: FilledId;
  readonly shape: ExchangeShape;
  readonly standing: Standing;
  /** Only bars and minutes of later days. */
  readonly after: Day | undefined;
  /** In the open session, only minutes that end later: epoch milliseconds. */
  readonly afterMs?: number | undefined;
}

/** The market, sampled up to the session of a request. */
export interface Drawn extends Wanted {
  readonly factors: Factors;
  readonly listings: readonly Listing[];
}

export function* histories({ factors, listings }: Drawn): Generator<[Listing, History]> {
  for (const listing of listings) yield [listing, historyOf(factors, listing)];
}

export function drawnOf(request: Wanted): Drawn {
  const { shape, standing } = request;
  const factors = factorsOf(shape.seed, standing.opened);
  const all = listingsOf(shape.seed, shape.symbols);
  // Later listings do not exist yet.
  const listings = all.filter(({ firstDay }) => firstDay <= standing.closed);
  return { ...request, factors, listings };
}
