// The stock door (SPEC.md "Batch", "Other stock endpoints"): one type of a symbol, computed from CORE's
// inputs or loaded as it is.
import { answerMarket, computedType } from '../market/market.ts';
import { answerWide, isWideType } from '../market/wide.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { refuseUnknown, type StockServices, symbolOf } from './knownSymbols.ts';
import { answerLoaded } from './loaded.ts';
import { tickersOf } from './symbology.ts';
import { MARKET, servedType } from './stockTypes.ts';

/** One type of one symbol. */
export async function answerStock(call: Call, services: StockServices): Promise<Answer> {
  const named = symbolOf(call.path['symbol'] ?? '');
  if (named === '') throw new Failure('NoSymbol');
  const name = call.path['type'] ?? '';
  if (named === MARKET && isWideType(name, services.lake)) return answerWide(call, services);
  const [symbol = named] = await tickersOf([named], call, services);
  const computed = computedType(name, services.lake);
  if (computed !== undefined) {
    return answerMarket(call, services, computed, symbol, (one) =>
      refuseUnknown(one, call, services),
    );
  }
  const type = servedType(name, services.lake);
  if (type === undefined) throw new Failure('NotFound');
  return answerLoaded(call, services, type, symbol);
}
