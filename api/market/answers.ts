// Answers of single types in the market's memory: under which name, and when one is kept or found.
import type { KnownAnswer, Stamps } from '../../market/board/marketMemory.ts';
import type { Ask, Read } from '../../market/types/ask.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import { steadyUntil } from '../../market/types/steady.ts';
import type { BodyFormat } from '../../store/duckdb/protocol.ts';
import type { Call } from '../request/endpoint.ts';
import { listOf } from '../request/parameters.ts';
import { isOfNow, type MarketServices, type Readable } from './reading.ts';

/** One type of one symbol, as it is to be answered. */
export interface Asked {
  readonly call: Call;
  readonly services: MarketServices;
  readonly wanted: MarketType;
  readonly ask: Ask;
  readonly readable: Readable;
  readonly format: BodyFormat;
}

/** While nothing that it was made of has changed, and the clock has not made another one of it. */
export function findAnswer(asked: Asked): KnownAnswer | undefined {
  const { ask, call, services } = asked;
  if (!isOfNow(call)) return undefined;
  const known = services.market.answers.find(nameOf(asked), services);
  return known === undefined || ask.nowMs >= known.steadyUntilMs ? undefined : known;
}

/** @param stamps of all that was read, taken before */
export function keepAnswer(
  asked: Asked,
  made: Omit<KnownAnswer, 'steadyUntilMs'>,
  read: Read,
  stamps: Stamps,
): void {
  const { ask, call, services, wanted } = asked;
  // Whether a symbol without an answer is known at all is asked anew.
  if (!isOfNow(call) || made.body.objects === 0) return;
  const steadyUntilMs = steadyUntil(ask, wanted.needs(ask), read);
  services.market.answers.keep(nameOf(asked), { ...made, steadyUntilMs }, stamps);
}

/** Everything that an answer depends on but what is stored and when it is. */
function nameOf({ ask, call, format, readable, wanted }: Asked): string {
  const { nowMs, options, symbol, untilMs } = ask;
  const filter = listOf(call.query, 'filter') ?? null;
  const rest = [wanted.attribute, options, filter, format, [...readable.keys()], nowMs - untilMs];
  return `${wanted.name} ${symbol} ${JSON.stringify(rest)}`;
}
