// Requests for records of the synthetic exchange, and the sampled market.
import type { Day } from '../../query/time/days.ts';
import type { FilledId } from '../inputs/inputRow.ts';
import type { ExchangeShape, SessionState } from './exchange.ts';
import { type Factors, sampleFactors } from './factors.ts';
import { type History, sampleHistory } from './history.ts';
import { type Listing, listingsOf } from './listings.ts';

/** Request for records of an input. */
export interface RecordRequest {
  readonly input: FilledId;
  readonly shape: ExchangeShape;
  readonly session: SessionState;
  /** Only bars and minutes of later days. */
  readonly after: Day | undefined;
  /** In the open session, only minutes that end later: epoch milliseconds. */
  readonly afterMs?: number | undefined;
}

/** The market, sampled up to the session of a request. */
export interface SampledMarket extends RecordRequest {
  readonly factors: Factors;
  readonly listings: readonly Listing[];
}

export function* histories({ factors, listings }: SampledMarket): Generator<[Listing, History]> {
  for (const listing of listings) yield [listing, sampleHistory(factors, listing)];
}

export function sampleMarket(request: RecordRequest): SampledMarket {
  const { shape, session } = request;
  const factors = sampleFactors(shape.seed, session.opened);
  const all = listingsOf(shape.seed, shape.symbols);
  // Later listings do not exist yet.
  const listings = all.filter(({ firstDay }) => firstDay <= session.closed);
  return { ...request, factors, listings };
}
