// Types whose answers are loaded, for symbols of which nothing is: some can be told from other inputs.
import { type MarketType, marketType } from '../../market/types/marketTypes.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { callerOf, readableDatasets } from '../auth/access.ts';
import type { Call } from '../request/endpoint.ts';
import { recordedIn, type StockServices } from './knownSymbols.ts';
import type { StockType } from './stockTypes.ts';

/** What tells a loaded type where it has no record, if the inputs of that are there. */
export function otherwise({ dataset, name }: StockType, call: Call, services: StockServices) {
  const type = marketType(name);
  if (type?.loadedAs !== dataset || type.besides !== true) return undefined;
  const readable = readableDatasets(callerOf(call.caller), services.lake, CORE);
  const has = (id: string): boolean =>
    readable.some((one) => one.dataset.toUpperCase() === id && one.mapping.key !== undefined);
  return has(dataset) && type.of.some(has) ? type : undefined;
}

/** The type that tells a symbol; undefined where it has a record of its own. */
export async function toldOtherwise(
  type: StockType,
  symbol: string,
  call: Call,
  services: StockServices,
): Promise<MarketType | undefined> {
  const other = otherwise(type, call, services);
  const dataset = services.lake.directory.dataset(CORE, type.dataset);
  if (other === undefined || dataset === undefined) return undefined;
  const recorded = await recordedIn(dataset, [symbol], call, services);
  return recorded.has(symbol) ? undefined : other;
}
