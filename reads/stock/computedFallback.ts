// Computes loaded types from other inputs, for symbols without loaded records.
import { type MarketType, marketType } from '../../market/types/marketTypes.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { readableDatasets } from '../rights/access.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { findRecordedSymbols, type StockServices } from './knownSymbols.ts';
import type { StockType } from './stockTypes.ts';

/** Finds the computed fallback of a loaded type, if its inputs exist. */
export function findComputedFallback(
  { dataset, name }: StockType,
  call: ReadRequest,
  services: StockServices,
) {
  const type = marketType(name);
  if (type?.loadedAs !== dataset || type.besides !== true) return undefined;
  const readable = readableDatasets(call.caller, services.lake, CORE);
  const hasInput = (id: string): boolean =>
    readable.some((one) => one.dataset.toUpperCase() === id && one.mapping.key !== undefined);
  return hasInput(dataset) && type.of.some(hasInput) ? type : undefined;
}

/** Finds the computed fallback for a symbol; undefined if the symbol has a loaded record. */
export async function findSymbolFallback(
  type: StockType,
  symbol: string,
  call: ReadRequest,
  services: StockServices,
): Promise<MarketType | undefined> {
  const fallback = findComputedFallback(type, call, services);
  const dataset = services.lake.directory.dataset(CORE, type.dataset);
  if (fallback === undefined || dataset === undefined) return undefined;
  const recorded = await findRecordedSymbols(dataset, [symbol], call, services);
  return recorded.has(symbol) ? undefined : fallback;
}
