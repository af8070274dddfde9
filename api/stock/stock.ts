// The stock door (SPEC.md "Batch", "Other stock endpoints"): one type of a symbol, computed from CORE's
// inputs or loaded as it is.
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

/** One type of one symbol. */
export async function answerStock(given: Call, services: StockServices): Promise<Answer> {
  const call = unglued(ofMinutes(given));
  const named = symbolOf(call.path['symbol'] ?? '');
  if (named === '') throw new Failure('NoSymbol');
  const name = call.path['type'] ?? '';
  if (name.toLowerCase() === EVENTS) return answerEvents(call, services);
  const ofAll = typeNamed(name);
  const takesSymbols = ofAll !== undefined && isOfMarket(ofAll, named);
  if (call.query['symbols'] !== undefined && !takesSymbols)
    refuse('symbols', 'is not allowed here');
  if (named === MARKET && isWideType(name, services.lake)) return answerWide(call, services);
  const [symbol = named] = await tickersOf([named], call, services);
  const type = servedType(name, services.lake);
  const other = type === undefined ? undefined : await toldOtherwise(type, symbol, call, services);
  const computed = computedType(name, services.lake) ?? other;
  if (computed !== undefined) {
    return answerMarket(call, services, computed, symbol, (one) =>
      refuseUnknown(one, call, services),
    );
  }
  if (type !== undefined && !isOfNoDays(type, call.path['part'], dayAt(services.clock())))
    return answerLoaded(call, services, type, symbol);
  const nothing = nothingNamed(name, symbol, call.path['part']);
  if (nothing === undefined) throw new Failure('NotFound');
  return answerNothing(nothing, symbol, call, services);
}

const [MOOD, MINUTES] = ['sentiment', 'minute'];

/** `/sentiment/minute/{day}` is a type of its own, so that a batch and documents know it. */
function ofMinutes(call: Call): Call {
  const { detail, part, type, ...path } = call.path;
  if (type?.toLowerCase() !== MOOD || part?.toLowerCase() !== MINUTES) return call;
  const day = detail === undefined ? {} : { part: detail };
  return { ...call, path: { ...path, ...day, type: `${MOOD}-${MINUTES}` } };
}
