// Answers one type of a symbol (SPEC.md "Batch", "Other stock endpoints"), computed from CORE's inputs or
// loaded.
import { dayAt } from '../../market/derive/exchangeTime.ts';
import { answerMarket, findComputedType } from '../market/market.ts';
import { answerMarketList, isMarketListType } from '../market/marketLists.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { refuse } from '../request/parameters.ts';
import { answerEvents, EVENTS, splitAppendedDate } from './events.ts';
import { refuseUnknown, type StockServices, normalizeSymbol } from './knownSymbols.ts';
import { answerLoaded } from './loaded.ts';
import { answerEmpty, findEmptyAnswer } from './emptyAnswers.ts';
import { isInvalidRange } from './stockParameters.ts';
import { resolveTickers } from './symbology.ts';
import { findSymbolFallback } from './computedFallback.ts';
import { isMarketRequest, MARKET, findServedType, findStockType } from './stockTypes.ts';

/** Answers one type of one symbol. */
export async function answerStock(request: ReadRequest, services: StockServices): Promise<Answer> {
  const call = splitAppendedDate(mapMinutes(request));
  const requestedSymbol = normalizeSymbol(call.path['symbol'] ?? '');
  if (requestedSymbol === '') throw new Failure('NoSymbol');
  const name = call.path['type'] ?? '';
  if (name.toLowerCase() === EVENTS) return answerEvents(call, services);
  const loadedType = findStockType(name);
  const acceptsSymbols = loadedType !== undefined && isMarketRequest(loadedType, requestedSymbol);
  if (call.query['symbols'] !== undefined && !acceptsSymbols)
    refuse('symbols', 'is not allowed here');
  if (requestedSymbol === MARKET && isMarketListType(name, services.lake))
    return answerMarketList(call, services);
  const [symbol = requestedSymbol] = await resolveTickers([requestedSymbol], call, services);
  const type = findServedType(name, services.lake);
  const fallback =
    type === undefined ? undefined : await findSymbolFallback(type, symbol, call, services);
  const computed = findComputedType(name, services.lake) ?? fallback;
  if (computed !== undefined) {
    return answerMarket(call, services, computed, symbol, (one) =>
      refuseUnknown(one, call, services),
    );
  }
  if (type !== undefined && !isInvalidRange(type, call.path['part'], dayAt(services.clock())))
    return answerLoaded(call, services, type, symbol);
  const emptyAnswer = findEmptyAnswer(name, symbol, call.path['part']);
  if (emptyAnswer === undefined) throw new Failure('NotFound');
  return answerEmpty(emptyAnswer, symbol, call, services);
}

const [MOOD, MINUTES] = ['sentiment', 'minute'];

/** Maps `/sentiment/minute/{day}` to a type of its own, so that batches and documents include it. */
function mapMinutes(call: ReadRequest): ReadRequest {
  const { detail, part, type, ...path } = call.path;
  if (type?.toLowerCase() !== MOOD || part?.toLowerCase() !== MINUTES) return call;
  const day = detail === undefined ? {} : { part: detail };
  return { ...call, path: { ...path, ...day, type: `${MOOD}-${MINUTES}` } };
}
