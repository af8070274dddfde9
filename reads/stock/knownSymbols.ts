// Checks which symbols exist: those with records in a dataset of CORE by symbol that the caller may read.
import { INPUTS } from '../../market/inputs/inputs.ts';
import { runSeries } from '../../query/series/series.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import { readableDatasets } from '../rights/access.ts';
import { readDataset } from '../series/series.ts';
import type { AggregateServices } from '../market/aggregates.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { STOCK_TYPES } from './stockTypes.ts';

export type StockServices = AggregateServices;

export const normalizeSymbol = (text: string): string => text.trim().toUpperCase();

/** @throws Failure UnknownSymbol. */
export async function refuseUnknown(
  symbol: string,
  call: ReadRequest,
  services: StockServices,
): Promise<void> {
  const existing = await findKnownSymbols([symbol], call, services);
  if (!existing.has(symbol)) throw new Failure('UnknownSymbol');
}

const SYMBOL_DATASETS: ReadonlySet<string> = new Set([
  ...STOCK_TYPES.map(({ dataset }) => dataset),
  ...INPUTS.filter(({ mapping }) => mapping.key === 'symbol').map(({ id }) => id),
]);

/** Selects the symbols that exist. */
export async function findKnownSymbols(
  symbols: readonly string[],
  call: ReadRequest,
  services: StockServices,
): Promise<ReadonlySet<string>> {
  const existing = new Set<string>();
  const readable = symbols.length === 0 ? [] : readableDatasets(call.caller, services.lake, CORE);
  for (const dataset of readable.filter(({ dataset: id }) =>
    SYMBOL_DATASETS.has(id.toUpperCase()),
  )) {
    const keys = symbols.filter((symbol) => !existing.has(symbol));
    for (const one of await findRecordedSymbols(dataset, keys, call, services)) existing.add(one);
  }
  return existing;
}

/** Selects the symbols that have records in a dataset. */
export async function findRecordedSymbols(
  dataset: Dataset,
  symbols: readonly string[],
  call: ReadRequest,
  services: StockServices,
): Promise<ReadonlySet<string>> {
  const { key } = dataset.mapping;
  if (key === undefined || symbols.length === 0) return new Set();
  const { asOf } = call.query;
  const bare = { ...call, path: {}, query: asOf === undefined ? {} : { asOf } };
  const own = { keys: symbols, last: 1, filter: [key] };
  const { plan, remembered } = await readDataset(bare, services, dataset, 'data', { own });
  const { bytes } = await runSeries(plan, 'json', services.series, call, remembered);
  const records = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly object[];
  return new Set(records.map((record) => String(new Map(Object.entries(record)).get(key))));
}
