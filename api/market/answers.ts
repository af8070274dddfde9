// Caches answers of single types in the market's memory, and finds them again.
import type { KnownAnswer, Stamps } from '../../market/board/marketMemory.ts';
import type { Ask, Read } from '../../market/types/ask.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import { steadyUntil } from '../../market/types/steady.ts';
import type { BodyFormat } from '../../store/duckdb/protocol.ts';
import type { Call } from '../request/endpoint.ts';
import { listOf } from '../request/parameters.ts';
import { isOfNow, type MarketServices, type Readable } from './reading.ts';

/** The request for one type of one symbol. */
export interface Asked {
  readonly call: Call;
  readonly services: MarketServices;
  readonly wanted: MarketType;
  readonly ask: Ask;
  readonly readable: Readable;
  readonly format: BodyFormat;
}

/** Finds a cached answer whose inputs are unchanged and whose lifetime has not ended. */
export function findAnswer(request: Asked): KnownAnswer | undefined {
  const { ask, call, services } = request;
  if (!isOfNow(call)) return undefined;
  const cached = services.market.answers.find(cacheKey(request), services);
  return cached === undefined || ask.nowMs >= cached.steadyUntilMs ? undefined : cached;
}

/** @param stamps of all inputs, taken before the read */
export function keepAnswer(
  request: Asked,
  answer: Omit<KnownAnswer, 'steadyUntilMs'>,
  read: Read,
  stamps: Stamps,
): void {
  const { ask, call, services, wanted } = request;
  // An empty answer is not cached: whether the symbol exists is checked again.
  if (!isOfNow(call) || answer.body.objects === 0) return;
  const steadyUntilMs = steadyUntil(ask, wanted.needs(ask), read);
  services.market.answers.keep(cacheKey(request), { ...answer, steadyUntilMs }, stamps);
}

/** The cache key: everything that an answer depends on except stored data and time. */
function cacheKey({ ask, call, format, readable, wanted }: Asked): string {
  const { nowMs, options, symbol, untilMs } = ask;
  const filter = listOf(call.query, 'filter') ?? null;
  const rest = [wanted.attribute, options, filter, format, [...readable.keys()], nowMs - untilMs];
  return `${wanted.name} ${symbol} ${JSON.stringify(rest)}`;
}
