// Refuses market calls over inputs of CORE that the synthetic exchange has not loaded yet. An empty answer or
// a 404 would be wrong; a client that retries in two seconds gets its answer.
import { lookupTable } from '../../store/base/lookupTable.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { MARKET_SERIES } from '../../market/inputs/moneyInputs.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { findMarketListInput } from '../../reads/market/marketLists.ts';
import { splitSegment } from '../../reads/series/queryParameters.ts';
import { type AnyEndpoint, type Endpoint, isOpen } from './endpoint.ts';
import type { ReadRequest } from '../../reads/request/readRequest.ts';
import type { ReadServices } from '../../reads/request/readServices.ts';
import { listOf } from '../../reads/request/parameters.ts';
import { MARKET, findStockType } from '../../reads/stock/stockTypes.ts';

const RETRY_MS = 2_000;

/** Groups of inputs; at least one of each group must be loaded. */
type Needed = readonly (readonly string[])[];

const ofType = (name: string): Needed => {
  const inputs = marketType(name)?.of ?? [
    findMarketListInput(name) ?? findStockType(name)?.dataset ?? '',
  ];
  return [inputs];
};

const DAYS: Needed = [['HISTORICAL_PRICES']];
const FX: Needed = [['FX_RATES']];
const LISTS = lookupTable<Needed>({
  fx: FX,
  crypto: [['CRYPTO_QUOTES']],
  sectors: [['COMPANY']],
  tags: [['COMPANY']],
});

/** Inputs that a call reads, by the id of its endpoint. */
const NEEDED_INPUTS: Readonly<Record<string, (call: ReadRequest) => Needed>> = {
  getStock: ({ path }) => ofType(path['type'] ?? ''),
  getStockBatch: ({ query }) => listOf(query, 'types')?.flatMap(ofType) ?? [],
  getMarketVolume: () => [['TRADES']],
  listDataPoints: (call) => pointInputs(call),
  getDataPoint: (call) => pointInputs(call),
  getReferenceList: ({ path }) => LISTS[path['list'] ?? ''] ?? [['SYMBOLS']],
  getSymbolsOfKind: ({ path }) => LISTS[path['kind'] ?? ''] ?? [['SYMBOLS']],
  getSymbolsOf: () => [['SYMBOLS']],
  getVenues: () => [['VENUES']],
  searchSymbols: () => [['SYMBOLS']],
  getFxLatest: () => FX,
  convertFx: () => FX,
  getFxHistorical: () => FX,
  getFxRate: () => FX,
  getCrypto: ({ path }) => [[path['part'] === 'book' ? 'CRYPTO_BOOKS' : 'CRYPTO_QUOTES']],
  getIntradayStats: () => [['TRADES']],
  getRecentStats: () => [['EXCHANGE_STATS']],
  getRecordStats: () => [['EXCHANGE_STATS']],
  getHistoricalStats: () => [['EXCHANGE_STATS']],
  getDailyStats: () => [['EXCHANGE_STATS']],
  getOptionMonths: () => [['OPTIONS']],
  getOptionSymbols: () => [['OPTIONS']],
  getOptionChart: () => [['OPTIONS']],
  queryData: ({ path, query }) =>
    path['workspace']?.toUpperCase() === CORE
      ? splitSegment(path['id'] ?? '', query).map((id) => [id.toUpperCase()])
      : [],
};

const pointInputs = ({ path }: ReadRequest): Needed =>
  path['symbol']?.toUpperCase() === MARKET ? MARKET_SERIES.map((input) => [input]) : DAYS;

/** @throws Failure Busy while no input of a group is loaded and one of them is pending. */
export function refusePending(
  needed: Needed,
  { filling, lake }: Pick<ReadServices, 'filling' | 'lake'>,
): void {
  for (const inputs of needed) {
    const pending = inputs.find(filling.isPending);
    if (pending === undefined) continue;
    if (inputs.some((input) => lake.directory.dataset(CORE, input) !== undefined)) continue;
    const place = `${CORE}.${pending} is not loaded yet`;
    throw new Failure('Busy', `the demo is filling, ${filling.percent()} %: ${place}`, RETRY_MS);
  }
}

export function withFilling(endpoint: AnyEndpoint): AnyEndpoint {
  if (isOpen(endpoint)) return endpoint;
  const { handle, id } = endpoint;
  const needed = Object.hasOwn(NEEDED_INPUTS, id) ? NEEDED_INPUTS[id] : undefined;
  if (needed === undefined) return endpoint;
  const handleFilled: Endpoint['handle'] = (call, services) => {
    refusePending(needed(call), services);
    return handle(call, services);
  };
  return { ...endpoint, handle: handleFilled };
}
