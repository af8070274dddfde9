// Caches answers of single types in the market's memory, and finds them again.
import type { KnownAnswer, Stamps } from '../../market/board/marketMemory.ts';
import type { TypeRequest } from '../../market/types/typeRequest.ts';
import type { MarketType } from '../../market/types/marketTypes.ts';
import type { BodyFormat } from '../../store/duckdb/protocol.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { listOf } from '../request/parameters.ts';
import type { AnswerItem } from './answerTask.ts';
import { isCurrentRead, type MarketServices, type ReadableInputs } from './inputReads.ts';

/** The request for one type of one symbol. */
export interface AnswerRequest {
  readonly call: ReadRequest;
  readonly services: MarketServices;
  readonly requestedType: MarketType;
  readonly typeRequest: TypeRequest;
  readonly readable: ReadableInputs;
  readonly format: BodyFormat;
}

/** Finds a cached answer whose inputs are unchanged and whose lifetime has not ended. */
export function findAnswer(request: AnswerRequest): KnownAnswer | undefined {
  const { typeRequest, call, services } = request;
  if (!isCurrentRead(call)) return undefined;
  const cached = services.market.answers.find(cacheKey(request), services);
  return cached === undefined || typeRequest.nowMs >= cached.steadyUntilMs ? undefined : cached;
}

/** @param stamps of all inputs, taken before the read */
export function cacheAnswer(request: AnswerRequest, answer: KnownAnswer, stamps: Stamps): void {
  const { call, services } = request;
  // An empty answer is not cached: whether the symbol exists is checked again.
  if (!isCurrentRead(call) || answer.body.objects === 0) return;
  services.market.answers.keep(cacheKey(request), answer, stamps);
}

export const toAnswerItem = (request: AnswerRequest): AnswerItem => ({
  type: request.requestedType.name,
  attribute: request.requestedType.attribute,
  ask: request.typeRequest,
  filter: listOf(request.call.query, 'filter'),
  format: request.format,
});

/** The cache key: everything that an answer depends on except stored data and time. */
function cacheKey({ typeRequest, call, format, readable, requestedType }: AnswerRequest): string {
  const { nowMs, options, symbol, untilMs } = typeRequest;
  const filter = listOf(call.query, 'filter') ?? null;
  const rest = [
    requestedType.attribute,
    options,
    filter,
    format,
    [...readable.keys()],
    nowMs - untilMs,
  ];
  return `${requestedType.name} ${symbol} ${JSON.stringify(rest)}`;
}
