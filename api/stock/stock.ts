// Answers one type of a symbol (SPEC.md "Batch", "Other stock endpoints"), computed from CORE's inputs or
// loaded.
import { dayAt } from '../../market/derive/words.ts';
import { answerMarket, computedType } from '../market/market.ts';
import { answerWide, isWideType } from '../market/wide.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { refuse } from '../request/parameters.ts';
import { answerEvents, EVENTS, unglued } from './events.ts';
import { refuseUnknown, type StockServices, symbolOf } from './knownSymbols.ts';
import { answerLoaded } from './loaded.ts';
import { answerNothing, nothingNamed } from './nothing.ts';
import { isOfNoDays } from './stockParameters.ts';
import { tickersOf } from './symbology.ts';
import { toldOtherwise } from './toldOtherwise.ts';
import { isOfMarket, MARKET, servedType, typeNamed } from './stockTypes.ts';

/** Answers one type of one symbol. */
export async function answerStock(request: Call, services: StockServices): Promise<Answer> {
  const call = unglued(mapMinutes(request));
  const requestedSymbol = symbolOf(call.path['symbol'] ?? '');
  if (requestedSymbol === '') throw new Failure('NoSymbol');
  const name = call.path['type'] ?? '';
  if (name.toLowerCase() === EVENTS) return answerEvents(call, services);
  const loadedType = typeNamed(name);
  const acceptsSymbols = loadedType !== undefined && isOfMarket(loadedType, requestedSymbol);
  if (call.query['symbols'] !== undefined && !acceptsSymbols)
    refuse('symbols', 'is not allowed here');
  if (requestedSymbol === MARKET && isWideType(name, services.lake))
    return answerWide(call, services);
  const [symbol = requestedSymbol] = await tickersOf([requestedSymbol], call, services);
  const type = servedType(name, services.lake);
  const fallback =
    type === undefined ? undefined : await toldOtherwise(type, symbol, call, services);
  const computed = computedType(name, services.lake) ?? fallback;
  if (computed !== undefined) {
    return answerMarket(call, services, computed, symbol, (one) =>
      refuseUnknown(one, call, services),
    );
  }
  if (type !== undefined && !isOfNoDays(type, call.path['part'], dayAt(services.clock())))
    return answerLoaded(call, services, type, symbol);
  const emptyAnswer = nothingNamed(name, symbol, call.path['part']);
  if (emptyAnswer === undefined) throw new Failure('NotFound');
  return answerNothing(emptyAnswer, symbol, call, services);
}

const [MOOD, MINUTES] = ['sentiment', 'minute'];

/** Maps `/sentiment/minute/{day}` to a type of its own, so that batches and documents include it. */
function mapMinutes(call: Call): Call {
  const { detail, part, type, ...path } = call.path;
  if (type?.toLowerCase() !== MOOD || part?.toLowerCase() !== MINUTES) return call;
  const day = detail === undefined ? {} : { part: detail };
  return { ...call, path: { ...path, ...day, type: `${MOOD}-${MINUTES}` } };
}
