// Answers types without any data on this server: an existing symbol has an empty answer, as symbols without
// data had in the original (INTERFACE.md 0.2).
import { marketType } from '../../market/types/marketTypes.ts';
import { nothingOfType } from '../market/market.ts';
import { formatOf } from '../read/series.ts';
import type { Answer, Call } from '../request/endpoint.ts';
import { refuseUnknown, type StockServices } from './knownSymbols.ts';
import { nothingOf } from './loaded.ts';
import { isNextOf } from './stockParameters.ts';
import { MARKET, typeNamed } from './stockTypes.ts';

/** The empty answer of a type, or of a part of it; undefined for an unknown type. */
export function nothingNamed(name: string, symbol: string, part = ''): Uint8Array | undefined {
  const loaded = typeNamed(name);
  if (loaded !== undefined && isNextOf(loaded, part)) return Buffer.from('{}');
  if (loaded !== undefined) return nothingOf(loaded, symbol);
  const computed = marketType(name);
  return computed === undefined ? undefined : nothingOfType(computed);
}

/** Returns the empty answer, free of charge. @throws Failure UnknownSymbol. */
export async function answerNothing(
  nothing: Uint8Array,
  symbol: string,
  call: Call,
  services: StockServices,
): Promise<Answer> {
  if (symbol !== MARKET) await refuseUnknown(symbol, call, services);
  if (formatOf(call) !== 'json') return { kind: 'text', text: '', contentType: 'text/plain' };
  const value = JSON.parse(Buffer.from(nothing).toString('utf8')) as unknown;
  return { kind: 'json', value, metering: 'free' };
}
