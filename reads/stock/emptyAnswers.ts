// Answers types without any data on this server: an existing symbol has an empty answer, as symbols without
// data had in the original (INTERFACE.md 0.2).
import { marketType } from '../../market/types/marketTypes.ts';
import { renderEmptyType } from '../market/market.ts';
import { selectFormat } from '../answer/format.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { refuseUnknown, type StockServices } from './knownSymbols.ts';
import { renderEmptyLoaded } from './loaded.ts';
import { isNextPart } from './stockParameters.ts';
import { MARKET, findStockType } from './stockTypes.ts';

/** The empty answer of a type, or of a part of it; undefined for an unknown type. */
export function findEmptyAnswer(name: string, symbol: string, part = ''): Uint8Array | undefined {
  const loaded = findStockType(name);
  if (loaded !== undefined && isNextPart(loaded, part)) return Buffer.from('{}');
  if (loaded !== undefined) return renderEmptyLoaded(loaded, symbol);
  const computed = marketType(name);
  return computed === undefined ? undefined : renderEmptyType(computed);
}

/** Returns the empty answer, free of charge. @throws Failure UnknownSymbol. */
export async function answerEmpty(
  nothing: Uint8Array,
  symbol: string,
  call: ReadRequest,
  services: StockServices,
): Promise<Answer> {
  if (symbol !== MARKET) await refuseUnknown(symbol, call, services);
  if (selectFormat(call) !== 'json') return { kind: 'text', text: '', contentType: 'text/plain' };
  const value = JSON.parse(Buffer.from(nothing).toString('utf8')) as unknown;
  return { kind: 'json', value, metering: 'free' };
}
