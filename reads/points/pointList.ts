// Lists the data points of a symbol with price and last change (SPEC.md "Data point list entry").
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { readableDatasets } from '../rights/access.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { refuseUnknown, type StockServices, normalizeSymbol } from '../stock/knownSymbols.ts';
import { resolveTickers } from '../stock/symbology.ts';
import { readFreshness } from './freshness.ts';
import { type Point, findPoints } from './points.ts';

interface PointEntry {
  readonly key: string;
  readonly weight: number;
  readonly description: string;
  /** ISO 8601. */
  readonly lastUpdated: string;
}

/** Lists the points, free of charge, because no value is returned. */
export async function listPoints(call: ReadRequest, services: StockServices): Promise<Answer> {
  const requestedSymbol = normalizeSymbol(call.path['symbol'] ?? '');
  const [symbol = requestedSymbol] = await resolveTickers([requestedSymbol], call, services);
  const readable = new Set(
    readableDatasets(call.caller, services.lake, CORE).map(({ tableId }) => tableId),
  );
  const points = [...findPoints(services.lake).values()];
  const datasets = new Set(points.flatMap(({ source }) => source.datasets));
  const writeTimes = new Map<Dataset, number>();
  for (const dataset of datasets) {
    if (!readable.has(dataset.tableId)) continue;
    const freshness = await readFreshness(call, services, dataset, symbol);
    if (freshness !== undefined) writeTimes.set(dataset, freshness.writtenMs);
  }
  if (writeTimes.size === 0) await refuseUnknown(symbol, call, services);
  const entries = points.flatMap((point) => toEntries(point, writeTimes));
  entries.sort((one, other) => (one.key < other.key ? -1 : 1));
  return { kind: 'json', value: entries, metering: 'free' };
}

/** Builds the entry of a point; none if the symbol has no record in the datasets of its type. */
function toEntries(
  { description, key, source, weight }: Point,
  writeTimes: ReadonlyMap<Dataset, number>,
): readonly PointEntry[] {
  const times = source.datasets.flatMap((dataset) => writeTimes.get(dataset) ?? []);
  if (times.length === 0) return [];
  return [{ key, weight, description, lastUpdated: isoSeconds(Math.max(...times)) }];
}

/** Formats a time to the second, with the offset that clients of the original expect. */
export const isoSeconds = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
